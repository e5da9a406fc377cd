import { writeFile } from 'node:fs/promises';
import type { WriteStream } from 'node:tty';

import { jsonText, lineText, piece, type Style, table } from '@vantage/command-line';
import { createClient, type CheckOf, type Client } from '@vantage/client';
import { escapeText, type Me, type Probes } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { parseCommand, type Command, type CommandSettings } from './command.ts';
import { completionScript } from './completion.ts';
import type { Config } from './config.ts';
import { exitStatus, statusOfFault, statusOfResults } from './exit-status.ts';
import { displayCheck } from './display-check.ts';
import { helpText } from './help.ts';
import { openScreen, type Screen } from './live-lines.ts';

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
    errors.write(`${escapeLines(command.faults.join('\n'))}\nRun "vantage help" for usage.\n`);
    return exitStatus.invalid;
  }
  if (command.kind === 'help') output.write(helpText(command.of));
  else output.write(command.kind === 'version' ? `${version}\n` : completionScript(command.shell));
  return exitStatus.success;
}

async function ask(command: Query, options: CliOptions): Promise<number> {
  const { config, output, errors, signal } = options;
  const baseUrl = command.settings.server ?? config.server;
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) {
    errors.write(`invalid service URL "${escapeText(baseUrl, 200)}"; expected an http or https URL\n`);
    return exitStatus.invalid;
  }
  const client = createClient({ baseUrl });
  const screen = openScreen(output);
  let checkId: string | undefined;
  try {
    if (command.kind === 'me') return show(await client.me({ signal }), command.settings, screen, meLines);
    if (command.kind === 'probes') {
      return show(await client.probes({ signal }), command.settings, screen, (probes) =>
        probeLines(probes, config.colors),
      );
    }
    checkId =
      command.kind === 'show' ? command.checkId : (await client.startCheck(command.request, { signal })).checkId;
    const type = command.kind === 'show' ? undefined : command.request.type;
    return await follow({ checkId, type }, command.settings, client, screen, options);
  } catch (error) {
    screen.clear();
    if (signal.aborted) {
      if (checkId !== undefined) errors.write(`The check goes on: vantage show ${escapeText(checkId, 200)}\n`);
      return exitStatus.interrupted;
    }
    errors.write(`${escapeLines(reasonOf(error, baseUrl))}\n`);
    return statusOfFault(error);
  }
}

async function follow(
  { checkId, type }: { readonly checkId: string; readonly type: CheckTypeName | undefined },
  { json, saveScreenshot }: CommandSettings,
  client: Client,
  screen: Screen,
  { config, output, errors, signal }: CliOptions,
): Promise<number> {
  const followed = json
    ? undefined
    : await displayCheck(checkId, type, { client, screen, colors: config.colors, signal });
  // The followed check has only the screenshot's URL.
  const whole =
    followed === undefined || saveScreenshot !== undefined ? await completed(checkId, client, signal) : undefined;
  if (json) output.write(`${jsonText(whole)}\n`);
  else screen.print(['', `vantage show ${escapeText(checkId, 200)}`]);
  if (saveScreenshot !== undefined && whole !== undefined) {
    const picture = screenshotOf(whole);
    if (picture === undefined) errors.write('No probe took a picture.\n');
    else if (!(await isWritten(saveScreenshot, picture, errors))) return exitStatus.invalid;
  }
  const { results } = whole ?? followed!;
  return statusOfResults(Object.values(results).map(({ result }) => result));
}

async function isWritten(file: string, picture: Buffer, errors: CliOptions['errors']): Promise<boolean> {
  try {
    await writeFile(file, picture);
    return true;
  } catch (error) {
    errors.write(
      `The picture cannot be written: ${escapeLines(Error.isError(error) ? error.message : String(error))}\n`,
    );
    return false;
  }
}

async function completed(checkId: string, client: Client, signal: AbortSignal): Promise<CheckOf<CheckTypeName>> {
  for (;;) {
    const check = await client.results(checkId, { waitSeconds: 25, signal });
    if (check.status === 'completed') return check;
  }
}

function screenshotOf({ results }: CheckOf<CheckTypeName>): Buffer | undefined {
  for (const result of Object.values(results)) {
    if ('screenshot' in result && typeof result.screenshot === 'string')
      return Buffer.from(result.screenshot, 'base64');
  }
  return undefined;
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

function meLines(me: Me): readonly string[] {
  const rows = Object.entries(me).filter(([, value]) => value !== null);
  return table(rows.map(([name, value]) => [piece(name), piece(String(value))])).map((line) => lineText(line, false));
}

const statusStyles: Readonly<Record<string, Style>> = { healthy: 'good', degraded: 'warning', offline: 'bad' };

function probeLines(probes: Probes, colors: boolean): readonly string[] {
  const rows = Object.entries(probes).map(([id, probe]) => [
    piece(id, 'bold'),
    piece(probe.status, statusStyles[probe.status] ?? 'plain'),
    piece(`${probe.city ?? probe.datacenter}, ${probe.countryCode}`),
    piece(`${probe.asNumber} ${probe.isp}`),
    piece(probe.reason ?? '', 'dim'),
  ]);
  return rows.length === 0 ? ['No probes.'] : table(rows).map((line) => lineText(line, colors));
}

function reasonOf(error: unknown, baseUrl: string): string {
  if (!Error.isError(error)) return String(error);
  // `fetch failed` hides its cause. A TypeError without a cause is a defect of this program.
  return error.name === 'TypeError' && error.cause !== undefined
    ? `${baseUrl} is unreachable: ${causeOf(error)}`
    : error.message;
}

function causeOf({ cause, message }: Error): string {
  if (!Error.isError(cause)) return message;
  return cause.message || ('code' in cause ? String(cause.code) : message);
}

function escapeLines(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeText(line, 2_000))
    .join('\n');
}
