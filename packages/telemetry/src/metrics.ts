import type * as Prometheus from 'prom-client';
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { MetricDeclaration, MetricDeclarations } from './declarations.ts';
import { NEVER_MS, observeEventLoopLag } from './event-loop-lag.ts';

type LabelsOf<D extends MetricDeclaration> = D extends { readonly labels: infer L } ? Extract<keyof L, string> : never;

type InstrumentOf<D extends MetricDeclaration> = D['kind'] extends 'counter'
  ? Counter<LabelsOf<D>>
  : D['kind'] extends 'gauge'
    ? Gauge<LabelsOf<D>>
    : Histogram<LabelsOf<D>>;

/** One prom-client instrument per declaration, under the same key. */
export type Instruments<D extends MetricDeclarations> = { readonly [Name in keyof D]: InstrumentOf<D[Name]> };

export interface Metrics<D extends MetricDeclarations> {
  readonly instruments: Instruments<D>;
  /** Registers a callback that samples values before each scrape. Errors are reported and do not fail the scrape. */
  readonly onScrape: (sample: () => Promise<void> | void) => void;
  /** All metrics in the Prometheus text format. */
  readonly scrape: () => Promise<string>;
  readonly contentType: string;
}

/** @param onFault called with an error of an `onScrape` callback */
export async function openMetrics<const D extends MetricDeclarations>(
  declared: D,
  onFault: (error: unknown) => void,
): Promise<Metrics<D>> {
  // Loaded on demand: a process without a metrics port does not load the library.
  const prometheus = await import('prom-client');
  const registry = new prometheus.Registry();
  const samples: (() => Promise<void> | void)[] = [];
  prometheus.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  // These gauges have the suffix of counters, which promtool rejects. The gauges without it have the same numbers by
  // type.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`);
  observeEventLoopLag(prometheus, registry);
  const entries = Object.entries(declared).map(([key, metric]) => [key, instrument(prometheus, registry, metric)]);

  const sample = async (run: () => Promise<void> | void): Promise<void> => {
    try {
      await run();
    } catch (error) {
      onFault(error);
    }
  };
  return {
    instruments: Object.fromEntries(entries) as Instruments<D>,
    onScrape: (run) => void samples.push(run),
    scrape: async () => {
      await Promise.all(samples.map(sample));
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

/**
 * Advances a counter to external, monotonic counts.
 *
 * @returns a function that takes the present counts by value of the label
 */
export function followCounts<L extends string>(
  counter: Pick<Counter<L>, 'inc'>,
  label: L,
): (counts: Readonly<Record<string, number>>) => void {
  const seen = new Map<string, number>();
  return (counts) => {
    for (const [name, count] of Object.entries(counts)) {
      const labels = { [label]: name } as Partial<Record<L, string>>;
      counter.inc(labels, Math.max(0, count - (seen.get(name) ?? 0)));
      seen.set(name, count);
    }
  };
}

/**
 * Advances a counter without labels to an external, monotonic total.
 *
 * @returns a function that reads the total and advances the counter to it
 */
export function followTotal(counter: Pick<Counter, 'inc'>, total: () => number): () => void {
  let seen = 0;
  return () => {
    const now = total();
    counter.inc(Math.max(0, now - seen));
    seen = now;
  };
}

function instrument(
  { Counter, Gauge, Histogram }: typeof Prometheus,
  registry: Registry,
  { kind, name, help, labels = {}, buckets }: MetricDeclaration,
): Counter | Gauge | Histogram {
  const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
  if (kind === 'counter') return new Counter(options);
  if (kind === 'gauge') return new Gauge(options);
  return new Histogram({ ...options, ...(buckets === undefined ? {} : { buckets: [...buckets] }) });
}
