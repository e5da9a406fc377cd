import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The tools to compare with, by the path of their program. */
export interface Peers {
  readonly path: (name: PeerName) => string | undefined;
  /** One line: the peers found, their locations, and how to install the others. */
  readonly report: string;
  readonly remove: () => void;
}

export type PeerName = 'ping' | 'fping' | 'traceroute' | 'tracepath' | 'mtr' | 'scamper';

/** Debian package of each peer. */
const packages: Readonly<Record<PeerName, string>> = {
  ping: 'iputils-ping',
  fping: 'fping',
  traceroute: 'traceroute',
  tracepath: 'iputils-tracepath',
  mtr: 'mtr-tiny',
  scamper: 'scamper',
};

const folders = ['/usr/bin', '/usr/sbin', '/bin', '/sbin', '/usr/local/bin', '/usr/local/sbin'];

/** Finds the peers; missing ones are unpacked from Debian's packages for this run, without being installed. */
export function findPeers(): Peers {
  const unpacked = mkdtempSync(join(tmpdir(), 'vantage-peers-'));
  const installed = (name: PeerName): string | undefined =>
    folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  const missing = (Object.keys(packages) as PeerName[]).filter((name) => installed(name) === undefined);
  for (const name of missing) unpack(packages[name], unpacked);
  const path = (name: PeerName): string | undefined =>
    installed(name) ?? folders.map((folder) => join(unpacked, folder, name)).find((one) => existsSync(one));
  const parts = Object.entries(packages).map(([name, debian]) => {
    const found = path(name as PeerName);
    return `${name}: ${found ?? `not found (apt-get install ${debian})`}`;
  });
  return { path, report: parts.join(', '), remove: () => rmSync(unpacked, { recursive: true, force: true }) };
}

function unpack(debian: string, folder: string): void {
  const options = { cwd: folder, stdio: 'pipe' } as const;
  try {
    execFileSync('apt-get', ['download', '-qq', debian], options);
    for (const file of readdirSync(folder).filter((one) => one.endsWith('.deb'))) {
      execFileSync('dpkg', ['-x', file, folder], options);
      rmSync(join(folder, file));
    }
  } catch {
    // Without the package, the report lists the peer as missing.
  }
}
