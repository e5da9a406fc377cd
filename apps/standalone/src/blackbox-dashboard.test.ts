import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { freeServerPort, startDaemon, type Daemon } from '@vantage/test-support/daemon';
import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { SERVER_PACKAGES } from '../test/mail-and-file-servers.ts';
import { startScrapeTargets, ZONE, type ScrapeTargets } from '../test/scrape-targets.ts';
import { startService, temporaryFolder, type Service } from '../test/service.ts';

const EXPORTER = ['prometheus-blackbox-exporter'];
const missing = await packagesMissing(EXPORTER, ['prometheus'], ['knot', 'knot-dnsutils'], ...SERVER_PACKAGES);
const itSideBySide = itNeeding(process.getuid?.() === 0 ? missing : 'root is needed', process.env['CI']);

const MODULES = `modules:
  http_2xx: {prober: http, timeout: 10s}
  tcp_tls: {prober: tcp, timeout: 10s, tcp: {tls: true, query_response: [{expect: '^[+]OK'}]}}
  icmp: {prober: icmp, timeout: 10s}
  dns: {prober: dns, timeout: 10s, dns: {query_name: ${ZONE}, query_type: SOA}}
`;

/**
 * `$` stands for the selector of one exporter. The second field tells whether the values are times, which need to be
 * equal only within a tolerance.
 */
const expressions: readonly (readonly [expression: string, isTime?: true])[] = [
  ['probe_success$'],
  ['sum by (job) (probe_success$) / count by (job) (probe_success$)'],
  ['avg by (instance, job) (avg_over_time(probe_success$[10s]))'],
  ['count by (job) (probe_success$ == 0)'],
  ['avg by (instance, job) (probe_duration_seconds$)', true],
  ['sum by (instance) (probe_http_duration_seconds$)', true],
  ['avg by (instance, phase) (probe_http_duration_seconds$)', true],
  ['max by (instance) (probe_http_status_code$)'],
  ['max by (instance) (probe_http_version$)'],
  ['count(probe_http_ssl$ == 1) / count(probe_http_version$)'],
  ['max by (instance) (probe_http_redirects$)'],
  ['min by (instance, job) (probe_ssl_earliest_cert_expiry$ - time())'],
  ['min by (instance, job) (probe_ssl_last_chain_expiry_timestamp_seconds$ - time())'],
  ['max by (instance, job, version) (probe_tls_version_info$)'],
  ['avg by (instance, job) (probe_dns_lookup_time_seconds$)', true],
  ['avg by (instance, phase) (probe_icmp_duration_seconds$)', true],
  ['max by (instance) (probe_dns_answer_rrs$) + on (instance) max by (instance) (probe_dns_query_succeeded$)'],
  ['max by (instance, job) (probe_failed_due_to_regex$) or max by (instance, job) (probe_ip_protocol$)'],
];

interface Values {
  readonly equal: Record<string, number>;
  readonly times: Record<string, number>;
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

const SCRAPES_OF_TARGETS = 9;
/** Tolerance of times: less than each pause of `/slow`, so that a pause in the wrong phase is noticed. */
const TOLERANCE_SECONDS = 0.3;
/**
 * Time by which a ping of Vantage takes longer: it sends four packets with pauses between them, and blackbox_exporter
 * sends one.
 */
const PING_PAUSES_SECONDS = 0.6;

describe('dashboards over a Prometheus that scrapes Vantage and blackbox_exporter', () => {
  const data = temporaryFolder();
  const daemons: Daemon[] = [];
  let targets: ScrapeTargets;
  let service: Service;
  let prometheusUrl: string;

  beforeAll(async () => {
    if (missing !== null || process.getuid?.() !== 0) return;
    targets = await startScrapeTargets(data.folder);
    const file = join(data.folder, 'blackbox.yml');
    writeFileSync(file, MODULES);
    const exporter = await unpackPackages(...EXPORTER);
    const exporterAt = `127.0.0.1:${await freeServerPort()}`;
    const environment = { ...exporter.environment, SSL_CERT_FILE: targets.caFile };
    const flags = [`--config.file=${file}`, `--web.listen-address=${exporterAt}`];
    const answers = async (url: string): Promise<boolean> => (await fetch(url)).ok;
    daemons.push(
      await startDaemon({ ...exporter, environment }, EXPORTER[0]!, flags, () =>
        answers(`http://${exporterAt}/-/healthy`),
      ),
    );
    service = await startService(`${data.folder}/data`, ['--allow', '127.0.0.0/8'], {
      MODULES_FILE: file,
      SCRAPE_NETWORKS: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: targets.caFile,
    });
    const config = join(data.folder, 'prometheus.yml');
    writeFileSync(
      config,
      JSON.stringify(scrapeConfig(targets, { vantage: new URL(service.url).host, blackbox: exporterAt })),
    );
    const prometheusAt = `127.0.0.1:${await freeServerPort()}`;
    prometheusUrl = `http://${prometheusAt}`;
    const storage = [`--storage.tsdb.path=${join(data.folder, 'tsdb')}`, `--web.listen-address=${prometheusAt}`];
    daemons.push(
      await startDaemon(await unpackPackages('prometheus'), 'prometheus', [`--config.file=${config}`, ...storage], () =>
        answers(`${prometheusUrl}/-/ready`),
      ),
    );
  });

  afterAll(async () => {
    for (const daemon of daemons.toReversed()) await daemon.stop();
    await service?.stop();
    await targets?.close();
    data.remove();
  });

  async function query(expression: string, at: number): Promise<readonly Sample[]> {
    const asked = new URLSearchParams({ query: expression, time: String(at) });
    const response = await fetch(`${prometheusUrl}/api/v1/query?${asked.toString()}`);
    const { data: found, error } = (await response.json()) as {
      readonly data?: { readonly result: readonly Sample[] };
      readonly error?: string;
    };
    if (found === undefined) throw new Error(`${expression}: ${error}`);
    return found.result;
  }

  /** Values by labels, without the labels that distinguish the exporters. */
  async function evaluate(exporter: string, at: number): Promise<Values> {
    const values: Values = { equal: {}, times: {} };
    for (const [expression, isTime] of expressions) {
      const samples = await query(expression.replaceAll('$', `{exporter="${exporter}"}`), at);
      for (const { metric, value } of samples) {
        const { probe: _, exporter: __, ...labels } = metric;
        const found = isTime === true ? values.times : values.equal;
        found[`${expression} ${JSON.stringify(sorted(labels))}`] = Number(value[1]);
      }
    }
    return values;
  }

  itSideBySide('has the same label sets and values for 18 expressions', async () => {
    // On a loaded machine a scrape may have failed: the next ones decide.
    const until = performance.now() + 150_000;
    for (;;) {
      const at = Date.now() / 1_000;
      const scraped = await query('sum by (exporter) (up{exporter!=""})', at);
      const isComplete = scraped.length === 2 && scraped.every(({ value }) => Number(value[1]) === SCRAPES_OF_TARGETS);
      const isOver = performance.now() > until;
      if (!isOver && !isComplete) {
        await sleep(500);
        continue;
      }
      const [ours, theirs] = [await evaluate('vantage', at), await evaluate('blackbox', at)];
      const isEqual = JSON.stringify(sorted(ours.equal)) === JSON.stringify(sorted(theirs.equal));
      const differing = differingTimes(ours.times, theirs.times);
      if (!isOver && !(isEqual && differing.length === 0)) {
        await sleep(500);
        continue;
      }
      expect(ours.equal).toEqual(theirs.equal);
      expect(differing).toEqual([]);
      const keys = [...Object.keys(ours.equal), ...Object.keys(ours.times)];
      const seen = expressions.filter(([expression]) => keys.some((key) => key.startsWith(expression)));
      expect(seen).toEqual(expressions);
      expect(keys.length).toBeGreaterThan(60);
      const slow = Object.entries(ours.times).filter(([key]) => key.includes('/slow'));
      expect(slow.filter(([, seconds]) => seconds > TOLERANCE_SECONDS).length).toBeGreaterThanOrEqual(4);
      return;
    }
  });

  itSideBySide('has one `up` for each probe that is discovered, and each label once', async () => {
    const labelsOf = async (expression: string): Promise<readonly string[]> =>
      (await query(expression, Date.now() / 1_000)).map(({ metric }) => JSON.stringify(sorted(metric))).toSorted();
    const until = performance.now() + 60_000;
    while ((await labelsOf('probe_success{job="each"}')).length < 3 && performance.now() < until) await sleep(500);

    const discovered = ['demo-1', 'demo-2', 'demo-3'].map((probe) => ({ instance: '127.0.0.1', job: 'each', probe }));
    for (const name of ['up', 'probe_success']) {
      const expected = discovered.map((labels) => JSON.stringify(sorted({ __name__: name, ...labels })));
      expect(await labelsOf(`${name}{job="each"}`)).toEqual(expected);
    }
  });
});

/** Label sets that only one exporter has, and those whose values are further apart than the tolerance. */
function differingTimes(
  ours: Values['times'],
  theirs: Values['times'],
): readonly (readonly [string, unknown, unknown])[] {
  return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
    .map((key) => [key, ours[key], theirs[key]] as const)
    .filter(([key, one = NaN, other = NaN]) => {
      const pausesSeconds = isPingDuration(key) ? PING_PAUSES_SECONDS : 0;
      return !(Math.abs(one - pausesSeconds - other) <= TOLERANCE_SECONDS);
    });
}

function isPingDuration(key: string): boolean {
  return key.startsWith('avg by (instance, job) (probe_duration_seconds') && key.includes('["job","icmp"]');
}

function sorted(found: Readonly<Record<string, unknown>>): unknown {
  return Object.entries(found).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** The targets of each module, scraped from Vantage and from blackbox_exporter. */
function scrapeConfig(
  { http, https, closed, dns, dialogues }: ScrapeTargets,
  exporters: Readonly<Record<string, string>>,
): object {
  const byModule = {
    http_2xx: [`${http}/`, `${http}/missing`, `${http}/slow`, `${https}/redirect`, `http://${closed}/`],
    tcp_tls: [dialogues.at.pop3s, dialogues.at.ownTls],
    icmp: ['127.0.0.1'],
    dns: [dns],
  };
  const configs = Object.entries(exporters).flatMap(([exporter, address]) =>
    Object.entries(byModule).map(([module, targets]) => ({
      job_name: `${exporter}-${module}`,
      metrics_path: '/probe',
      params: { module: [module], ...(exporter === 'vantage' ? { probe: ['demo-1'] } : {}) },
      static_configs: [{ targets, labels: { exporter } }],
      relabel_configs: [
        { source_labels: ['__address__'], target_label: '__param_target' },
        { source_labels: ['__param_target'], target_label: 'instance' },
        { target_label: 'job', replacement: module },
        { target_label: '__address__', replacement: address },
      ],
    })),
  );
  const url = `http://${exporters['vantage']}/sd?module=icmp&target=127.0.0.1`;
  const each = { job_name: 'each', honor_labels: true, http_sd_configs: [{ url }] };
  return { global: { scrape_interval: '5s', scrape_timeout: '5s' }, scrape_configs: [...configs, each] };
}
