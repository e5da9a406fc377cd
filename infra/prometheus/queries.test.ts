import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { coordinatorMetrics, coreEvents, monitorMetrics } from '@vantage/coordinator';
import { agentMetrics } from '@vantage/probe-agent';
import { processMetrics, type MetricDeclaration } from '@vantage/telemetry';
import { describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

interface Query {
  /** Alert or panel to which the query belongs. */
  readonly at: string;
  readonly expression: string;
}

const declared = new Map<string, MetricDeclaration>(
  [...Object.values(coordinatorMetrics), ...Object.values(monitorMetrics), ...Object.values(agentMetrics)].map(
    (metric) => [metric.name, metric],
  ),
);
const queries: readonly Query[] = [...alertQueries(), ...dashboardQueries()];

describe('the variables of the dashboard', () => {
  const { panels, templating } = dashboard();

  it('choose source, instance and probe, each from what there is', () => {
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance', 'probe']);
    const [, ...ofLabels] = templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));
    for (const query of ofLabels) {
      expect(metricsIn(query).filter((name) => !isKnown(name))).toEqual([]);
      const [, label = ''] = /, (\w+)\)$/.exec(query) ?? [];
      expect([...added, ...metricsIn(query).flatMap(labelsOf)]).toContain(label);
    }
  });

  it.each(dashboardQueries())('apply to $at', ({ expression }) => {
    const hasProbe = metricsIn(expression).some((name) => labelsOf(name).includes('probe'));
    const selectors = [...expression.matchAll(/\{([^}]*)\}/g)].map(([, inside = '']) => inside);

    expect(selectors).toHaveLength(metricsIn(expression).length);
    expect(selectors.filter((inside) => !inside.includes('instance=~"$instance"'))).toEqual([]);
    expect(expression.includes('probe=~"$probe"')).toBe(hasProbe);
  });

  it('apply to the source of every panel', () => {
    const sources = panels.filter(({ targets }) => targets !== undefined).map(({ datasource }) => datasource?.uid);

    expect(new Set(sources)).toEqual(new Set(['${datasource}']));
  });
});

describe('the queries of dashboard and alerts', () => {
  it('are there', () => {
    expect(queries.filter(({ at }) => at.startsWith('alert')).length).toBeGreaterThan(10);
    expect(queries.filter(({ at }) => at.startsWith('panel')).length).toBeGreaterThan(20);
  });

  it.each(queries)('$at asks for metrics that there are', ({ expression }) => {
    expect(metricsIn(expression).filter((name) => !isKnown(name))).toEqual([]);
    expect(metricsIn(expression)).not.toEqual([]);
  });

  it.each(queries)('$at names labels that its metrics have', ({ expression }) => {
    expect(unknownLabels(expression)).toEqual([]);
  });

  it.each(queries)('$at names events that there are', ({ expression }) => {
    const named = [...expression.matchAll(/event[!=~]+"([^"]+)"/g)].flatMap(([, words = '']) => words.split('|'));

    expect(named.filter((event) => !coreEvents().includes(event))).toEqual([]);
  });

  it.each(queries)('$at has its brackets in pairs', ({ expression }) => {
    const withoutTexts = expression.replaceAll(/"[^"]*"/g, '');

    for (const [open, close] of Object.entries({ '(': ')', '[': ']', '{': '}' })) {
      expect(withoutTexts.split(open)).toHaveLength(withoutTexts.split(close).length);
    }
  });

  it('show a metric that is gone, a label that is none', () => {
    expect(metricsIn('sum(rate(vantage_gone_total[5m])) by (type)').filter((name) => !isKnown(name))).toEqual([
      'vantage_gone_total',
    ]);
    expect(unknownLabels('vantage_probes{host="a"}')).toEqual(['host']);
    expect(unknownLabels('sum by (target) (vantage_probes)')).toEqual(['target']);
  });
});

const itWithPromtool = itNeeding(await packagesMissing(['prometheus']), process.env['CI']);

describe('the files of Prometheus', () => {
  itWithPromtool('pass promtool', async () => {
    const { program, environment } = await unpackPackages('prometheus');
    const file = join(import.meta.dirname, 'prometheus.yml');

    const { stdout } = await promisify(execFile)(program('promtool'), ['check', 'config', file], { env: environment });

    expect(stdout).toContain('prometheus.yml is valid');
    expect(stdout).toMatch(/SUCCESS: \d+ rules found/);
  });

  itWithPromtool('would be a valid rule with each expression of the dashboard', async () => {
    const { program, environment } = await unpackPackages('prometheus');
    const folder = mkdtempSync(join(tmpdir(), 'vantage-dashboard-'));
    try {
      const rules = dashboardQueries().map(({ expression }, index) => ({
        record: `query:${index}`,
        expr: expression.replaceAll('$__rate_interval', '5m').replaceAll(/\$(instance|probe)\b/g, '.*'),
      }));
      const file = join(folder, 'rules.yml');
      writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));

      const { stdout } = await promisify(execFile)(program('promtool'), ['check', 'rules', file], { env: environment });

      expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  itWithPromtool('raise each alert in its situation, once, and no others', async () => {
    const { program, environment } = await unpackPackages('prometheus');
    const files = ['monitor-alerts.test.yml', 'service-alerts.test.yml'];
    const expected = new Set(
      files.flatMap((file) => [...read(file).matchAll(/alertname: (\w+)\n\s*exp_alerts:\n/g)].map(([, name]) => name)),
    );

    const words = ['test', 'rules', ...files.map((file) => join(import.meta.dirname, file))];
    const { stdout } = await promisify(execFile)(program('promtool'), words, { env: environment });

    expect(stdout.match(/SUCCESS/g)).toHaveLength(files.length);
    const alerts = queries.flatMap(({ at }) => (at.startsWith('alert ') ? [at.slice('alert '.length)] : []));
    expect(alerts.filter((name) => !expected.has(name))).toEqual([]);
  });

  it('scrape the monitors of the coordinators', () => {
    const { scrape_configs } = parse(read('prometheus.yml')) as Scraping;
    const job = scrape_configs.find(({ job_name }) => job_name === 'monitors');

    expect(job).toMatchObject({ metrics_path: '/metrics/monitors' });
    expect(job?.static_configs[0]?.targets).toEqual(['coordinator-1:8080', 'coordinator-2:8080']);
  });

  it('scrape the port that the compose file opens, of every process that is in it', () => {
    const compose = parse(readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8'), {
      merge: true,
    }) as Compose;
    const scraped = (parse(read('prometheus.yml')) as Scraping).scrape_configs
      .filter(({ job_name }) => job_name !== 'monitors')
      .flatMap(({ static_configs }) => static_configs.flatMap(({ targets }) => targets));
    const watched = Object.entries(compose.services).filter(
      ([, service]) => service.environment?.METRICS_HOST !== undefined,
    );

    expect(scraped.toSorted()).toEqual(watched.map(([name]) => `${name}:9464`).toSorted());
  });
});

interface Compose {
  readonly services: Readonly<Record<string, { readonly environment?: { readonly METRICS_HOST?: string } }>>;
}

interface Scraping {
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly metrics_path?: string;
    readonly static_configs: readonly { readonly targets: readonly string[] }[];
  }[];
}

function alertQueries(): readonly Query[] {
  const { groups } = parse(read('alerts.yml')) as {
    readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ at: `alert ${alert}`, expression: expr })));
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly datasource?: { readonly uid: string };
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string | { readonly query: string } }[];
  };
}

function dashboard(): Dashboard {
  return JSON.parse(read('../grafana/dashboards/vantage.json')) as Dashboard;
}

function dashboardQueries(): readonly Query[] {
  return dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ at: `panel ${title}`, expression: expr })),
  );
}

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8');
}

/** Metric names in a query that begin with `vantage_`, `nodejs_` or `process_`, and `up`. */
function metricsIn(expression: string): readonly string[] {
  const names = expression.replaceAll(/"[^"]*"/g, '""').match(/\b(?:vantage|nodejs|process)_[a-z0-9_]+|\bup\b/g);
  return names ?? [];
}

function isKnown(name: string): boolean {
  if (name === 'up' || Object.hasOwn(processMetrics, name) || declared.has(name)) return true;
  const [, base, part] = /^(.*)_(bucket|sum|count)$/.exec(name) ?? [];
  return part !== undefined && declared.get(base ?? '')?.kind === 'histogram';
}

/** Labels that Prometheus adds, and that of a histogram's buckets. */
const added = ['job', 'instance', 'le'];

function unknownLabels(expression: string): readonly string[] {
  const known = new Set([...added, ...metricsIn(expression).flatMap(labelsOf)]);
  const selected = [...expression.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = '']) =>
    [...inside.matchAll(/([a-z_]+)\s*[!=~]+\s*"/g)].map(([, label = '']) => label),
  );
  const grouped = [...expression.matchAll(/\b(?:by|without|on)\s*\(([^)]*)\)/g)].flatMap(([, inside = '']) =>
    inside.split(',').map((label) => label.trim()),
  );
  // `on ()` matches all series.
  return [...selected, ...grouped].filter((label) => label !== '' && !known.has(label));
}

function labelsOf(name: string): readonly string[] {
  const metric = declared.get(name) ?? declared.get(name.replace(/_(bucket|sum|count)$/, ''));
  return Object.keys(metric?.labels ?? {});
}
