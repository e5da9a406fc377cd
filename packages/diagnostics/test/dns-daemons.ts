import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { freeServerPort, startDaemon, temporaryFolder } from '@vantage/test-support/daemon';
import { unpackPackages, type UnpackedPackages } from '@vantage/test-support/debian-packages';
import { dig } from '@vantage/test-support/dns/dig';

/** A name server on 127.0.0.1. */
export interface NameServerDaemon {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Debian packages of the programs below, for `packagesMissing`. */
export const nameServerPackages: readonly (readonly string[])[] = [
  ['nsd'],
  ['pdns-server', 'pdns-backend-bind'],
  ['unbound'],
  ['dnsmasq-base'],
];

/** Zone files by zone. */
type Zones = Readonly<Record<string, string>>;

interface Configured {
  readonly program: string;
  readonly args: readonly string[];
}

/** An authoritative name server by NLnet Labs. */
export async function startNsd(zones: Zones): Promise<NameServerDaemon> {
  return started(['nsd'], Object.keys(zones)[0]!, async (folder, port) => {
    await writeZones(folder, zones);
    const entries = Object.keys(zones).map((zone) => `zone:\n  name: "${zone}"\n  zonefile: "${fileOf(zone)}"\n`);
    const options = [
      `ip-address: 127.0.0.1@${port}`,
      'server-count: 1',
      'username: ""',
      'chroot: ""',
      'database: ""',
      `zonesdir: "${folder}"`,
      `pidfile: "${folder}/nsd.pid"`,
      `xfrdfile: "${folder}/xfrd.state"`,
      `zonelistfile: "${folder}/zone.list"`,
      `xfrdir: "${folder}"`,
    ];
    const text = `server:\n${options.map((line) => `  ${line}\n`).join('')}remote-control:\n  control-enable: no\n${entries.join('')}`;
    return { program: 'nsd', args: ['-d', '-c', await written(folder, 'nsd.conf', text)] };
  });
}

/** An authoritative name server by PowerDNS. */
export async function startPdns(zones: Zones): Promise<NameServerDaemon> {
  return started(['pdns-server', 'pdns-backend-bind'], Object.keys(zones)[0]!, async (folder, port, packages) => {
    await writeZones(folder, zones);
    const entries = Object.keys(zones).map(
      (zone) => `zone "${zone.replace(/(.)\.$/, '$1')}" { type master; file "${join(folder, fileOf(zone))}"; };\n`,
    );
    const named = await written(folder, 'named.conf', entries.join(''));
    const modules = packages.environment['LD_LIBRARY_PATH']!.split(':').find((path) => path.endsWith('/pdns'));
    // An installed PowerDNS finds its modules without an option.
    const moduleFolder = modules === undefined ? [] : [`module-dir=${modules}`];
    const options = [
      'daemon=no',
      'guardian=no',
      'launch=bind',
      `bind-config=${named}`,
      ...moduleFolder,
      `socket-dir=${folder}`,
      'local-address=127.0.0.1',
      `local-port=${port}`,
      'receiver-threads=1',
      'distributor-threads=1',
      'cache-ttl=0',
      'query-cache-ttl=0',
      'negquery-cache-ttl=0',
      'security-poll-suffix=',
    ];
    const file = await written(folder, 'pdns.conf', `${options.join('\n')}\n`);
    return { program: 'pdns_server', args: [`--config-dir=${dirname(file)}`] };
  });
}

export interface UnboundOptions {
  /** Port on 127.0.0.1 of the name server that it queries. */
  readonly authorityPort: number;
  /** Ports on 127.0.0.1 of the servers of other zones, which are not validated. */
  readonly ports?: Readonly<Record<string, number>>;
  /** The zones that it queries, each with its trusted DNSKEY; null disables validation of the zone. */
  readonly zones: Readonly<Record<string, string | null>>;
  /** The time by which it validates, `YYYYMMDDHHMMSS`; default: now. */
  readonly now?: string;
  /** True if it gives expired answers at once and refreshes them afterwards (RFC 8767). */
  readonly servesExpired?: boolean;
}

const expiredOptions = ['ede: yes', 'serve-expired: yes', 'serve-expired-client-timeout: 0', 'ede-serve-expired: yes'];

/** A validating resolver by NLnet Labs. */
export async function startUnbound({
  authorityPort,
  zones,
  ports = {},
  now,
  servesExpired = false,
}: UnboundOptions): Promise<NameServerDaemon> {
  return started(['unbound'], Object.keys(zones)[0]!, async (folder, port) => {
    const anchors = Object.entries(zones).flatMap(([zone, key]) =>
      key === null ? [`domain-insecure: "${zone}"`] : [`trust-anchor: "${zone} 3600 IN DNSKEY ${key}"`],
    );
    const options = [
      `interface: 127.0.0.1@${port}`,
      'do-ip6: no',
      'num-threads: 1',
      'username: ""',
      'chroot: ""',
      'do-daemonize: no',
      'use-syslog: no',
      `directory: "${folder}"`,
      `pidfile: "${folder}/unbound.pid"`,
      'do-not-query-localhost: no',
      'module-config: "validator iterator"',
      'qname-minimisation: no',
      'aggressive-nsec: yes',
      ...anchors,
      ...(now === undefined ? [] : [`val-override-date: "${now}"`]),
      ...(servesExpired ? expiredOptions : []),
    ];
    // The root is included, so that only servers on loopback are queried.
    const served = {
      ...Object.fromEntries([...Object.keys(zones), '.'].map((zone) => [zone, authorityPort])),
      ...ports,
    };
    const stubs = Object.entries(served).map(
      ([zone, at]) => `stub-zone:\n  name: "${zone}"\n  stub-addr: 127.0.0.1@${at}\n`,
    );
    const text = `server:\n${options.map((line) => `  ${line}\n`).join('')}remote-control:\n  control-enable: no\n${stubs.join('')}`;
    return { program: 'unbound', args: ['-d', '-c', await written(folder, 'unbound.conf', text)] };
  });
}

/** A forwarder by Simon Kelley, as home routers have it. @param options its flags about DNSSEC */
export async function startDnsmasq(
  upstreamPort: number,
  zone: string,
  options: readonly string[],
): Promise<NameServerDaemon> {
  return started(['dnsmasq-base'], zone, async (folder, port) => {
    const flags = [
      '--keep-in-foreground',
      '--conf-file=/dev/null',
      '--no-resolv',
      '--no-hosts',
      '--bind-interfaces',
      '--listen-address=127.0.0.1',
      `--port=${port}`,
      `--server=127.0.0.1#${upstreamPort}`,
      `--pid-file=${folder}/dnsmasq.pid`,
      '--log-facility=-',
    ];
    return { program: 'dnsmasq', args: [...flags, ...options] };
  });
}

async function started(
  names: readonly string[],
  zone: string,
  configure: (folder: string, port: number, packages: UnpackedPackages) => Promise<Configured>,
): Promise<NameServerDaemon> {
  const packages = await unpackPackages(...names);
  const folder = await temporaryFolder();
  const port = await freeServerPort();
  const { program, args } = await configure(folder.path, port, packages);
  const isReady = async (): Promise<boolean> => {
    const [answer] = await dig(port, [[zone, 'SOA', '+tcp']]);
    return answer?.rcode === 'NOERROR';
  };
  const daemon = await startDaemon(packages, program, args, isReady);
  const stop = async (): Promise<void> => {
    await daemon.stop();
    await folder.remove();
  };
  return { port, stop };
}

async function writeZones(folder: string, zones: Zones): Promise<void> {
  for (const [zone, text] of Object.entries(zones)) await written(folder, fileOf(zone), text);
}

async function written(folder: string, name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

function fileOf(zone: string): string {
  return `${zone}zone`;
}
