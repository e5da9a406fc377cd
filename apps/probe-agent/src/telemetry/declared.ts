import type { MetricDeclarations } from '@vantage/telemetry';

const type = 'Check type.';
const protocol = '`icmp`, `udp`, `tcp`.';
const family = '`4`, `6`.';

/** All metrics of the agent; source of the metrics reference page. */
export const agentMetrics = {
  build: {
    kind: 'gauge',
    name: 'vantage_agent_build_info',
    help: 'Always 1; its labels are the probe and the release.',
    labels: { probe: 'Identifier of the probe.', version: 'Release.' },
  },
  jobs: {
    kind: 'counter',
    name: 'vantage_agent_jobs_total',
    help: 'Jobs with a result.',
    labels: {
      type: `${type} \`unknown\` for a job that could not be read.`,
      result: '`success`, `failure`, `timeout`, `error`.',
    },
  },
  duration: {
    kind: 'histogram',
    name: 'vantage_agent_job_duration_seconds',
    help: 'Time from taking a job to submitting its result.',
    labels: {
      type: `${type} \`screenshot\` for the screenshot of an http check, \`unknown\` for a type of another release.`,
    },
    buckets: [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60],
  },
  queueWait: {
    kind: 'histogram',
    name: 'vantage_agent_queue_wait_seconds',
    help:
      'Time from adding a job, by the clock of the coordinator, to taking it, by the clock of Redis; the ' +
      'difference of the clocks is its error.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  running: { kind: 'gauge', name: 'vantage_agent_jobs_running', help: 'Running jobs.' },
  capacity: { kind: 'gauge', name: 'vantage_agent_jobs_capacity', help: 'Maximum number of running jobs.' },
  linesDropped: {
    kind: 'counter',
    name: 'vantage_agent_log_lines_dropped_total',
    help: 'Log lines dropped because the disk was full or the reader of the pipe did not read.',
  },
  redisUp: {
    kind: 'gauge',
    name: 'vantage_agent_redis_up',
    help: '1 while the connection is ready, else 0.',
    labels: { connection: '`jobs`, `results`; `gateway` for an agent with `VANTAGE_URL`.' },
  },
  redisReconnects: {
    kind: 'counter',
    name: 'vantage_agent_redis_reconnects_total',
    help: 'Reconnections to Redis.',
    labels: { connection: '`jobs`, `results`; `gateway` for an agent with `VANTAGE_URL`.' },
  },
  redisRoundTrip: {
    kind: 'gauge',
    name: 'vantage_agent_redis_round_trip_seconds',
    help: 'Shortest round trip to Redis of the last three readings of its clock.',
  },
  packetsSent: {
    kind: 'counter',
    name: 'vantage_agent_packets_sent_total',
    help: 'Packets that the packet process passed to the kernel.',
    labels: { protocol, family },
  },
  packetsRefused: {
    kind: 'counter',
    name: 'vantage_agent_packets_refused_total',
    help: 'Packets refused by the kernel or the packet process.',
    labels: { protocol, family },
  },
  packetsReceived: {
    kind: 'counter',
    name: 'vantage_agent_packets_received_total',
    help: 'Packets that arrived for a measurement.',
    labels: { protocol: 'Of the packet: `icmp` also for errors about another one.', family },
  },
  packetProcessUp: {
    kind: 'gauge',
    name: 'vantage_agent_packet_process_up',
    help: '1 while the packet process runs, else 0.',
  },
  packetProcessCrashes: {
    kind: 'counter',
    name: 'vantage_agent_packet_process_crashes_total',
    help: 'Crashes of the packet process; the agent starts it again.',
    labels: { process: 'Always `packets`.' },
  },
  pictures: {
    kind: 'counter',
    name: 'vantage_agent_screenshots_total',
    help: 'Requested screenshots.',
    labels: { outcome: '`taken`, `failed` because of the probe, `no_page` if the target has no page.' },
  },
  browsers: { kind: 'gauge', name: 'vantage_agent_browsers_running', help: 'Running browsers.' },
  browserWaits: {
    kind: 'gauge',
    name: 'vantage_agent_screenshots_waiting',
    help: 'Screenshots that wait for a browser.',
  },
  browserMemory: {
    kind: 'gauge',
    name: 'vantage_agent_browser_memory_bytes',
    help: 'Proportional share of the memory of all browsers of the agent, at the scrape.',
  },
  screenshotsOffered: {
    kind: 'gauge',
    name: 'vantage_agent_screenshots_offered',
    help: '1 if screenshots are offered, else 0.',
  },
} as const satisfies MetricDeclarations;
