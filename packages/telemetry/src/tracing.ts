import { AsyncLocalStorage } from 'node:async_hooks';

import type * as Api from '@opentelemetry/api';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type * as Sdk from '@opentelemetry/sdk-trace';
import { within } from '@vantage/timers';

import { readTraceparent, writeTraceparent } from './traceparent.ts';

export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface TracingConfig {
  readonly service: { readonly name: string; readonly version: string; readonly instance?: string | undefined };
  /** Complete URL to which traces are posted. */
  readonly url: string;
  readonly sampler: string;
  /** Sampling ratio, 0 to 1. */
  readonly samplerArgument: number;
}

export interface SpanOptions {
  /** OpenTelemetry span kind; default: internal. */
  readonly kind?: 'server' | 'producer' | 'consumer' | undefined;
  readonly attributes?: Attributes | undefined;
  /** Parent span; default: the active span, if any. */
  readonly traceparent?: string | undefined;
  /** Start time in milliseconds since the epoch; default: now. */
  readonly startedAtMs?: number | undefined;
}

export interface TraceSpan {
  /** Context to propagate to another process; undefined if tracing is off. */
  readonly traceparent: string | undefined;
  /** Runs a function with this span active; spans started in it become children. */
  readonly run: <T>(run: () => T) => T;
  readonly set: (attributes: Attributes) => void;
  readonly rename: (name: string) => void;
  readonly fail: (message: string) => void;
  readonly end: () => void;
}

/** Tracing of this process. It uses no global state. */
export interface Tracing {
  readonly start: (name: string, options?: SpanOptions) => TraceSpan;
  /** Runs work in a span that ends when the promise settles; a rejection marks it as failed. */
  readonly around: <T>(name: string, options: SpanOptions, run: (span: TraceSpan) => Promise<T>) => Promise<T>;
  /** Context of the active span, as `traceparent`; undefined without one. */
  readonly traceparent: () => string | undefined;
  /** Flushes pending spans within `CLOSE_WITHIN_MS`. Never rejects. */
  readonly close: () => Promise<void>;
}

const noSpan: TraceSpan = {
  traceparent: undefined,
  run: (run) => run(),
  set: () => undefined,
  rename: () => undefined,
  fail: () => undefined,
  end: () => undefined,
};

/** A no-op tracer. */
export const noTracing: Tracing = {
  start: () => noSpan,
  around: (_name, _options, run) => run(noSpan),
  traceparent: () => undefined,
  close: async () => undefined,
};

const CLOSE_WITHIN_MS = 4_000;
/** Bound of a text attribute; a host name has at most 253 characters. */
const LONGEST_TEXT = 300;

/**
 * Loads the OpenTelemetry SDK and starts exporting. If the collector is unreachable, spans are lost without any other
 * effect.
 */
export async function openTracing(config: TracingConfig): Promise<Tracing> {
  const [api, provider] = await Promise.all([import('@opentelemetry/api'), openProvider(config)]);
  const active = new AsyncLocalStorage<Context>();
  const start = spanStarter(api, provider.getTracer('vantage', config.service.version), active);
  return {
    start,
    around: async (spanName, options, run) => {
      const span = start(spanName, options);
      try {
        return await span.run(() => run(span));
      } catch (error) {
        span.fail(Error.isError(error) ? error.name : 'unknown');
        throw error;
      } finally {
        span.end();
      }
    },
    traceparent: () => {
      const context = active.getStore();
      const span: Span | undefined = context === undefined ? undefined : api.trace.getSpan(context);
      return span === undefined ? undefined : writeTraceparent(span.spanContext());
    },
    close: () => within(provider.shutdown(), CLOSE_WITHIN_MS),
  };
}

async function openProvider(config: TracingConfig): Promise<Sdk.TracerProvider> {
  const [sdk, { OTLPTraceExporter }, { detectResources, envDetector, resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const { name, version, instance } = config.service;
  return new sdk.TracerProvider({
    resource: detectResources({ detectors: [envDetector] }).merge(
      resourceFromAttributes({
        'service.name': name,
        'service.version': version,
        ...(instance === undefined ? {} : { 'service.instance.id': instance }),
      }),
    ),
    sampler: samplerOf(sdk, config),
    spanLimits: { attributeValueLengthLimit: LONGEST_TEXT },
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: config.url }) })],
  });
}

function spanStarter(api: typeof Api, tracer: Tracer, active: AsyncLocalStorage<Context>): Tracing['start'] {
  const kinds = {
    server: api.SpanKind.SERVER,
    producer: api.SpanKind.PRODUCER,
    consumer: api.SpanKind.CONSUMER,
  } as const;
  const parentOf = (traceparent: string | undefined): Context => {
    const remote = traceparent === undefined ? undefined : readTraceparent(traceparent);
    if (remote === undefined) return active.getStore() ?? api.ROOT_CONTEXT;
    return api.trace.setSpanContext(api.ROOT_CONTEXT, { ...remote, isRemote: true });
  };
  return (name, { kind, attributes, traceparent, startedAtMs } = {}) => {
    const parent = parentOf(traceparent);
    const options = {
      kind: kind === undefined ? api.SpanKind.INTERNAL : kinds[kind],
      ...(attributes === undefined ? {} : { attributes }),
      ...(startedAtMs === undefined ? {} : { startTime: startedAtMs }),
    };
    const span = tracer.startSpan(name, options, parent);
    const context = api.trace.setSpan(parent, span);
    return {
      traceparent: writeTraceparent(span.spanContext()),
      run: (run) => active.run(context, run),
      set: (more) => void span.setAttributes(more),
      rename: (other) => void span.updateName(other),
      fail: (message) => void span.setStatus({ code: api.SpanStatusCode.ERROR, message }),
      end: () => span.end(),
    };
  };
}

function samplerOf(
  { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, TraceIdRatioBasedSampler }: typeof Sdk,
  { sampler, samplerArgument }: TracingConfig,
): Sdk.Sampler {
  const named = sampler.replace(/^parentbased_/, '');
  const root =
    named === 'always_off'
      ? new AlwaysOffSampler()
      : named === 'traceidratio'
        ? new TraceIdRatioBasedSampler(samplerArgument)
        : new AlwaysOnSampler();
  return sampler === named ? root : new ParentBasedSampler({ root });
}
