import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { until } from '@vantage/test-support/until';
import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';
import { freeServerPort, startDaemon, type Daemon } from '@vantage/test-support/daemon';
import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { startService, temporaryFolder, type Service } from '../test/service.ts';

jest.setTimeout(600_000);

const PACKAGES = ['prometheus', 'prometheus-alertmanager'];
const missing = process.getuid?.() === 0 ? await packagesMissing(PACKAGES) : 'root is needed';
const itWithAlertmanager = itNeeding(missing, process.env['CI']);
const rules = fileURLToPath(new URL('../../../infra/prometheus/alerts.yml', import.meta.url));

interface Alert {
  readonly status: string | { readonly state: string };
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** This suite waits for several ticks of a monitor, which are at least ten seconds apart. */
describe('a monitor that turns bad', () => {
  const data = temporaryFolder();
  let target: Server;
  let status = 200;
  /** Receives the notifications of Alertmanager. */
  let receiver: Server;
  const notified: Alert[] = [];
  let [alertmanager, prometheus]: (Daemon | undefined)[] = [];
  let alertmanagerUrl: string;
  let service: Service | undefined;

  const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  beforeAll(async () => {
    if (missing !== null) return;
    target = createServer((_request, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
    receiver = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const { alerts } = JSON.parse(text) as { readonly alerts: readonly Alert[] };
        notified.push(...alerts.filter(({ labels }) => labels['alertname'] === 'MonitorBad'));
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await Promise.all([once(target, 'listening'), once(receiver, 'listening')]);
    service = await startService(`${data.folder}/data`, ['--probes', '1', '--allow', '127.0.0.0/8'], {
      MONITORS_FILE: writeMonitors('10s'),
      RATE_LIMIT_MONITORS: '100000',
    });
    await startAlerting(service.url);
  }, 600_000);

  afterAll(async () => {
    await Promise.all([prometheus?.stop(), alertmanager?.stop(), service?.stop()]);
    for (const server of [target, receiver]) {
      server?.closeAllConnections();
      server?.close();
    }
    data.remove();
  });

  async function startAlerting(scraped: string): Promise<void> {
    const packages = await unpackPackages(...PACKAGES);
    const [ofAlertmanager, ofPrometheus] = [
      `127.0.0.1:${await freeServerPort()}`,
      `127.0.0.1:${await freeServerPort()}`,
    ];
    alertmanagerUrl = `http://${ofAlertmanager}`;
    const routes = join(data.folder, 'alertmanager.yml');
    writeFileSync(
      routes,
      `route: {receiver: test, group_by: [alertname], group_wait: 0s, group_interval: 1s}
receivers: [{name: test, webhook_configs: [{url: '${urlOf(receiver)}', send_resolved: true}]}]\n`,
    );
    alertmanager = await startDaemon(
      packages,
      'prometheus-alertmanager',
      [
        `--config.file=${routes}`,
        `--storage.path=${data.folder}/alertmanager`,
        `--web.listen-address=${ofAlertmanager}`,
        '--cluster.listen-address=',
      ],
      async () => (await fetch(`${alertmanagerUrl}/-/ready`)).ok,
      // Debian's Alertmanager reads its templates below /usr/share; if it is not installed, the unpacked folder takes
      // that place.
      existsSync(join(packages.folder, 'usr/share'))
        ? withFolder(join(packages.folder, 'usr/share'), '/usr/share')
        : [],
    );
    const config = join(data.folder, 'prometheus.yml');
    writeFileSync(
      config,
      `global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ['${rules}']
alerting: {alertmanagers: [{static_configs: [{targets: ['${ofAlertmanager}']}]}]}
scrape_configs:
  - {job_name: monitors, metrics_path: /metrics/monitors, static_configs: [{targets: ['${new URL(scraped).host}']}]}\n`,
    );
    prometheus = await startDaemon(
      packages,
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${data.folder}/prometheus`,
        `--web.listen-address=${ofPrometheus}`,
      ],
      async () => (await fetch(`http://${ofPrometheus}/-/ready`)).ok,
    );
  }

  function writeMonitors(every: string): string {
    const file = join(data.folder, 'monitors.yml');
    const check = `{type: http, host: '${urlOf(target)}/'}`;
    writeFileSync(file, `monitors:\n  web: {check: ${check}, every: ${every}, alarm: {for: 1}}\n`);
    return file;
  }

  async function readMonitor(): Promise<{ readonly state: string; readonly every: string }> {
    const response = await fetch(`${service!.url}/monitors/web`);
    return (await response.json()) as { readonly state: string; readonly every: string };
  }

  async function stateOfMonitor(): Promise<string> {
    return (await readMonitor()).state;
  }

  async function activeAlerts(): Promise<readonly Alert[]> {
    // Other rules are about coordinators, which are not scraped here.
    const query = new URLSearchParams({ filter: 'alertname="MonitorBad"' });
    return (await (await fetch(`${alertmanagerUrl}/api/v2/alerts?${query}`)).json()) as readonly Alert[];
  }

  itWithAlertmanager('raises the alert that is shipped in a real Alertmanager, once, and resolves it', async () => {
    await until(async () => (await stateOfMonitor()) === 'ok' && (await activeAlerts()).length === 0);

    status = 503;
    await until(async () => (await activeAlerts()).length > 0 && notified.length > 0);
    expect(notified[0]).toMatchObject({
      status: 'firing',
      labels: { alertname: 'MonitorBad', monitor: 'web', severity: 'page' },
      annotations: { summary: expect.stringContaining('Monitor web turned bad') },
    });

    writeMonitors('11s');
    await until(async () => (await readMonitor()).every === '11s' && (await stateOfMonitor()) === 'bad');
    expect(notified.filter((alert) => alert.status === 'resolved')).toEqual([]);
    expect(await activeAlerts()).toHaveLength(1);

    writeMonitors('10s');
    status = 200;
    await until(async () => (await stateOfMonitor()) === 'ok' && (await activeAlerts()).length === 0);
    await until(() => notified.at(-1)!.status === 'resolved');
  });
});

/** Prefix of a command that runs it with one folder mounted in place of another. */
function withFolder(folder: string, place: string): readonly string[] {
  return ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" "$1" && shift && exec "$@"', folder, place];
}
