import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Client, MonitorChange } from '@vantage/client';
import type { Monitor } from '@vantage/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import type { MonitorAction } from './monitor-action.ts';
import { runMonitors } from './run-monitors.ts';

const [at, later] = ['2026-11-20T21:00:00.000Z', '2026-11-20T21:01:00.000Z'];
const none = { reason: null, rtt: null, loss: null, certificateDays: null, status: null };
const ok = { ...none, state: 'ok' as const };
const failing = { ...none, state: 'failing' as const, reason: 'The connection was refused.\u001B[31m' };
const place = { flapping: false, network: null, country: null };

const web: Monitor = {
  name: 'web',
  owner: 'api',
  check: { type: 'ping', host: 'example.com' },
  every: '60s',
  state: 'bad',
  since: later,
  alarmSince: later,

  headline: 'It does not answer.',
  lastTickAt: later,
  nextTickAt: null,
  tracerouteId: 'qPUXvL1sQx2rGJm0Zf7N4w',
  parting: null,
  lastPathChangeAt: null,
  agreement: { failing: 1, counted: 2, needed: 1, networks: 1, countries: 1 },
  probes: { 'fra-1': { ...failing, ...place, since: later }, 'nyc-1': { ...ok, ...place, flapping: true, since: at } },
  pathChanges: [],
  runs: [
    { tick: 2, checkId: null, scheduledAt: later, startedAt: null, reason: null, results: { 'fra-1': failing } },

    { tick: 1, checkId: null, scheduledAt: at, startedAt: null, reason: null, results: { 'fra-1': ok, 'nyc-1': ok } },
  ],
};

describe('monitors on the command line', () => {
  let folder: string;
  let printed: string[];
  let written: unknown[];
  let monitor: Monitor;
  let changes: readonly MonitorChange[];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-cli-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    [printed, written, monitor, changes] = [[], [], web, []];
  });

  const client = {
    monitors: async () => ({ web: monitor }),
    monitor: async () => monitor,
    putMonitor: async (name: string, request: unknown) => {
      written.push([name, request]);
      return monitor;
    },
    deleteMonitor: async (name: string) => void written.push(name),
    watchMonitor: async function* () {
      yield* changes;
    },
  } as unknown as Client;

  const run = (action: MonitorAction, json = false): Promise<number> =>
    runMonitors(action, {
      client,
      json,
      colors: false,
      signal: new AbortController().signal,
      print: (lines) => printed.push(...lines),
      complain: (line) => printed.push(line),
    });

  it('are listed; the exit status says whether one is bad', async () => {
    expect(await run({ verb: 'list' })).toBe(1);
    expect(printed).toEqual(['web  bad  2026-11-20T21:01:00Z  ping example.com, every 60s  It does not answer.']);

    monitor = { ...web, state: 'unknown', since: null, headline: null };
    expect(await run({ verb: 'list' })).toBe(4);
    monitor = { ...web, state: 'ok', check: { type: 'tcp', host: 'example.com', port: 443 } };
    expect(await run({ verb: 'show', name: 'web' })).toBe(0);
    expect(printed).toContainEqual(expect.stringMatching(/^tcp example\.com 443, every 60s/));
  });

  it('are shown with each probe over the runs, and nothing that commands the terminal', async () => {
    expect(await run({ verb: 'show', name: 'web' })).toBe(1);

    expect(printed).toEqual([
      'web  bad since 2026-11-20T21:01:00Z  It does not answer.',
      'ping example.com, every 60s; 1 of 2 fail, an alarm takes 1',
      '',
      String.raw`fra-1  failing       2026-11-20T21:01:00Z  .x  The connection was refused.\u{1b}[31m`,
      'nyc-1  ok, flapping  2026-11-20T21:00:00Z  .',
      '',
      'Where it breaks: vantage show qPUXvL1sQx2rGJm0Zf7N4w',
    ]);
  });

  it('are shown with the last changes of their paths, and the comparison of checks that are kept', async () => {
    const [before, checkId] = ['Yk1mB0hEQ2mW3l7n9rTzVg', 'Zz1mB0hEQ2mW3l7n9rTzVg'];
    const move = { hop: 2, from: [['192.0.2.1']], to: [['192.0.2.2']], networksGone: [], networksNew: [], text: '' };
    const changeAt = (tick: number): Monitor['pathChanges'][number] => ({
      tick,
      at: tick % 2 === 0 ? later : at,
      checkId,
      probes: ['fra-1'],
      change: tick % 2 === 0 ? 'hop' : 'path',
      sentence: `Path ${tick}.`,
      changes: [{ ...move, probes: ['fra-1'], before, change: 'hop', kept: tick > 4 }],
    });
    monitor = { ...web, tracerouteId: null, pathChanges: [6, 5, 4].map(changeAt) };
    await run({ verb: 'show', name: 'web' });
    expect(printed.splice(0).slice(-4)).toEqual([
      'Path changes',
      `2026-11-20T21:01:00Z  hop   Path 6.  vantage compare ${before} ${checkId}`,
      `2026-11-20T21:00:00Z  path  Path 5.  vantage compare ${before} ${checkId}`,
      '2026-11-20T21:01:00Z  hop   Path 4.',
    ]);

    monitor = { ...monitor, pathChanges: Array.from({ length: 30 }, (_, index) => changeAt(30 - index)) };
    await run({ verb: 'show', name: 'web' });
    expect(printed.splice(0).slice(-2)).toEqual([
      expect.stringContaining('Path 21.'),
      '20 earlier, which --json lists',
    ]);

    changes = [
      { type: 'change', id: '5-0', change: { kind: 'path', monitor: 'web', before: [before], ...changeAt(6) } },
    ];
    await run({ verb: 'watch', name: 'web' });
    expect(printed).toEqual([`2026-11-20T21:01:00Z  web  Path 6.  vantage compare ${before} ${checkId}`]);
  });

  it('are shown with an alarm that outlives a change of the definition', async () => {
    monitor = { ...web, state: 'unknown', headline: null, probes: {}, agreement: null, tracerouteId: null };

    await run({ verb: 'show', name: 'web' });

    expect(printed[0]).toBe(
      'web  unknown since 2026-11-20T21:01:00Z, alarm since 2026-11-20T21:01:00Z  It has not run since it was changed.',
    );
  });

  it('are shown with their locations that have no probe', async () => {
    monitor = { ...web, emptyLocations: ['rack-7', 'JP\u001B'] };

    await run({ verb: 'show', name: 'web' });

    expect(printed[2]).toBe(String.raw`No probe at "rack-7" or "JP\u{1b}"`);
  });

  it('are the answer of the service if JSON is asked for', async () => {
    await run({ verb: 'show', name: 'web' }, true);

    expect(JSON.parse(printed.join('\n'))).toEqual(web);
  });

  it('are written from arguments and files, and removed', async () => {
    const request = { check: { type: 'ping', host: 'example.com' }, every: '60s' };
    const file = join(folder, 'web.json');
    // The service refuses it, with the name.
    const repeats = String.raw`{"check":{"type":"ping","host":"a \\\" , b","host":"b.example"},"every":"30s"}`;
    // Indentation counts in the limit of a request.
    writeFileSync(file, `\t${repeats.replaceAll('":"', '" :\r\n    "')}\n`);

    expect(await run({ verb: 'put', name: 'web', definition: { request } })).toBe(0);
    expect(await run({ verb: 'put', name: 'web', definition: { file } })).toBe(0);
    expect(await run({ verb: 'delete', name: 'web' })).toBe(0);

    expect(written).toEqual([['web', request], ['web', repeats], 'web']);
  });

  it.each([
    ['UTF-8 with a byte order mark', '\uFEFF', 'utf8'],
    ['UTF-16, as PowerShell writes it', '\uFEFF', 'utf16le'],
  ] as const)('are written from a file of Windows: %s', async (_encoding, mark, encoding) => {
    const definition = { check: { type: 'ping', host: 'example.com' }, every: '30s' };
    const file = join(folder, 'windows.json');
    const text = JSON.stringify(definition);
    writeFileSync(file, `${mark}${text}`, encoding);

    expect(await run({ verb: 'put', name: 'web', definition: { file } })).toBe(0);
    expect(written).toEqual([['web', text]]);
  });

  it('are not written from a file that is none', async () => {
    writeFileSync(join(folder, 'bad.json'), '{');

    expect(await run({ verb: 'put', name: 'web', definition: { file: join(folder, 'bad.json') } })).toBe(2);
    expect(await run({ verb: 'put', name: 'web', definition: { file: join(folder, 'none.json') } })).toBe(2);
    expect(written).toEqual([]);
    expect(printed).toEqual([expect.stringMatching(/^invalid --file: .*JSON/), expect.stringMatching(/ENOENT/)]);
  });

  it('are watched: their state, then each change; as JSON each event', async () => {
    const state = { kind: 'state' as const, monitor: 'web', tick: 2, at: later, checkId: null };
    const { agreement } = web;
    changes = [
      { type: 'monitor', id: '0-0', monitor: web },
      { type: 'run', id: '0-0', run: web.runs[0]! },
      {
        type: 'change',
        id: '5-0',
        change: {
          ...state,
          from: 'ok',
          to: 'bad',
          headline: 'It fails.',
          agreement: agreement!,
          failing: ['fra-1'],
          tracerouteId: 'qPUXvL1sQx2rGJm0Zf7N4w',
        },
      },
    ];

    await run({ verb: 'watch', name: 'web' });
    const text = printed.splice(0);
    await run({ verb: 'watch', name: 'web' }, true);

    expect(text).toEqual([
      'web  bad since 2026-11-20T21:01:00Z  It does not answer.',
      '2026-11-20T21:01:00Z  web  ok -> bad  It fails.  vantage show qPUXvL1sQx2rGJm0Zf7N4w',
    ]);
    expect(printed.map((line) => (JSON.parse(line) as MonitorChange).type)).toEqual(['monitor', 'run', 'change']);
  });
});
