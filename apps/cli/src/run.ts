import type { WriteStream } from 'node:tty';

import { exitStatus, jsonText, statusOfResults, withoutControls } from '@vantage/command-line';
import { asCsv, createClient, type CheckOf, type Client } from '@vantage/client';
import { API_KEY, endsWithStream, escapeText, type Probes } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import type { Command, CommandSettings } from './command/command.ts';
import { completionScript } from './command/completion.ts';
import { parseCommand } from './command/parse-command.ts';
import { comparisonLines } from './lists/comparison-lines.ts';
import { completed } from './completed.ts';
import type { Config } from './config.ts';
import { statusOfFault } from './faults/exit-status.ts';
import { displayCheck } from './display-check.ts';
import { helpText } from './help.ts';
import { openScreen, type Screen } from './live-lines.ts';
import { saveScreenshotOf, screenshotFileFault } from './save-screenshot.ts';
import { meLines, probeLines } from './lists/lists.ts';
import { runMonitors } from './monitors/run-monitors.ts';
import { serviceFault, withScheme } from './faults/service-fault.ts';
import { tableColumns } from './table-columns.ts';
import { hasEmptyLocations, watchCheck } from './watch-check.ts';

export interface CliOptions {
  readonly config: Config;
  readonly version: string;
  readonly output: Pick<WriteStream, 'write'> & Partial<WriteStream>;
  readonly errors: Pick<WriteStream, 'write'>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

type Query = Extract<Command, { readonly settings: CommandSettings }>;

/**
 * Executes the command line.
 *
 * @returns the exit status
 */
export async function runCli(argv: readonly string[], options: CliOptions): Promise<number> {
  const command = parseCommand(argv);
  const { output, errors, version } = options;
  if ('settings' in command) return ask(command, options);
  if (command.kind === 'invalid') {
    errors.write(
      `${escapeLines(command.faults.join('\n'))}\nRun "vantage help${command.of === undefined ? '' : ` ${command.of}`}" for usage.\n`,
    );
    return exitStatus.invalid;
  }
  if (command.kind === 'help') output.write(helpText(command.of, output.isTTY === true ? output.columns : undefined));
  else output.write(command.kind === 'version' ? `${version}\n` : completionScript(command.shell));
  return exitStatus.success;
}

async function ask(command: Query, options: CliOptions): Promise<number> {
  const { config, output, errors, signal } = options;
  const baseUrl = command.settings.server ?? config.server;
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) {
    const meant = withScheme(baseUrl);
    const near = meant === undefined ? '' : `; did you mean "${meant}"?`;
    errors.write(`invalid service URL "${escapeText(baseUrl, 200)}"; expected an http or https URL${near}\n`);
    return exitStatus.invalid;
  }
  const key = command.settings.key ?? config.key;
  if (key !== undefined && !API_KEY.test(key)) {
    errors.write('invalid API key; expected vtg_, a prefix of 8 characters, _ and a secret of 43 characters\n');
    return exitStatus.invalid;
  }
  const client = createClient({ baseUrl, key });
  const screen = openScreen(output, config.isDumb);
  let checkId: string | undefined;
  try {
    return await execute(command, { client, screen, started: (id) => (checkId = id) }, options);
  } catch (error) {
    screen.clear();
    if (signal.aborted) {
      if (checkId !== undefined) errors.write(whatGoesOn(command, checkId));
      return exitStatus.interrupted;
    }
    const isFromFile =
      command.kind === 'monitors' && command.action.verb === 'put' && command.action.definition.file !== undefined;
    errors.write(`${escapeLines(serviceFault(error, baseUrl, !isFromFile, config.proxyNote?.(baseUrl)))}\n`);
    return statusOfFault(error);
  }
}

interface Execution {
  readonly client: Client;
  readonly screen: Screen;
  /** Called with the id of the check that is followed. */
  readonly started: (checkId: string) => void;
}

async function execute(command: Query, { client, screen, started }: Execution, options: CliOptions): Promise<number> {
  const { config, output, errors, signal } = options;
  const complain = (line: string): void => void errors.write(`${line}\n`);
  if (command.kind === 'me' || command.kind === 'probes' || command.kind === 'compare') {
    return list(command, client, screen, options);
  }
  const { json, watchSeconds: everySeconds, saveScreenshot } = command.settings;
  if (command.kind === 'monitors') {
    const { colors } = config;
    return runMonitors(command.action, { client, json, colors, print: screen.print, signal, complain });
  }
  if (command.kind === 'show') {
    started(command.checkId);
    return follow({ checkId: command.checkId, request: undefined }, command.settings, client, screen, options);
  }
  const { request } = command;
  if (everySeconds !== undefined) {
    const write = (line: string): void => void output.write(`${line}\n`);
    return watchCheck({ request, everySeconds, json, client, write, complain, signal });
  }
  const fileFault = saveScreenshot === undefined ? undefined : await screenshotFileFault(saveScreenshot);
  if (fileFault !== undefined) {
    complain(escapeLines(fileFault));
    return exitStatus.invalid;
  }
  const { checkId, message } = await client.startCheck(request, { signal });
  started(checkId);
  if (hasEmptyLocations(message)) complain(escapeText(message, 2_000));
  return follow({ checkId, request }, command.settings, client, screen, options);
}

function whatGoesOn(command: Query, checkId: string): string {
  const ends = command.kind === 'check' && endsWithStream(command.request);
  const state = ends ? 'It ends unless others follow it' : 'The check goes on';
  return `${state}: vantage show ${escapeText(checkId, 200)}\n`;
}

interface Followed {
  readonly checkId: string;
  /** Undefined for `vantage show`, of a check that was started before. */
  readonly request: Extract<Query, { readonly kind: 'check' }>['request'] | undefined;
}

async function follow(
  { checkId, request }: Followed,
  { json, csv, saveScreenshot }: CommandSettings,
  client: Client,
  screen: Screen,
  { config, output, errors, signal }: CliOptions,
): Promise<number> {
  const followed =
    json || csv
      ? undefined
      : await displayCheck(checkId, request?.type, { client, screen, colors: config.colors, signal });
  // The check that `displayCheck` followed has only the URL of the screenshot; `completed` reads the image.
  const waiting = { client, signal, endsWithStream: request !== undefined && endsWithStream(request) };
  const whole = followed === undefined || saveScreenshot !== undefined ? await completed(checkId, waiting) : undefined;
  if (json) output.write(`${jsonText(whole)}\n`);
  else if (csv) output.write(csvOf(whole!, await client.probes({ signal })));
  else screen.print(['', `vantage show ${escapeText(checkId, 200)}`]);
  const { type, results } = whole ?? followed!;
  const status = statusOfResults(type, Object.values(results));
  if (saveScreenshot === undefined || whole === undefined) return status;
  const fault = await saveScreenshotOf(whole, saveScreenshot);
  if (fault === undefined) return status;
  errors.write(`${escapeLines(fault.message)}\n`);
  return fault.isMissing && status !== exitStatus.success ? status : exitStatus.invalid;
}

function csvOf(check: CheckOf<CheckTypeName>, probes: Probes): string {
  const csv = asCsv(Object.entries(check.results), probes, check, tableColumns(check));
  return withoutControls(csv.replaceAll('\r\n', '\n'));
}

async function list(
  command: Extract<Query, { readonly kind: 'me' | 'probes' | 'compare' }>,
  client: Client,
  screen: Screen,
  { config: { colors }, signal }: CliOptions,
): Promise<number> {
  const { kind, settings } = command;
  if (kind === 'me') return show(await client.me({ signal }), settings, screen, meLines);
  if (kind === 'probes') {
    return show(await client.probes({ signal }), settings, screen, (probes) => probeLines(probes, colors));
  }
  const comparison = await client.compare(...command.checkIds, { signal });
  show(comparison, settings, screen, (answer) => comparisonLines(answer, colors));
  return comparison.result === 'different' ? exitStatus.failure : exitStatus.success;
}

function show<T>(
  answer: T,
  { json }: CommandSettings,
  screen: Screen,
  lines: (answer: T) => readonly string[],
): number {
  screen.print(json ? [jsonText(answer)] : lines(answer));
  return exitStatus.success;
}

function escapeLines(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeText(line, 2_000))
    .join('\n');
}
