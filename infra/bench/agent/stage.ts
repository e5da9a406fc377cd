import { once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';

import { freeServerPort, startDaemon, temporaryFolder } from '@vantage/test-support/daemon';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { startKnot } from '@vantage/test-support/dns/knot';

import { startDeployment, type Deployment } from '../overhead/deployment.ts';
import { comparedChecks, exporterModules, type BenchCheck, type TargetPorts } from './checks.ts';

/** The built service with one agent, and the checks of its targets. */
export interface Service {
  readonly deployment: Deployment;
  readonly checks: readonly BenchCheck[];
  readonly ports: TargetPorts;
}

/** A service, and the exporter, which probes the same targets. */
export interface Stage extends Service {
  readonly exporter: { readonly pid: number; readonly url: string };
  /** Node for the agent: a copy, so that it shares no pages with other processes. */
  readonly agentNode: string;
}

export async function onStage<T>(use: (stage: Stage) => Promise<T>): Promise<T> {
  return onService(async (service, agentNode, folder) => {
    const exporter = await startExporter(folder);
    try {
      return await use({ ...service, exporter, agentNode });
    } finally {
      await exporter.stop();
    }
  });
}

export async function onService<T>(
  use: (service: Service, agentNode: string, folder: string) => Promise<T>,
): Promise<T> {
  const closers: (() => Promise<void> | void)[] = [];
  try {
    const folder = await temporaryFolder();
    closers.push(folder.remove);
    const nodes = { coordinator: join(folder.path, 'coordinator'), agent: join(folder.path, 'agent') };
    for (const copy of Object.values(nodes)) await copyFile(process.execPath, copy);
    const ports = await startTargets(closers);
    const both = { TARGET_ALLOW_NAMES: 'example' };
    const settings = {
      coordinator: { ...both, METRICS_PORT: String(await freeServerPort()) },
      'probe-agent': { ...both, METRICS_PORT: String(await freeServerPort()), DNS_SERVERS: `127.0.0.1:${ports.dns}` },
    };
    const deployment = await startDeployment({ probes: 1, isBuilt: true, nodes, settings });
    closers.push(deployment.stop);
    return await use({ deployment, checks: comparedChecks(ports), ports }, nodes.agent, folder.path);
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function startTargets(closers: (() => Promise<void> | void)[]): Promise<TargetPorts> {
  const tcp = createServer((socket) => socket.on('error', () => undefined));
  const http = createHttpServer((_request, response) => response.end('hello\n'));
  const ports = await Promise.all([tcp, http].map(listen));
  closers.push(
    () => void tcp.close(),
    () => void http.close(),
  );
  const knot = await startKnot();
  closers.push(knot.stop);
  return { tcp: ports[0]!, http: ports[1]!, dns: knot.port };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function startExporter(folder: string): Promise<Stage['exporter'] & { readonly stop: () => Promise<void> }> {
  const packages = await unpackPackages('prometheus-blackbox-exporter');
  const port = await freeServerPort();
  const url = `http://127.0.0.1:${port}`;
  const file = join(folder, 'blackbox.yml');
  await writeFile(file, exporterModules);
  const args = [`--config.file=${file}`, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'];
  const isReady = async (): Promise<boolean> => (await fetch(`${url}/-/healthy`)).ok;
  const { pid, stop } = await startDaemon(packages, 'prometheus-blackbox-exporter', args, isReady);
  return { pid, url, stop };
}
