import { monitorStates, type MonitorInList, type Monitors } from '@vantage/contract';
import type { MetricDeclarations } from '@vantage/telemetry';

import { readInterval } from './definition.ts';

const monitor = 'Name of the monitor.';
const labels = { monitor, probe: 'Identifier of the probe.' };

/** All metrics of `GET /metrics/monitors`; source of the reference page. */
export const monitorMetrics = {
  state: {
    kind: 'gauge',
    name: 'vantage_monitor_state',
    help: '1 for the state in which the monitor is, 0 for the others.',
    labels: { monitor, state: monitorStates.map((state) => `\`${state}\``).join(', ') },
  },
  since: {
    kind: 'gauge',
    name: 'vantage_monitor_state_since_timestamp_seconds',
    help: 'Time of the tick at which the monitor came into its state.',
    labels: { monitor },
  },
  alarm: {
    kind: 'gauge',
    name: 'vantage_monitor_alarm',
    help: '1 from the turn to `bad` until the turn to `ok`, also while the monitor is `unknown` in between, else 0.',
    labels: { monitor },
  },
  tick: {
    kind: 'gauge',
    name: 'vantage_monitor_last_tick_timestamp_seconds',
    help: 'Time of the last evaluated tick.',
    labels: { monitor },
  },
  pathChange: {
    kind: 'gauge',
    name: 'vantage_monitor_last_path_change_timestamp_seconds',
    help: 'Time of the last tick with a change of the path; traceroute only. Absent before the first.',
    labels: { monitor },
  },
  interval: {
    kind: 'gauge',
    name: 'vantage_monitor_interval_seconds',
    help: 'Interval of the monitor.',
    labels: { monitor },
  },
  failing: {
    kind: 'gauge',
    name: 'vantage_monitor_failing_probes',
    help: 'Probes that fail, of those that count.',
    labels: { monitor },
  },
  counted: {
    kind: 'gauge',
    name: 'vantage_monitor_counted_probes',
    help: 'Probes that count: those that measured, without flapping ones unless the others are too few for an alarm.',
    labels: { monitor },
  },
  emptyLocations: {
    kind: 'gauge',
    name: 'vantage_monitor_empty_locations',
    help: 'Locations that the monitor names and that had no probe at its last run.',
    labels: { monitor },
  },
  success: {
    kind: 'gauge',
    name: 'vantage_monitor_probe_success',
    help: '1 if the last result of the probe is as expected, 0 if not. Absent while the probe cannot measure.',
    labels,
  },
  flapping: {
    kind: 'gauge',
    name: 'vantage_monitor_probe_flapping',
    help: '1 while the state of the probe changes too often to be counted, else 0.',
    labels,
  },
  rtt: {
    kind: 'gauge',
    name: 'vantage_monitor_probe_rtt_seconds',
    help: 'Round-trip or response time of the last result.',
    labels,
  },
  loss: {
    kind: 'gauge',
    name: 'vantage_monitor_probe_loss_ratio',
    help: 'Share of lost packets of the last result; ping only.',
    labels,
  },
  certificate: {
    kind: 'gauge',
    name: 'vantage_monitor_probe_certificate_days',
    help: 'Days until the certificate of the last result or one above it expires, negative once it has.',
    labels,
  },
  lifeLeft: {
    kind: 'gauge',
    name: 'vantage_monitor_probe_certificate_life_left_ratio',
    help: 'Share of the life of the server’s certificate that is left, negative once it has expired. Absent if not known or if one above it expires within 14 days.',
    labels,
  },
  info: {
    kind: 'gauge',
    name: 'vantage_monitor_probe_info',
    help: 'Always 1; its labels are the country and the network of the probe, to join with.',
    labels: { ...labels, country: 'ISO 3166-1 code.', asn: 'Autonomous system, AS<digits>.' },
  },
} as const satisfies MetricDeclarations;

type MetricName = keyof typeof monitorMetrics;
type Labels = Readonly<Record<string, string>>;
type Sample = readonly [metric: MetricName, labels: Labels, value: number];

/** All monitors in the text format of Prometheus, version 0.0.4. */
export function monitorMetricsText(monitors: Monitors): string {
  const samples = Object.entries(monitors).flatMap(([name, one]) => samplesOf(name, one));
  const byMetric = Map.groupBy(samples, ([metric]) => metric);
  const lines = Object.entries(monitorMetrics).flatMap(([metric, { name, help, kind }]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${kind}`,
    ...(byMetric.get(metric as MetricName) ?? []).map(([, of, value]) => `${name}{${labelsText(of)}} ${value}`),
  ]);
  return `${lines.join('\n')}\n`;
}

function samplesOf(monitor: string, one: MonitorInList): readonly Sample[] {
  const { state, since, alarmSince, lastTickAt, lastPathChangeAt, every, agreement, emptyLocations, probes } = one;
  const own: readonly (readonly [MetricName, number | null])[] = [
    ['since', secondsOf(since)],
    ['alarm', alarmSince === null ? 0 : 1],
    ['tick', secondsOf(lastTickAt)],
    ['pathChange', secondsOf(lastPathChangeAt)],
    ['interval', (readInterval(every) ?? 0) / 1_000],
    ['failing', agreement?.failing ?? null],
    ['counted', agreement?.counted ?? null],
    ['emptyLocations', lastTickAt === null ? null : (emptyLocations?.length ?? 0)],
  ];
  return [
    ...monitorStates.map((name): Sample => ['state', { monitor, state: name }, name === state ? 1 : 0]),
    ...present(own, { monitor }),
    ...Object.entries(probes).flatMap(([probe, memory]) => probeSamples({ monitor, probe }, memory)),
  ];
}

function probeSamples(of: Labels, memory: MonitorInList['probes'][string]): readonly Sample[] {
  const values: readonly (readonly [MetricName, number | null])[] = [
    ['success', { ok: 1, failing: 0, unmeasured: null }[memory.state]],
    ['flapping', memory.flapping ? 1 : 0],
    ['rtt', memory.rtt === null ? null : memory.rtt / 1_000],
    ['loss', memory.loss],
    ['certificate', memory.certificateDays],
    ['lifeLeft', memory.certificateLifeLeft ?? null],
  ];
  const place = { country: memory.country ?? '', asn: memory.network ?? '' };
  return [...present(values, of), ['info', { ...of, ...place }, 1]];
}

function present(values: readonly (readonly [MetricName, number | null])[], of: Labels): readonly Sample[] {
  return values.flatMap(([metric, value]): Sample[] => (value === null ? [] : [[metric, of, value]]));
}

function secondsOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1_000;
}

/** Formats labels for Prometheus and escapes their values; the names of labels are constants that need no escaping. */
function labelsText(of: Labels): string {
  return Object.entries(of)
    .map(([label, value]) => `${label}="${value.replaceAll(/[\\"\n]/g, (one) => (one === '\n' ? '\\n' : `\\${one}`))}"`)
    .join(',');
}
