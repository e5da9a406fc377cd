import { boolean, integer, number, oneOf, setting, text, url, type SettingValues } from '@vantage/settings';

import { samplerNames, type TracingConfig } from './tracing.ts';

/** Settings of coordinators and agents. `OTEL_*` names follow the OpenTelemetry specification. */
export const telemetrySettings = {
  metricsPort: setting({
    env: 'METRICS_PORT',
    kind: integer(0, 65_535),
    description:
      'Port of `/metrics` for Prometheus, with `/healthz` and `/readyz`; 0 selects a free one. Default: no ' +
      'port and no metrics.',
  }),
  metricsHost: setting({
    env: 'METRICS_HOST',
    kind: text,
    default: '127.0.0.1',
    description: 'Address of the metrics port. Keep it private: it has no authentication.',
  }),
  otelEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: url(['http:', 'https:']),
    description:
      'OpenTelemetry collector for traces, OTLP over HTTP with JSON; `/v1/traces` is appended. Default: no ' +
      'traces. `OTEL_EXPORTER_OTLP_HEADERS`, `…_TIMEOUT`, `…_COMPRESSION`, `…_CERTIFICATE` and ' +
      '`OTEL_RESOURCE_ATTRIBUTES` have the meaning of the specification.',
  }),
  otelTracesEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    kind: url(['http:', 'https:']),
    description: 'The same as a complete URL; overrides the one above.',
  }),
  otelDisabled: setting({
    env: 'OTEL_SDK_DISABLED',
    kind: boolean,
    default: 'false',
    description: 'Disables traces, regardless of other settings.',
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
      'Sampler of traces. With the names that begin with `parentbased` an agent follows the coordinator’s decision.',
  }),
  otelSamplerArgument: setting({
    env: 'OTEL_TRACES_SAMPLER_ARG',
    kind: number(0, 1),
    default: '1',
    description: 'Share of traces that ratio samplers keep.',
  }),
} as const;

export type TelemetryConfig = SettingValues<typeof telemetrySettings>;

/** @returns the configuration; undefined if tracing is off */
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
