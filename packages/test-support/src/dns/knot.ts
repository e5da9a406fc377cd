import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { freeServerPort, startDaemon, temporaryFolder } from '../daemon.ts';
import { unpackPackages } from '../debian-packages.ts';
import { zoneFile } from './zone.ts';

/** An authoritative name server by CZ.NIC on loopback. */
export interface Knot {
  readonly pid: number;
  readonly port: number;
  /** Queries with knot's `kdig`; returns the text of its answer. */
  readonly kdig: (...args: readonly string[]) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** Zones of the same records: unsigned, signed with NSEC, and signed with NSEC3. */
export const signedZones = { plain: 'plain.example.', nsec: 'nsec.example.', nsec3: 'nsec3.example.' } as const;

export const KNOT_NSID = 'knot at the test';

/** The files of `signedZones`, by zone. */
export function signedZoneFiles(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.values(signedZones).map((zone) => [zone, zoneFile(zone)]));
}

export interface KnotOptions {
  /** Zone files by zone; default: those of `signedZones`. */
  readonly zones?: Readonly<Record<string, string>>;
  /** Loopback address; default 127.0.0.1. */
  readonly address?: string;
  /** Port; default a free one. */
  readonly port?: number;
}

export async function startKnot(options: KnotOptions = {}): Promise<Knot> {
  const { zones = signedZoneFiles(), address = '127.0.0.1', port = await freeServerPort() } = options;
  const packages = await unpackPackages('knot', 'knot-dnsutils');
  const folder = await temporaryFolder();
  for (const [zone, text] of Object.entries(zones)) await writeFile(join(folder.path, `${zone}zone`), text);
  const file = join(folder.path, 'knot.conf');
  await writeFile(file, configuration(folder.path, `${address}@${port}`, Object.keys(zones)));
  const run = promisify(execFile);
  const kdig: Knot['kdig'] = async (...args) => {
    const command = [`@${address}`, '-p', String(port), '+timeout=5', '+retry=4', ...args];
    return (await run(packages.program('kdig'), command, { env: packages.environment })).stdout;
  };
  const signed = Object.keys(zones).filter((zone) => zone in policies);
  const isReady = async (): Promise<boolean> => {
    // A query to a socket that is bound but not served would be lost.
    await connects(address, port);
    // Knot listens before it has signed its zones.
    for (const zone of signed) if (!/IN\s+RRSIG\s/.test(await kdig('+dnssec', 'SOA', zone))) return false;
    return /status: (NOERROR|REFUSED)/.test(await kdig('SOA', Object.keys(zones)[0]!));
  };
  const daemon = await startDaemon(packages, 'knotd', ['-c', file], isReady);
  const stop = async (): Promise<void> => {
    await daemon.stop();
    await folder.remove();
  };
  return { pid: daemon.pid, port, kdig, stop };
}

async function connects(address: string, port: number): Promise<void> {
  const socket = connect(port, address);
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

/** How Knot signs, by zone; other zones are unsigned. */
const policies: Readonly<Record<string, string>> = { [signedZones.nsec]: 'nsec', [signedZones.nsec3]: 'nsec3' };

function zoneOf(zone: string): string {
  const signing = zone in policies ? `    dnssec-signing: on\n    dnssec-policy: ${policies[zone]}\n` : '';
  return `  - domain: ${zone}\n${signing}`;
}

function configuration(folder: string, listen: string, zones: readonly string[]): string {
  return `
server:
  rundir: "${folder}"
  listen: [ ${listen} ]
  nsid: "${KNOT_NSID}"
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: "${folder}"
log:
  - target: stderr
    any: warning
policy:
  - id: nsec
    algorithm: ecdsap256sha256
    single-type-signing: on
  - id: nsec3
    algorithm: ecdsap256sha256
    single-type-signing: on
    nsec3: on
    nsec3-iterations: 5
    nsec3-salt-length: 4
template:
  - id: default
    storage: "${folder}"
    file: "%s.zone"
    zonefile-sync: -1
zone:
${zones.map(zoneOf).join('')}`;
}
