import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { unpackPackages } from '@vantage/test-support/debian-packages';
import type { Path } from './lab.ts';
import { hostOf, ports } from './servers.ts';

const run = promisify(execFile);

/** Milliseconds from the query to its answer, by BIND's `dig`; of TCP without the handshake. */
export async function digMs(path: Path, transport: 'udp' | 'tcp', inside: readonly string[]): Promise<number> {
  const flags = ['-u', '+tries=1', '+nocookie', ...(transport === 'tcp' ? ['+tcp'] : [])];
  const command = [...inside, 'dig', `@${path.address}`, '-p', String(ports.dns), ...flags, hostOf(path), 'A'];
  const [program, ...words] = command;
  const { stdout } = await run(program!, words);
  return Number(/Query time: (\d+) usec/.exec(stdout)?.[1]) / 1_000;
}

/** Total time of `kdig` including handshakes, milliseconds. */
export async function kdigMs(path: Path, transport: 'tls' | 'https', inside: readonly string[]): Promise<number> {
  const packages = await unpackPackages('knot-dnsutils');
  const port = { tls: ports.tls, https: ports.doh }[transport];
  const flags = ['+stats', '+retry=0', `+${transport}`];
  const command = [packages.program('kdig'), `@${path.address}`, '-p', String(port), ...flags, hostOf(path), 'A'];
  const [program, ...words] = [...inside, ...command];
  const { stdout } = await run(program!, words, { env: packages.environment });
  return Number(/ in ([\d.]+) ms$/m.exec(stdout)?.[1]);
}
