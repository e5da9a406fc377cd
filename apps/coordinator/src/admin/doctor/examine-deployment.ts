import { createRequire } from 'node:module';

import { redisKeys } from '@vantage/contract';
import { openOnce, parseRedisUrl } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { Config } from '../../config/config.ts';
import { currentUrls, isLoopback } from '../../probes/announced-url.ts';
import { closeAll } from '../../redis/connections.ts';
import type { AdminConfig } from '../config.ts';
import { readKnownProbes } from '../known-probes.ts';
import { readCa } from '../tls/tls-folder.ts';
import { caInUse, certificateOf, checkValidity } from './check-certificates.ts';
import { checkClock } from './check-clock.ts';
import { checkDisk } from './redis/check-disk.ts';
import { checkProbes } from './check-probes.ts';
import { checkRedis, checkRole } from './redis/check-redis.ts';
import { checkLimits } from './check-limits.ts';
import { checkService, checkUrls } from './check-service.ts';
import { error, ok, reasonOf, type DoctorFinding } from './finding.ts';
import { readRedisFacts } from './redis/redis-facts.ts';

const REDIS_REMEDY =
  'Start it, or correct REDIS_URL, its login, REDIS_CA_FILE or the firewall. A service of npm start with --data is ' +
  'examined with the same --data.';
const FULL_REMEDY =
  'Raise maxclients of Redis, and its limit of open files (ulimit -n) above that; until then coordinators and agents ' +
  'that lose their connection do not get another. CLIENT LIST in redis-cli shows whose the connections are.';
const MIB = 1_048_576;
/** Remaining days of the certificate of Redis below which there is a warning, and below which `probe:tls` renews it. */
const CERTIFICATE_WARN_DAYS = 30;
/** Remaining days of a CA certificate below which there is a warning. */
const CA_WARN_DAYS = 180;

/**
 * Findings on Redis, its certificates and its clock, on the probes, and on the service at its public address.
 *
 * @param config undefined if the coordinator's settings are invalid
 */
export async function examineDeployment(
  admin: AdminConfig,
  config: Config | undefined,
): Promise<readonly DoctorFinding[]> {
  const certificates = admin.certificates ?? readCa(admin.tlsFolder);
  const parts = [checkRedisCertificates(admin.redisUrl, certificates), connectAndExamine(admin, certificates, config)];
  return (await Promise.all(parts)).flat();
}

async function connectAndExamine(
  admin: AdminConfig,
  certificates: string | undefined,
  config: Config | undefined,
): Promise<readonly DoctorFinding[]> {
  let redis: Redis | undefined;
  try {
    redis = await openOnce({ url: admin.redisUrl, certificates, name: 'vantage:doctor' });
    return await examineRedis(redis, admin, config);
  } catch (fault) {
    const { endpoints } = parseRedisUrl(admin.redisUrl);
    const where = endpoints.map(({ host, port }) => `${host}:${port}`).join(', ');
    const message = `Redis at ${where} cannot be examined: ${reasonOf(fault)}.`;
    return [error('redis', message, /max number of clients|maxclients/.test(message) ? FULL_REMEDY : REDIS_REMEDY)];
  } finally {
    if (redis !== undefined) await closeAll([redis]);
  }
}

async function checkRedisCertificates(
  url: string,
  certificates: string | undefined,
): Promise<readonly DoctorFinding[]> {
  const { tls, endpoints } = parseRedisUrl(url);
  if (!tls) return [];
  const presented = await Promise.all(
    endpoints.map(async ({ host, port }) => ({ name: `${host}:${port}`, validity: await certificateOf(host, port) })),
  );
  const leaves = presented.flatMap(({ validity }) => validity?.certificate ?? []);
  const ca = certificates === undefined ? undefined : caInUse(certificates, leaves);
  return [
    ...(ca === undefined
      ? []
      : [
          checkValidity('redis.ca', 'The CA of Redis', ca, {
            warnDays: CA_WARN_DAYS,
            remedy:
              'Make another CA and certificate (probe:tls in an empty REDIS_TLS_FOLDER), and give the CA to coordinators and agents.',
          }),
        ]),
    ...presented.flatMap(({ name, validity }) =>
      validity === undefined
        ? []
        : [
            checkValidity('redis.certificate', `The certificate of Redis at ${name}`, validity, {
              warnDays: CERTIFICATE_WARN_DAYS,
              remedy: 'probe:tls --renew, then restart Redis; the CA stays.',
            }),
          ],
    ),
  ];
}

async function examineRedis(
  redis: Redis,
  admin: AdminConfig,
  config: Config | undefined,
): Promise<readonly DoctorFinding[]> {
  const servers = await readRedisFacts(redis);
  // A replica refuses the write below, at which the client would close its connection.
  const replicas = servers.filter(({ info }) => info.get('role') === 'slave');
  if (replicas.length > 0) return replicas.map(checkRole);
  const refusal = await writeRefusal(redis);
  const probes = await readKnownProbes(redis, refusal);
  const redisAgents = probes.filter(({ access }) => access === undefined || access.state === 'none').length;
  const budget = {
    resultsBytes: config?.resultsMaxMiB === undefined ? undefined : config.resultsMaxMiB * MIB,
    screenshotsBytes: (config?.screenshotsMaxMiB ?? 0) * MIB,
  };
  const writes =
    refusal === undefined
      ? ok('redis.writes', 'Redis takes writes.')
      : error(
          'redis.writes',
          `Redis refuses writes: ${refusal}`,
          'Free memory or disk space; until then checks get 503.',
        );
  const perServer = await Promise.all(
    servers.map(async (facts) => [
      ...checkRedis(facts, { budget, redisAgents, servers: servers.length }),
      ...(await checkDisk(facts)),
    ]),
  );
  const url = admin.publicUrl ?? (await redis.get(redisKeys.serviceUrl)) ?? undefined;
  return [
    ...perServer.flat(),
    writes,
    await checkClock(redis),
    ...checkProbes(probes, ownRelease()),
    ...checkUrls(await currentUrls(redis)),
    ...(url === undefined
      ? [
          error(
            'service',
            'No coordinator has ever announced its address to this Redis.',
            'Start one, or set PUBLIC_URL.',
          ),
        ]
      : [
          ...(config === undefined || isLoopback(new URL(url).hostname) ? [] : checkLimits(config)),
          ...(await checkService({
            url,
            isConfigured: admin.publicUrl !== undefined,
            trustedProxies: config?.trustedProxies,
            isGatewayOn: config?.gateway !== 'off',
            isGatewayUsed: redisAgents < probes.length,
          })),
        ]),
  ];
}

/** Tries a write without effect, as coordinators do. Returns why it failed; undefined if it did not. */
async function writeRefusal(redis: Redis): Promise<string | undefined> {
  try {
    await redis.rpushx(redisKeys.writeTest, '');
    return undefined;
  } catch (fault) {
    return reasonOf(fault);
  }
}

function ownRelease(): string {
  const require = createRequire(import.meta.url);
  return (require('@vantage/coordinator/package.json') as { readonly version: string }).version;
}
