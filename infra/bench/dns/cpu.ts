import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { freeServerPort, startDaemon, temporaryFolder } from '@vantage/test-support/daemon';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { signedZones } from '@vantage/test-support/dns/knot';
import { median, type Figure } from '../goals.ts';
import { cpuSeconds } from './process-cpu.ts';

const WARM_UP = 1_500;
const CHECKS = 2_000;
const TURNS = 3;

const QUERY_NAME = `www.${signedZones.plain}`;

/**
 * CPU time of a tcp and of a dns check compared with that of Prometheus' blackbox exporter: each in a separate
 * process that is queried over HTTP, with the same targets.
 */
export async function cpuPerCheck(dnsPort: number): Promise<readonly Figure[]> {
  const target = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1', 4_096);
  await once(target, 'listening');
  const tcpPort = (target.address() as AddressInfo).port;
  const ours = await startOurs();
  const exporter = await startExporter();
  try {
    const tcp = await compare(
      [ours, `/tcp?port=${tcpPort}`, '"result":"success"'],
      [exporter, `/probe?module=tcp&target=127.0.0.1:${tcpPort}`, '\nprobe_success 1'],
    );
    const dns = await compare(
      [ours, `/dns?port=${dnsPort}&name=${QUERY_NAME}`, '"result":"success"'],
      [exporter, `/probe?module=dns&target=127.0.0.1:${dnsPort}`, '\nprobe_success 1'],
    );
    return [...figures('tcp', tcp), ...figures('dns', dns)];
  } finally {
    await Promise.all([ours.stop(), exporter.stop()]);
    target.close();
  }
}

/** A process that runs a check for each request. */
interface Checker {
  readonly pid: number;
  readonly port: number;
  readonly stop: () => Promise<void>;
}

type Side = readonly [checker: Checker, path: string, success: string];

interface Compared {
  /** Microseconds of CPU for each check. */
  readonly ours: number;
  readonly exporter: number;
}

async function compare(ours: Side, exporter: Side): Promise<Compared> {
  for (const side of [ours, exporter]) await ask(side, WARM_UP);
  const turns: Compared[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    turns.push({ ours: await cpuOf(ours), exporter: await cpuOf(exporter) });
  }
  return { ours: median(turns.map(({ ours }) => ours)), exporter: median(turns.map(({ exporter }) => exporter)) };
}

function figures(type: string, { ours, exporter }: Compared): readonly Figure[] {
  const comparison = `blackbox exporter: ${exporter.toFixed(0)} µs`;
  return [
    { name: `CPU of a ${type} check`, value: ours, unit: 'µs', comparison },
    {
      name: `CPU of a ${type} check, blackbox exporter = 1`,
      value: ours / exporter,
      unit: '×',
      atMost: 1.5,
      comparison,
    },
  ];
}

async function cpuOf(side: Side): Promise<number> {
  const before = cpuSeconds(side[0].pid);
  await ask(side, CHECKS);
  return ((cpuSeconds(side[0].pid) - before) * 1e6) / CHECKS;
}

async function ask([{ port }, path, success]: Side, times: number): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    const text = await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    if (!text.includes(success)) throw new Error(`The check did not succeed:\n${text}`);
  }
}

async function startOurs(): Promise<Checker> {
  const program = fileURLToPath(new URL('checks-worker.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=vantage-source', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = async (): Promise<void> => {
    const exited = once(child, 'exit');
    child.stdin.end();
    await exited;
  };
  return { pid: child.pid!, port: Number(line), stop };
}

async function startExporter(): Promise<Checker> {
  const packages = await unpackPackages('prometheus-blackbox-exporter');
  const folder = await temporaryFolder();
  const port = await freeServerPort();
  const file = join(folder.path, 'blackbox.yml');
  await writeFile(file, CONFIGURATION);
  const args = [`--config.file=${file}`, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'];
  const isReady = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/-/healthy`)).ok;
  const daemon = await startDaemon(packages, 'prometheus-blackbox-exporter', args, isReady);
  const stop = async (): Promise<void> => {
    await daemon.stop();
    await folder.remove();
  };
  return { pid: daemon.pid, port, stop };
}

const CONFIGURATION = `
modules:
  tcp:
    prober: tcp
    timeout: 5s
    tcp:
      preferred_ip_protocol: ip4
  dns:
    prober: dns
    timeout: 5s
    dns:
      preferred_ip_protocol: ip4
      transport_protocol: udp
      query_name: ${QUERY_NAME}
      query_type: A
`;
