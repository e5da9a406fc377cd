export { compactHeap } from './compact-heap.ts';
export type { MetricDeclaration, MetricDeclarations } from './declarations.ts';
export { followCounts, followTotal, openMetrics, type Instruments, type Metrics } from './metrics.ts';
export { serveMetrics, type MetricsServer } from './metrics-server.ts';
export { processMetrics } from './process-metrics.ts';
export { telemetrySettings, tracingConfig, type TelemetryConfig } from './telemetry-settings.ts';
export { describeError, openLog, type OpenLog } from './open-log.ts';
export { openTextOutput, type TextOutput } from './text-output.ts';
export { isTraceparent } from './traceparent.ts';
export {
  noTracing,
  openTracing,
  type SpanOptions,
  type TraceSpan,
  type Tracing,
  type TracingConfig,
} from './tracing.ts';
