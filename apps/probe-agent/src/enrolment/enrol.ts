import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import { enrolOnce } from '@vantage/agent-loop';
import { probeOfToken } from '@vantage/contract';
import { SettingsError } from '@vantage/settings';
import { pino } from 'pino';

import { ownVersion } from '../agent.ts';
import { readConfig, type Config } from '../config/config.ts';
import { serviceAddress } from '../config/addresses.ts';
import { openIdentity } from './identity.ts';

export const ENROL_USAGE = 'vantage-agent enrol URL TOKEN';

interface Streams {
  /** Contains the token if the argument is `-`: other users of the machine can see arguments. */
  readonly input: Readable;
  readonly output: Pick<NodeJS.WritableStream, 'write'>;
  readonly errors: Pick<NodeJS.WritableStream, 'write'>;
}

/**
 * Creates the key of an agent and enrols it with a token of `probe:invite`, so that the agent starts without the token.
 *
 * @returns the exit status: 0 enrolled, 1 not enrolled, such as refused or unreachable, 2 invalid arguments or settings
 */
export async function enrol(
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  { input, output, errors }: Streams,
): Promise<number> {
  const args = given[1] === '-' ? given.with(1, await firstLine(input)) : given;
  const [url = '', token = ''] = args.map((arg) => arg.trim());
  const faults = faultsOf(args);
  if (faults.length > 0) {
    errors.write(`${[...faults, `Usage: ${ENROL_USAGE}`].join('\n')}\n`);
    return 2;
  }
  const config = configOf({ ...environment, VANTAGE_URL: url });
  if (config instanceof SettingsError) {
    errors.write(`${config.message}\n`);
    return 2;
  }
  const folder = config.stateFolder;
  try {
    const identity = await openIdentity({ folder, url, token, log: pino({ level: 'silent' }) });
    const state = await enrolOnce({
      url,
      identity,
      release: ownVersion(),
      certificates: config.vantageCertificates,
      proxy: { url: config.httpsProxy, except: config.noProxy },
    });
    const probe = identity.probeId();
    output.write(`Probe ${probe} is enrolled at ${url}. Its key is in ${folder}.\n`);
    if (state === 'waiting') output.write(`Its agent waits for the operator: probe:approve ${probe}.\n`);
    if (state === 'connected') output.write('An agent of it is connected.\n');
    return 0;
  } catch (error) {
    errors.write(`Not enrolled at ${url}: ${Error.isError(error) ? error.message : String(error)}\n`);
    return 1;
  }
}

async function firstLine(input: Readable): Promise<string> {
  try {
    for await (const line of createInterface({ input })) return line;
    return '';
  } finally {
    // An open pipe would keep the process alive.
    input.destroy();
  }
}

/** Reads every setting of the agent: with an invalid one it would not start, and its token would be used up. */
function configOf(environment: Readonly<Record<string, string | undefined>>): Config | SettingsError {
  try {
    return readConfig(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
}

function faultsOf([url, token, ...more]: readonly string[]): readonly string[] {
  const faults: string[] = [];
  if (url === undefined) faults.push('URL: is required, the address that probe:invite printed');
  else faults.push(...urlFaults(url.trim()));
  if (token === undefined) faults.push('TOKEN: is required, the one that probe:invite printed');
  // The argument is never displayed: it may be a token with a missing character.
  else if (probeOfToken(token.trim()) === undefined) faults.push('TOKEN: is not a token of probe:invite (vt1_…)');
  return more.length > 0 ? [...faults, `unexpected argument "${more[0]!.slice(0, 80)}"`] : faults;
}

function urlFaults(url: string): readonly string[] {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    return [`URL: must be an http(s) address, not "${url.slice(0, 80)}"`];
  }
  try {
    serviceAddress.parse(url);
    return [];
  } catch (error) {
    return [`URL: ${Error.isError(error) ? error.message : String(error)}`];
  }
}
