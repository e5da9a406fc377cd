import type { CheckRequest } from '@vantage/client';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';

import type { Config, Share } from './config.ts';
import { createSeededRandom } from './random.ts';

/** A planned check. */
export interface Arrival {
  /** Milliseconds since the start of the load. */
  readonly atMs: number;
  readonly request: CheckRequest;
  /** Time from creation to deadline, milliseconds. */
  readonly budgetMs: number;
  /** False during warm-up. */
  readonly counts: boolean;
}

type PlanOptions = Pick<Config, 'rate' | 'seconds' | 'warmUpSeconds' | 'mix' | 'seed'> & RequestOptions;
type RequestOptions = Pick<Config, 'target' | 'port' | 'name' | 'probes'>;

/** Arrivals of a Poisson process, which models many independent clients. */
export function* planArrivals(options: PlanOptions): Generator<Arrival, void, undefined> {
  const random = createSeededRandom(options.seed);
  const untilMs = (options.warmUpSeconds + options.seconds) * 1_000;
  const made = new Map(options.mix.map(([type]) => [type, requestOf(type, options)]));
  for (let atMs = gapMs(options.rate, random); atMs < untilMs; atMs += gapMs(options.rate, random)) {
    const { request, budgetMs } = made.get(pick(options.mix, random))!;
    yield { atMs, request, budgetMs, counts: atMs >= options.warmUpSeconds * 1_000 };
  }
}

function gapMs(rate: number, random: () => number): number {
  return (-Math.log(1 - random()) / rate) * 1_000;
}

function pick(mix: readonly Share[], random: () => number): CheckTypeName {
  const total = mix.reduce((sum, [, weight]) => sum + weight, 0);
  let left = random() * total;
  for (const [type, weight] of mix) {
    left -= weight;
    if (left < 0) return type;
  }
  return mix.at(-1)![0];
}

function requestOf(
  type: CheckTypeName,
  { target, port, name, probes }: RequestOptions,
): Omit<Arrival, 'atMs' | 'counts'> {
  const checkType: AnyCheckType = checkTypes[type];
  const authority = target.includes(':') && !target.startsWith('[') ? `[${target}]` : target;
  const hosts = { host: target, url: `http://${authority}:${port}/`, name };
  const request = {
    type,
    limit: probes,
    host: hosts[checkType.hostKind],
    ...(Object.hasOwn(checkType.fields as object, 'port') && { port }),
    // A screenshot would dominate the cost and change the deadline.
    ...(checkType.screenshot !== undefined && { options: { screenshot: false } }),
  } as CheckRequest;
  const defaults = Object.entries(checkType.options as Readonly<Record<string, { readonly default?: unknown }>>).map(
    ([option, schema]) => [option, schema.default] as const,
  );
  const params = { ...request, options: { ...Object.fromEntries(defaults), ...request.options } };
  return { request, budgetMs: Math.ceil(checkType.budgetMs(params)) };
}
