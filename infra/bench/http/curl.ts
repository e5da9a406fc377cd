import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Duration of each phase of one request, milliseconds. */
export interface CurlPhases {
  readonly dns: number;
  readonly connect: number;
  readonly tls: number;
  readonly firstByte: number;
  readonly download: number;
  readonly total: number;
}

const run = promisify(execFile);

/**
 * The phases of a request as `curl -w` reports them. Its times are seconds since its start, each the end of a phase.
 *
 * @param inside words to put before the command, such as those that run it in a network namespace
 */
export async function curl(
  url: string,
  version: '1.1' | '2',
  rootFile: string,
  inside: readonly string[] = [],
): Promise<CurlPhases> {
  const times = ['namelookup', 'connect', 'appconnect', 'pretransfer', 'starttransfer', 'total'];
  const format = times.map((name) => `%{time_${name}}`).join(' ');
  const args = ['--silent', '--output', '/dev/null', `--http${version}`, '--cacert', rootFile, '--write-out', format];
  const [program, ...words] = [...inside, 'curl', ...args, url];
  const { stdout } = await run(program, words);
  const [named, connected, secured, sent, started, ended] = stdout.split(' ').map((seconds) => Number(seconds) * 1_000);
  return {
    dns: named!,
    connect: connected! - named!,
    tls: secured! - connected!,
    firstByte: started! - sent!,
    download: ended! - started!,
    total: ended!,
  };
}
