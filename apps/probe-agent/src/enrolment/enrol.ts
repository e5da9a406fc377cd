import { enrolOnce } from '@vantage/agent-loop';
import { probeOfToken } from '@vantage/contract';
import { readSettings, url as urlKind } from '@vantage/settings';
import { pino } from 'pino';

import { ownVersion } from '../agent.ts';
import { settings } from '../config.ts';
import { openIdentity } from './identity.ts';

export const ENROL_USAGE = 'vantage-agent enrol URL TOKEN';

const { stateFolder, vantageCertificates, httpsProxy, noProxy } = settings;

interface Streams {
  readonly output: Pick<NodeJS.WritableStream, 'write'>;
  readonly errors: Pick<NodeJS.WritableStream, 'write'>;
}

/**
 * Makes the key of an agent and enrols it with a token of `probe:invite`, so that the agent starts without the token.
 *
 * @returns the exit status: 0 enrolled, 1 refused or not reachable, 2 invalid arguments
 */
export async function enrol(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  { output, errors }: Streams,
): Promise<number> {
  const [url = '', token = ''] = args;
  const faults = faultsOf(args);
  if (faults.length > 0) {
    errors.write(`${[...faults, `Usage: ${ENROL_USAGE}`].join('\n')}\n`);
    return 2;
  }
  const config = readSettings({ stateFolder, vantageCertificates, httpsProxy, noProxy }, environment);
  const folder = config.stateFolder;
  try {
    const identity = await openIdentity({ folder, url, token, log: pino({ level: 'silent' }) });
    const state = await enrolOnce({
      ...{ url, identity, release: ownVersion(), certificates: config.vantageCertificates },
      proxy: { url: config.httpsProxy, except: config.noProxy },
    });
    const probe = identity.probeId();
    output.write(`Probe ${probe} is enrolled at ${url}. Its key is in ${folder}.\n`);
    if (state === 'waiting') output.write(`Its agent waits for the operator: probe:approve ${probe}.\n`);
    return 0;
  } catch (error) {
    errors.write(`Not enrolled at ${url}: ${Error.isError(error) ? error.message : String(error)}\n`);
    return 1;
  }
}

function faultsOf([url, token, ...more]: readonly string[]): readonly string[] {
  const faults: string[] = [];
  if (url === undefined) faults.push('URL: is required, the address that probe:invite printed');
  else if (!isUrl(url)) faults.push(`URL: must be an http(s) address, not "${url.slice(0, 80)}"`);
  if (token === undefined) faults.push('TOKEN: is required, the one that probe:invite printed');
  // Never shown: it may be a token with a letter too few.
  else if (probeOfToken(token) === undefined) faults.push('TOKEN: is not a token of probe:invite (vt1_…)');
  return more.length > 0 ? [...faults, `unexpected argument "${more[0]!.slice(0, 80)}"`] : faults;
}

function isUrl(text: string): boolean {
  try {
    urlKind(['http:', 'https:']).parse(text);
    return true;
  } catch {
    return false;
  }
}
