/** Metrics that the reference page lists besides those that a process declares. Name → description. */
export const processMetrics: Readonly<Record<string, string>> = {
  nodejs_eventloop_lag_p99_seconds: 'Gauge. 99th percentile of the lag of the event loop since the last scrape.',
  nodejs_eventloop_lag_mean_seconds: 'Gauge. Mean lag of the event loop since the last scrape.',
  nodejs_gc_duration_seconds: 'Histogram by `kind`. Time that garbage collections took.',
  nodejs_heap_size_used_bytes: 'Gauge. Memory in use by JavaScript.',
  process_cpu_seconds_total: 'Counter. CPU time of the process.',
  process_open_fds: 'Gauge. Open file descriptors.',
  process_resident_memory_bytes: 'Gauge. Resident memory.',
  process_start_time_seconds: 'Gauge. Start of the process, seconds since the epoch.',
};
