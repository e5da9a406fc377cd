import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { freeServerPort, startDaemon, temporaryFolder } from '@vantage/test-support/daemon';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { cpuSeconds } from '../dns/process-cpu.ts';
import { median, type Figure } from '../goals.ts';
import type { HttpTarget } from './target.ts';
import { startWorker } from './worker.ts';

const WARM_UP = 1_000;
const CHECKS = 1_000;
const TURNS = 3;
const ALLOWED = 1.5;

/**
 * CPU time of an http check compared with that of Prometheus' blackbox exporter: each in a separate process
 * that is queried over HTTP, with the same target, alternately.
 */
export async function cpuBesideExporter(target: HttpTarget): Promise<readonly Figure[]> {
  const ours = await startOurs(target);
  const exporter = await startExporter(target);
  try {
    const figures: Figure[] = [];
    for (const [name, url, version] of [
      ['HTTPS by HTTP/1.1', `${target.secure}/`, '1.1'],
      ['HTTPS by HTTP/2', `${target.secure}/`, '2'],
      ['plain HTTP', `${target.plain}/`, '1.1'],
    ] as const) {
      figures.push(...(await compare(name, [ours, exporter], url, version)));
    }
    return figures;
  } finally {
    await Promise.all([ours.stop(), exporter.stop()]);
  }
}

type Version = '1.1' | '2';

/** A process that runs a check for each request. */
interface Checker {
  readonly pid: number;
  readonly check: (url: string, version: Version) => string;
  /** Text that only the result of a successful check contains. */
  readonly success: string;
  readonly stop: () => Promise<void>;
}

async function compare(
  name: string,
  checkers: readonly [ours: Checker, exporter: Checker],
  url: string,
  version: Version,
): Promise<readonly Figure[]> {
  const times: readonly [number[], number[]] = [[], []];
  for (const checker of checkers) await ask(checker, url, version, WARM_UP);
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [at, checker] of checkers.entries()) {
      const before = cpuSeconds(checker.pid);
      await ask(checker, url, version, CHECKS);
      times[at]!.push(((cpuSeconds(checker.pid) - before) * 1e6) / CHECKS);
    }
  }
  const [ours, exporter] = times.map(median) as [number, number];
  const comparison = `blackbox exporter: ${exporter.toFixed(0)} µs`;
  return [
    { name: `CPU of a check of ${name}`, value: ours, unit: 'µs', comparison },
    {
      name: `CPU of a check of ${name}, blackbox exporter = 1`,
      value: ours / exporter,
      unit: '×',
      atMost: ALLOWED,
      comparison,
    },
  ];
}

async function ask(checker: Checker, url: string, version: Version, times: number): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    const text = await (await fetch(checker.check(url, version))).text();
    if (!text.includes(checker.success)) throw new Error(`The check did not succeed:\n${text}`);
  }
}

async function startOurs({ rootFile }: HttpTarget): Promise<Checker> {
  const { pid, ready, stop } = await startWorker('checks-worker.ts', [rootFile]);
  return {
    pid,
    check: (url, version) => `http://127.0.0.1:${ready}/?target=${encodeURIComponent(url)}&version=${version}`,
    success: '"result":"success"',
    stop,
  };
}

async function startExporter({ rootFile }: HttpTarget): Promise<Checker> {
  const packages = await unpackPackages('prometheus-blackbox-exporter');
  const folder = await temporaryFolder();
  const port = await freeServerPort();
  const file = join(folder.path, 'blackbox.yml');
  await writeFile(file, configuration(rootFile));
  const args = [`--config.file=${file}`, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'];
  const isReady = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/-/healthy`)).ok;
  const daemon = await startDaemon(packages, 'prometheus-blackbox-exporter', args, isReady);
  const probe = `http://127.0.0.1:${port}/probe`;
  return {
    pid: daemon.pid,
    check: (url, version) => `${probe}?module=http${version[0]}&target=${encodeURIComponent(url)}`,
    success: '\nprobe_success 1',
    stop: async () => {
      await daemon.stop();
      await folder.remove();
    },
  };
}

function configuration(rootFile: string): string {
  const module = (name: string, http2: boolean): string => `
  ${name}:
    prober: http
    timeout: 5s
    http:
      preferred_ip_protocol: ip4
      follow_redirects: false
      enable_http2: ${http2}
      valid_http_versions: [${http2 ? 'HTTP/2.0' : 'HTTP/1.1'}]
      tls_config:
        ca_file: ${rootFile}
`;
  return `modules:${module('http1', false)}${module('http2', true)}`;
}
