import type { MetricDeclarations } from '@vantage/telemetry';

const type = 'Check type.';
const result =
  '`success`, `failure`, `timeout`, `error`; `refused` is an error because the target policy of the agent or its limit refuses the target.';
const fromMilliseconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics that the coordinator declares; source of the reference page. */
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
    help:
      'Time from the head of a request to the end of its response, without event streams. Long polls ' +
      '(`?wait=`) have `held="true"`.',
    labels: {
      method: '`GET`, `HEAD`, `POST`, `PUT`, `DELETE`, `OPTIONS` or `other`.',
      route: 'Path of the endpoint with its parameters, such as `/check/:id/results`; `other` for all else.',
      status: 'Status code.',
      held: '`true` if the client asked to wait, else `false`.',
    },
    buckets: fromMilliseconds,
  },
  inFlight: {
    kind: 'gauge',
    name: 'vantage_http_requests_in_flight',
    help: 'Requests in progress, without event streams.',
  },
  streams: { kind: 'gauge', name: 'vantage_http_event_streams_open', help: 'Open event streams.' },
  problems: {
    kind: 'counter',
    name: 'vantage_http_problems_total',
    help: 'Problem documents sent.',
    labels: { type: 'Last part of its `type` URI.' },
  },
  limited: {
    kind: 'counter',
    name: 'vantage_rate_limited_total',
    help: 'Requests refused by a limit.',
    labels: {
      limit: 'Name of the limit, as `RateLimit-Policy` has it; `too-many-streams` for that of open event streams.',
    },
  },
  checks: {
    kind: 'counter',
    name: 'vantage_checks_created_total',
    help: 'Accepted checks.',
    labels: { type },
  },
  runs: {
    kind: 'counter',
    name: 'vantage_probe_runs_created_total',
    help: 'Probe runs of accepted checks, one per selected probe.',
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
    help: 'Committed final results of agents. Results that a coordinator writes in their place are counted as events.',
    labels: { type, result },
  },
  resultsByProbe: {
    kind: 'counter',
    name: 'vantage_probe_results_total',
    help: 'Committed final results of agents, by probe.',
    labels: { probe: 'Identifier of the probe.', result },
  },
  resultLag: {
    kind: 'histogram',
    name: 'vantage_result_lag_seconds',
    help:
      'Time from the arrival of a final result in Redis until its commit; for an inline result, from the ' +
      'arrival of its notification.',
    buckets: fromMilliseconds,
  },
  events: {
    kind: 'counter',
    name: 'vantage_core_events_total',
    help: 'Events of checks, results and jobs.',
    labels: { event: 'One of the list below.' },
  },
  linesDropped: {
    kind: 'counter',
    name: 'vantage_log_lines_dropped_total',
    help: 'Log lines dropped because the disk was full or the reader of the pipe did not read.',
  },
  resultBytes: {
    kind: 'gauge',
    name: 'vantage_result_bytes',
    help: 'Approximate bytes of the results of completed checks in Redis.',
    labels: { of: '`all`, or `bulkiest_client`.' },
  },
  resultBytesMax: {
    kind: 'gauge',
    name: 'vantage_result_bytes_max',
    help: 'Bytes beyond which the oldest checks of the clients with the most data are removed.',
    labels: { of: '`all`, or `bulkiest_client`: one client.' },
  },
  tickDelay: {
    kind: 'histogram',
    name: 'vantage_monitor_tick_delay_seconds',
    help: 'Time from the moment at which a tick of a monitor is due to the start of its check.',
    buckets: fromMilliseconds,
  },
  monitorsFileValid: {
    kind: 'gauge',
    name: 'vantage_monitors_file_valid',
    help: '1 if `MONITORS_FILE` is in force or not set, 0 while it is not valid or the file of another coordinator differs and is in force.',
  },
  modulesLoaded: {
    kind: 'gauge',
    name: 'vantage_modules_last_reload_successful',
    help: '1 if `MODULES_FILE` as it is now is in use, 0 if it was refused and the last good one is.',
  },
  modulesLoadedAt: {
    kind: 'gauge',
    name: 'vantage_modules_last_reload_success_timestamp_seconds',
    help: 'When the modules in use were read, Unix time.',
  },
  modules: {
    kind: 'gauge',
    name: 'vantage_modules',
    help: 'Modules of `GET /probe`.',
    labels: { state: '`usable`, or `refused`: with an option that has no equivalent.' },
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
    help: 'Probes with a record; absent while they cannot be read.',
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
    help: 'Running jobs, as the probe’s agent reports.',
    labels: { probe: 'Identifier of the probe.' },
  },
} as const satisfies MetricDeclarations;
