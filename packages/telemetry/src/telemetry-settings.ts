import { boolean, integer, number, oneOf, setting, text, url, type Values } from '@vantage/settings';

import { samplerNames, type TracingConfig } from './tracing.ts';

/** Settings of every process. `OTEL_*` names follow the OpenTelemetry specification. */
export const telemetrySettings = {
  metricsPort: setting({
    env: 'METRICS_PORT',
    kind: integer(0, 65_535),
    description:
      'Port of `/metrics` for Prometheus, with `/healthz` and `/readyz`; 0 takes a free one. Default: none is opened, ' +
      'and nothing is counted for it.',
  }),
  metricsHost: setting({
    env: 'METRICS_HOST',
    kind: text,
    default: '127.0.0.1',
    description: 'Address that the metrics are served on. Keep it private: whoever reaches it reads all of them.',
  }),
  otelEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: url(['http:', 'https:']),
    description:
      'OpenTelemetry collector that traces are sent to, OTLP over HTTP with JSON; `/v1/traces` is added. Default: ' +
      'nothing is traced. `OTEL_EXPORTER_OTLP_HEADERS`, `…_TIMEOUT`, `…_COMPRESSION`, `…_CERTIFICATE` and ' +
      '`OTEL_RESOURCE_ATTRIBUTES` count as the specification says.',
  }),
  otelTracesEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    kind: url(['http:', 'https:']),
    description: 'The same as a whole URL; stronger than the one above.',
  }),
  otelDisabled: setting({
    env: 'OTEL_SDK_DISABLED',
    kind: boolean,
    default: 'false',
    description: 'Switches traces off whatever else is set.',
  }),
  otelServiceName: setting({
    env: 'OTEL_SERVICE_NAME',
    kind: text,
    description: 'Name of the process in traces. Default: `vantage-coordinator` or `vantage-probe-agent`.',
  }),
  otelSampler: setting({
    env: 'OTEL_TRACES_SAMPLER',
    kind: oneOf(samplerNames),
    default: 'parentbased_always_on',
    description:
      'Which traces are kept. An agent follows what the coordinator decided, with the names that begin with `parentbased`.',
  }),
  otelSamplerArgument: setting({
    env: 'OTEL_TRACES_SAMPLER_ARG',
    kind: number(0, 1),
    default: '1',
    description: 'Share of the traces that the ratio samplers keep.',
  }),
} as const;

export type TelemetryConfig = Values<typeof telemetrySettings>;

/** @returns undefined if tracing is off */
export function tracingConfig(config: TelemetryConfig, service: TracingConfig['service']): TracingConfig | undefined {
  const { otelEndpoint, otelTracesEndpoint, otelDisabled, otelServiceName } = config;
  if (otelDisabled || (otelEndpoint === undefined && otelTracesEndpoint === undefined)) return undefined;
  return {
    service: { ...service, name: otelServiceName ?? service.name },
    // A base endpoint is extended by the signal's path; a full traces URL is used unchanged (OTLP exporter
    // specification).
    url: otelTracesEndpoint ?? `${otelEndpoint!.replace(/\/$/, '')}/v1/traces`,
    sampler: config.otelSampler,
    samplerArgument: config.otelSamplerArgument,
  };
}
