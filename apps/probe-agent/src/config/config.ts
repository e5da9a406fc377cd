import { nearestWord } from '@vantage/contract';
import { checkTypeNames } from '@vantage/diagnostics/contract';
import {
  integer,
  list,
  oneOf,
  readSettings,
  setting,
  SettingsError,
  text,
  unknownVariables,
  type VariableKind,
  type Settings,
  type SettingValues,
  type UnknownVariable,
} from '@vantage/settings';
import { telemetrySettings } from '@vantage/telemetry';

import { connectionSettings } from './connection-settings.ts';
import { measuringSettings } from './measuring-settings.ts';

const offeredTypes: VariableKind<readonly (typeof checkTypeNames)[number][]> = {
  name: list(oneOf(checkTypeNames)).name,
  parse: (value) => {
    const types = list(oneOf(checkTypeNames)).parse(value);
    if (types.length === 0) throw new Error('must name a check type');
    return types;
  },
};

/** All settings of the agent; source of the settings reference page. */
export const settings = {
  ...connectionSettings,
  concurrency: setting({
    env: 'CONCURRENCY',
    kind: integer(1, 1_000),
    default: '20',
    description:
      'Number of concurrent jobs. Further ones wait in Redis. An agent that connects to Redis has at most 256 jobs, waiting ones included.',
  }),
  checkTypes: setting({
    env: 'CHECK_TYPES',
    kind: offeredTypes,
    default: checkTypeNames.join(','),
    description: 'Check types to offer. A listed type that cannot run on this machine makes the probe degraded.',
  }),
  drainSeconds: setting({
    env: 'DRAIN_SECONDS',
    kind: integer(0, 3_600),
    default: '10',
    description:
      'Time for running jobs after SIGTERM, and for those of its first second, in which coordinators learn of it. Unfinished ' +
      'jobs are then reported as interrupted. The grace period of the supervisor must be some seconds longer.',
  }),
  refusedRetrySeconds: setting({
    env: 'REFUSED_RETRY_SECONDS',
    kind: integer(1, 3_600),
    default: '15',
    description:
      'Least pause of an agent with `VANTAGE_URL` after a refusal, for example while its probe is suspended, before it connects ' +
      'again; the longest is twice as long.',
  }),
  metricsPortFile: setting({
    env: 'METRICS_PORT_FILE',
    kind: text,
    description:
      'File that the port of `/metrics` is written to, for health checks: a free one is used if another process has `METRICS_PORT`.',
  }),
  ...measuringSettings,
  ...telemetrySettings,
} satisfies Settings;

/** How the agent gets its jobs and returns its results. */
export type Transport =
  | {
      readonly kind: 'redis';
      readonly probeId: string;
      readonly url: string;
      readonly certificates: string | undefined;
    }
  | { readonly kind: 'gateway'; readonly url: string };

export type Config = SettingValues<typeof settings> & { readonly transport: Transport };

export type MeasuringConfig = SettingValues<typeof measuringSettings>;

/** @throws SettingsError with all faults of single settings, or else that of their combination */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const values = readSettings(settings, environment);
  return { ...values, transport: transportOf(values) };
}

function transportOf(values: SettingValues<typeof settings>): Transport {
  const { vantageUrl, probeId: id, redisUrl } = values;
  const certificates = values.redisCertificates ?? values.redisCa;
  if (vantageUrl === undefined && id !== undefined && redisUrl !== undefined) {
    return { kind: 'redis', probeId: id, url: redisUrl, certificates };
  }
  if (vantageUrl !== undefined && redisUrl === undefined) return { kind: 'gateway', url: vantageUrl };
  throw new SettingsError([
    vantageUrl === undefined
      ? 'VANTAGE_URL is required, or PROBE_ID and REDIS_URL for an agent that connects to Redis'
      : 'VANTAGE_URL and REDIS_URL exclude each other',
  ]);
}

/** @throws SettingsError with all faults */
export function readMeasuringConfig(environment: Readonly<Record<string, string | undefined>>): MeasuringConfig {
  return readSettings(measuringSettings, environment);
}

/** Variables that are probably mistyped names of settings. */
export function mistypedSettings(
  environment: Readonly<Record<string, string | undefined>>,
): readonly UnknownVariable[] {
  return unknownVariables(settings, environment, nearestWord);
}
