import type { MetricDeclarations } from '@vantage/telemetry';

const type = 'Check type.';
const result = '`success`, `failure`, `timeout`, `error`.';
const fromMilliseconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Every metric of the coordinator; the reference page is made from these. */
export const coordinatorMetrics = {
  build: {
    kind: 'gauge',
    name: 'vantage_coordinator_build_info',
    help: 'Always 1; its label is the release.',
    labels: { version: 'Release.' },
  },
  requests: {
    kind: 'histogram',
    name: 'vantage_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer. Event streams are not in it; an answer that was held (`?wait=`) is in `held="true"`.',
    labels: {
      method: '`GET`, `HEAD`, `POST`, `OPTIONS` or `other`.',
      route: 'Path of the endpoint with its parameters, such as `/check/:id/results`; `other` for all else.',
      status: 'Status code.',
      held: '`true` where the caller asked to wait, else `false`.',
    },
    buckets: fromMilliseconds,
  },
  inFlight: {
    kind: 'gauge',
    name: 'vantage_http_requests_in_flight',
    help: 'Requests under way, event streams not counted.',
  },
  streams: { kind: 'gauge', name: 'vantage_http_event_streams_open', help: 'Event streams that are open.' },
  problems: {
    kind: 'counter',
    name: 'vantage_http_problems_total',
    help: 'Problem documents that were sent.',
    labels: { type: 'Last part of its `type` URI.' },
  },
  limited: {
    kind: 'counter',
    name: 'vantage_rate_limited_total',
    help: 'Requests that a limit refused.',
    labels: { limit: 'Name of the limit, as `RateLimit-Policy` has it.' },
  },
  checks: {
    kind: 'counter',
    name: 'vantage_checks_created_total',
    help: 'Checks that were accepted.',
    labels: { type },
  },
  runs: {
    kind: 'counter',
    name: 'vantage_probe_runs_created_total',
    help: 'Shares of checks, one per selected probe.',
    labels: { type },
  },
  creation: {
    kind: 'histogram',
    name: 'vantage_check_creation_seconds',
    help: 'Time to select probes and to write a check and its jobs.',
    buckets: fromMilliseconds,
  },
  results: {
    kind: 'counter',
    name: 'vantage_results_total',
    help: 'Final results of agents that were shown. What a coordinator writes in their place is among the events.',
    labels: { type, result },
  },
  resultsByProbe: {
    kind: 'counter',
    name: 'vantage_probe_results_total',
    help: 'The same by probe.',
    labels: { probe: 'Identifier of the probe.', result },
  },
  resultLag: {
    kind: 'histogram',
    name: 'vantage_result_lag_seconds',
    help: 'Time from the moment at which Redis took a final result from an agent until callers see it; where it came with its hint, from when the coordinator read that.',
    buckets: fromMilliseconds,
  },
  events: {
    kind: 'counter',
    name: 'vantage_core_events_total',
    help: 'What befell checks, results and jobs.',
    labels: { event: 'One of the list below.' },
  },
  linesDropped: {
    kind: 'counter',
    name: 'vantage_log_lines_dropped_total',
    help: 'Lines of the log that could not be written: its disk was full, or the reader of its pipe did not read.',
  },
  resultBytes: {
    kind: 'gauge',
    name: 'vantage_result_bytes',
    help: 'Bytes that the results of completed checks take in Redis, about.',
    labels: { of: '`all`, or `bulkiest_client`.' },
  },
  resultBytesMax: {
    kind: 'gauge',
    name: 'vantage_result_bytes_max',
    help: 'Bytes that they may take before the oldest checks of the bulkiest clients are removed.',
    labels: { of: '`all`, or `bulkiest_client`: one client.' },
  },
  redisUp: { kind: 'gauge', name: 'vantage_redis_up', help: '1 while Redis is connected and ready, else 0.' },
  redisRoundTrip: {
    kind: 'histogram',
    name: 'vantage_redis_round_trip_seconds',
    help: 'Round trip of a PING, one a second, on the connection that serves requests.',
    buckets: [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
  },
  probes: {
    kind: 'gauge',
    name: 'vantage_probes',
    help: 'Probes with an operator’s record.',
    labels: { status: '`healthy`, `degraded`, `offline`.' },
  },
  probeUp: {
    kind: 'gauge',
    name: 'vantage_probe_up',
    help: '1 for a probe that is healthy, 0.5 for one that is degraded, 0 for one that is offline.',
    labels: { probe: 'Identifier of the probe.' },
  },
  probeRunning: {
    kind: 'gauge',
    name: 'vantage_probe_jobs_running',
    help: 'Jobs under way, as the agent of the probe says.',
    labels: { probe: 'Identifier of the probe.' },
  },
} as const satisfies MetricDeclarations;
