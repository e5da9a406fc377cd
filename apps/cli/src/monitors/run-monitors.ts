import { readFile } from 'node:fs/promises';

import { exitStatus, jsonText, lineText, piece, table, type Line, type Style } from '@vantage/command-line';
import type { Client } from '@vantage/client';
import {
  escapeText,
  type Monitor,
  type MonitorEvent,
  type MonitorInList,
  type MonitorRequest,
  type Run,
} from '@vantage/contract';

import type { MonitorAction, MonitorDefinitionText } from './monitor-action.ts';
import { pathChangeLines } from './path-changes.ts';

export interface MonitorsOptions {
  readonly client: Client;
  /** True to print the responses of the service as JSON instead of text. */
  readonly json: boolean;
  readonly colors: boolean;
  readonly print: (lines: readonly string[]) => void;
  readonly complain: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Maximum number of runs displayed for a probe. */
const MOST_RUNS = 60;

const styles: Readonly<Record<string, Style>> = {
  ok: 'good',
  bad: 'bad',
  unknown: 'dim',
  failing: 'bad',
  unmeasured: 'dim',
};

/** @returns the exit status */
export async function runMonitors(action: MonitorAction, options: MonitorsOptions): Promise<number> {
  const { client, json, colors, print, signal } = options;
  const show = (answer: unknown, lines: readonly Line[]): void =>
    print(json ? [jsonText(answer)] : lines.map((line) => lineText(line, colors)));
  switch (action.verb) {
    case 'list': {
      const monitors = await client.monitors({ signal });
      const all = Object.values(monitors);
      show(monitors, all.length === 0 ? [[piece('No monitors.')]] : table(all.map(listRow)));
      return statusOf(all);
    }
    case 'show': {
      const monitor = await client.monitor(action.name, { signal });
      show(monitor, describe(monitor));
      return statusOf([monitor]);
    }
    case 'put': {
      const request = await readDefinition(action.definition).catch((error: Error) => error);
      if (Error.isError(request)) {
        options.complain(escapeText(`invalid --file: ${request.message}`, 2_000));
        return exitStatus.invalid;
      }
      const monitor = await client.putMonitor(action.name, request, { signal });
      show(monitor, [
        [piece(`Monitor ${monitor.name} runs every ${monitor.every}. vantage monitors show ${monitor.name}`)],
      ]);
      return exitStatus.success;
    }
    case 'delete':
      await client.deleteMonitor(action.name, { signal });
      show({ removed: action.name }, [[piece(`Monitor ${action.name} is removed.`)]]);
      return exitStatus.success;
    case 'watch':
    default:
      return watch(action.name, options);
  }
}

/** Rejects when the monitor is removed, when the service stays unreachable, and when the signal aborts. */
async function watch(name: string, { client, json, colors, print, signal }: MonitorsOptions): Promise<number> {
  for await (const event of client.watchMonitor(name, { signal })) {
    if (json) print([jsonText(event, 0)]);
    else if (event.type === 'monitor') print([lineText(stateLine(event.monitor), colors)]);
    else if (event.type === 'change') print([lineText(changeLine(event.change), colors)]);
  }
  return exitStatus.success;
}

/**
 * Returns a file without the whitespace of JSON, which counts in the limit of a request: parsed, it would lose names
 * that it repeats. Rejects if it cannot be read or is no JSON.
 */
async function readDefinition({ file, request }: MonitorDefinitionText): Promise<MonitorRequest | string> {
  if (request !== undefined) return request;
  const text = textOf(await readFile(file));
  JSON.parse(text);
  return text.replaceAll(/("[^"\\]*(?:\\.[^"\\]*)*")|\s+/g, '$1');
}

/** Decodes UTF-8 with or without a byte order mark, and UTF-16LE with one, as PowerShell may write files. */
function textOf(bytes: Buffer): string {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isWide ? 'utf-16le' : 'utf-8').decode(bytes);
}

function statusOf(monitors: readonly MonitorInList[]): number {
  if (monitors.some(({ state }) => state === 'bad')) return exitStatus.failure;
  return monitors.some(({ state }) => state === 'unknown') ? exitStatus.notMeasured : exitStatus.success;
}

/** The check without its options: `tcp example.com 443`, `dns example.com MX`. */
function nameOf({ type, host, port, recordType }: Monitor['check']): string {
  return [type, host, port, recordType]
    .filter((part) => part !== undefined)
    .map(String)
    .join(' ');
}

function listRow(monitor: MonitorInList): Line {
  const { name, state, since, check, every, headline } = monitor;
  return [
    piece(name, 'bold'),
    piece(state, styles[state]),
    piece(timeOf(since)),
    piece(`${nameOf(check)}, every ${every}`),
    piece(headline ?? '', 'dim'),
  ];
}

function describe(monitor: Monitor): readonly Line[] {
  const { check, every, agreement, tracerouteId, parting, probes, runs, emptyLocations = [] } = monitor;
  const agreed =
    agreement === null
      ? 'no run yet'
      : `${agreement.failing} of ${agreement.counted} fail, an alarm takes ${agreement.needed}`;
  const oldestFirst = runs.slice(0, MOST_RUNS).toReversed();
  const rows = Object.entries(probes).map(([probe, { state, since, flapping, reason }]) => [
    piece(probe, 'bold'),
    piece(flapping ? `${state}, flapping` : state, styles[state]),
    piece(timeOf(since)),
    piece(barsOf(probe, oldestFirst)),
    piece(reason ?? '', 'dim'),
  ]);
  return [
    stateLine(monitor),
    [piece(`${nameOf(check)}, every ${every}; ${agreed}`)],
    ...(emptyLocations.length === 0 ? [] : [[piece(`No probe at ${quoted(emptyLocations)}`, 'dim')]]),
    ...(rows.length === 0 ? [] : [[piece('')], ...table(rows)]),
    ...(tracerouteId === null
      ? []
      : [
          [piece('')],
          [piece(`Where it breaks: ${parting === null ? '' : `${parting} `}vantage show ${tracerouteId}`)],
        ]),
    ...pathChangeLines(monitor),
  ];
}

function quoted(locations: readonly string[]): string {
  return locations.map((text) => `"${escapeText(text, 80)}"`).join(' or ');
}

function stateLine({ name, state, since, alarmSince, headline }: MonitorInList): Line {
  const at = since === null ? '' : ` since ${timeOf(since)}`;
  // An alarm outlasts `bad` while the monitor is unknown, or was changed and has not run since.
  const alarm = alarmSince === null || state === 'bad' ? '' : `, alarm since ${timeOf(alarmSince)}`;
  return [
    piece(name, 'bold'),
    piece('  '),
    piece(state, styles[state]),
    piece(`${at}${alarm}  ${headline ?? `It has not run ${alarm === '' ? 'yet' : 'since it was changed'}.`}`),
  ];
}

function changeLine(change: MonitorEvent): Line {
  if (change.kind === 'parting' || change.kind === 'path') {
    const earlier = change.kind === 'path' ? change.before[0] : undefined;
    const command = earlier === undefined ? 'show' : `compare ${earlier}`;
    const shown = change.checkId === null ? '' : `  vantage ${command} ${change.checkId}`;
    return [piece(`${timeOf(change.at)}  `), piece(change.monitor, 'bold'), piece(`  ${change.sentence}${shown}`)];
  }
  const who = change.kind === 'state' ? change.monitor : change.probe;
  const why = change.kind === 'state' ? change.headline : change.reason;
  const trace = change.kind === 'state' && change.tracerouteId !== null ? `  vantage show ${change.tracerouteId}` : '';
  return [
    piece(`${timeOf(change.at)}  `),
    piece(who, 'bold'),
    piece(`  ${change.from} -> `),
    piece(change.to, styles[change.to]),
    piece(`  ${why ?? ''}${trace}`),
  ];
}

function barsOf(probe: string, runs: readonly Run[]): string {
  const marks = { ok: '.', failing: 'x', unmeasured: '-' };
  return runs.map(({ results }) => (Object.hasOwn(results, probe) ? marks[results[probe]!.state] : ' ')).join('');
}

function timeOf(time: string | null): string {
  return time === null ? '' : `${time.slice(0, 19)}Z`;
}
