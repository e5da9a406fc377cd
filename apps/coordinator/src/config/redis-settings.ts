import { redisUrlKind } from '@vantage/redis-connections';
import { certificateFile, integer, setting, type Settings } from '@vantage/settings';

/** Settings of Redis: connection, memory, replicas and queues. */
export const redisSettings = {
  redisUrl: setting({
    env: 'REDIS_URL',
    kind: redisUrlKind,
    required: true,
    secret: true,
    description:
      'Redis for queues, checks and limits, with the user and password of the coordinator: ' +
      '`redis://user:password@host:port`, `redis+sentinel://user:password@host:port,host:port/set` with ' +
      'the Sentinels ' +
      'as hosts, or `redis+cluster://user:password@host:port,host:port`; with `rediss` in place of `redis` over TLS.',
  }),
  redisCertificates: setting({
    env: 'REDIS_CA_FILE',
    kind: certificateFile,
    description: 'File with CA certificates for `rediss:` servers, in PEM. Default: those of Node.',
  }),
  probeKeysMaxMiB: setting({
    env: 'PROBE_KEYS_MAX_MIB',
    kind: integer(1, 1_048_576),
    default: '256',
    description:
      'Redis memory for the keys of one probe, MiB. Beyond it the probe’s agent is suspended until ' +
      '`probe:enable`, and its keys are removed.',
  }),
  screenshotsMaxMiB: setting({
    env: 'SCREENSHOTS_MAX_MIB',
    kind: integer(4, 1_048_576),
    default: '256',
    description:
      'Redis memory for the screenshots of all checks, MiB. Beyond it the oldest are removed early; the results stay.',
  }),
  resultsMaxMiB: setting({
    env: 'RESULTS_MAX_MIB',
    kind: integer(1, 1_048_576),
    description:
      'Redis memory for the results of all checks, MiB. Beyond it the oldest checks of the clients with ' +
      'the most data are removed early and answered with 410. Default: half of the `maxmemory` of Redis, ' +
      '512 if it has none.',
  }),
  clientResultsMaxMiB: setting({
    env: 'RESULTS_CLIENT_MAX_MIB',
    kind: integer(1, 1_048_576),
    description:
      'Redis memory for the results of one client address (IPv6: /64), MiB. Default: a quarter of ' +
      '`RESULTS_MAX_MIB`.',
  }),
  redisReplicas: setting({
    env: 'REDIS_REPLICAS',
    kind: integer(0, 5),
    default: '1',
    description:
      'Number of Redis replicas that must have a check before it is answered with 202. If fewer are ' +
      'connected, all of them; a single server causes no wait. 0 disables the wait.',
  }),
  redisReplicaMilliseconds: setting({
    env: 'REDIS_REPLICA_MILLISECONDS',
    kind: integer(10, 1_000),
    default: '500',
    description: 'Time limit of that wait; a check that connected replicas do not have by then is refused with 503.',
  }),
  longestQueueMilliseconds: setting({
    env: 'LONGEST_QUEUE_MILLISECONDS',
    kind: integer(100, 60_000),
    default: '2000',
    description:
      'Maximum expected queueing delay of a job at a probe. Checks that would wait longer are refused with ' +
      '503; if other named probes have capacity, the probe gets the result `probe_busy`. No check type gets more than ' +
      'three quarters of it.',
  }),
} as const satisfies Settings;
