import { unpackPackages } from '@vantage/test-support/debian-packages';
import type { ServicesLab } from './services-lab.ts';

/** One port as reported by nmap. */
export interface NmapPort {
  readonly host: string;
  readonly port: number;
  readonly state: string;
  /** Reason as nmap prints it: `reset`, `no-response`, `admin-prohibited` … */
  readonly reason: string;
  /** Sender of the ICMP error, if it is not the target. */
  readonly from: string | null;
}

/** Scans ports from the lab's probe with nmap: half-open for TCP, with its own payloads for UDP. */
export async function scanPorts(
  lab: ServicesLab,
  protocol: 'tcp' | 'udp',
  family: 4 | 6,
  hosts: readonly string[],
  ports: readonly number[],
): Promise<readonly NmapPort[]> {
  const packages = await unpackPackages('nmap');
  const environment = [
    `LD_LIBRARY_PATH=${packages.environment['LD_LIBRARY_PATH'] ?? ''}`,
    ...(packages.program('nmap').startsWith(packages.folder) ? [`NMAPDIR=${packages.folder}/usr/share/nmap`] : []),
  ];
  const scan = [protocol === 'tcp' ? '-sS' : '-sU', ...(family === 6 ? ['-6'] : []), '-p', ports.join(',')];
  const speed = ['-T4', '--max-retries', '1', '--host-timeout', '30s'];
  const command = [packages.program('nmap'), '-n', '-Pn', '--reason', ...speed, ...scan, ...hosts];
  return readReport(await lab.run('probe', 'env', ...environment, ...command));
}

function readReport(report: string): readonly NmapPort[] {
  return report.split('Nmap scan report for ').flatMap((part) => {
    const host = part.slice(0, part.indexOf('\n')).trim();
    const rows = part.matchAll(/^(\d+)\/\w+ +(\S+) +\S+ +(\S+)(?: from (\S+))?/gm);
    return [...rows].map(([, port, state, reason, from]) => {
      return { host, port: Number(port), state: state!, reason: reason!, from: from ?? null };
    });
  });
}
