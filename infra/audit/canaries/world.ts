import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, isIPv4 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { JOB_QUEUE, redisKeys, type AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { findRedisServer, startRedisServer } from '@vantage/redis-server';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

import { addressBytes } from '@vantage/contract/address';
import { startDnsServer } from '@vantage/test-support/dns/server';
import { respond, wireName, type WireQuery, type WireRecord } from '@vantage/test-support/dns/wire';
import { isRefusal, type Came } from './came.ts';
import { DNS_PORT, GATEWAY_PORT, PUBLIC, REDIS_PORT, ROOTS, WORLD, ZONE } from './addresses.ts';
import { openGateway } from './gateway.ts';
import { allowedJobs, canaryJobs, redirects, type CanaryJob } from './jobs.ts';
import { canaryNames } from './names.ts';

/** Results of one round of jobs. */
export interface WorldReport {
  readonly jobs: number;
  /** Jobs that should have been refused and were not, each as JSON with its result. */
  readonly wronglyAccepted: readonly string[];
  /** Jobs without a result, as JSON. */
  readonly unanswered: readonly string[];
  /** Number of jobs that succeeded, which shows that the lab works. */
  readonly measured: number;
  /** Number of jobs by check type and failure code, or by check type and result if there is no error. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The longest time from the first job to a result, milliseconds. */
  readonly longestMs: number;
}

/** Id of the audited probe. */
const PROBE = 'canary';
/** Deadline of the jobs, so that none is late on a slow machine. */
const DEADLINE_MS = 90_000;
const NS = 2;
const CNAME = 5;
const [, , transport, ...canaries] = process.argv;

/** Everything outside of the agent: its Redis or gateway, its resolver, the root servers, sites, and the canaries. */
const server = await startRedisServer({
  executable: findRedisServer(process.env['PATH'] ?? '')!,
  port: REDIS_PORT,
  arguments: ['--bind', '127.0.0.1', WORLD.ipv4, '--protected-mode', 'no'],
});
const redis = new Redis(server.url, { maxRetriesPerRequest: null });
await openNames();
await openSites();
const token = transport === 'gateway' ? await openGateway(server.url, PROBE, WORLD.ipv4, GATEWAY_PORT) : '';
process.stdout.write(`${token}\n`);

while ((await redis.exists(redisKeys.heartbeat(PROBE))) === 0) await sleep(20);
const report = await runJobs(canaries.length === 0 ? canaryJobs() : canaries.flatMap(allowedJobs));
process.stdout.write(`${JSON.stringify(report)}\n`);
await server.stop();
process.exit(0);

async function openNames(): Promise<void> {
  const asked = new Map<string, number>();
  const answer = (query: WireQuery): readonly Buffer[] => {
    const key = `${query.type} ${query.name}`;
    asked.set(key, (asked.get(key) ?? 0) + 1);
    if (query.name === `public.${ZONE}.`) {
      return [respond(query, { answers: addressRecords(query.name, [PUBLIC.ipv4, PUBLIC.ipv6], query.type) })];
    }
    const known = canaryNames.find(({ name }) => `.${query.name}`.endsWith(`.${name}.`));
    if (known === undefined) return [respond(query, { rcode: 3 })];
    const addresses = known.addresses(asked.get(key)!);
    const at = known.cname === undefined ? query.name : `${known.cname}.`;
    const alias = { name: query.name, type: CNAME, data: Uint8Array.from(wireName(at)) };
    const answers = addressRecords(known.foreign ?? at, addresses, query.type, known.extraOctets);
    return [respond(query, { answers: at === query.name ? answers : [alias, ...answers] })];
  };
  await startDnsServer(answer, { address: WORLD.ipv4, port: DNS_PORT });
  await Promise.all(ROOTS.map((address) => startDnsServer(delegate, { address, port: DNS_PORT })));
}

/** Referral of the root server for `delegated-<n>`: to a canary, with its address as glue or by name only. */
function delegate(query: WireQuery): readonly Buffer[] {
  const index = Number(/delegated-(\d+)\./.exec(query.name)?.[1] ?? Number.NaN);
  const known = canaryNames[index];
  if (known === undefined) return [respond(query, { rcode: 5 })];
  const name = `traced.${known.name}.`;
  const glue = index % 2 === 0 ? known.addresses(2) : [];
  return [
    respond(query, {
      authority: [{ name: `${ZONE}.`, type: NS, data: Uint8Array.from(wireName(name)) }],
      additional: [...addressRecords(name, glue, 1), ...addressRecords(name, glue, 28)],
    }),
  ];
}

function addressRecords(
  name: string,
  addresses: readonly string[],
  type: number,
  extraOctets = 0,
): readonly WireRecord[] {
  return addresses
    .filter((address) => (isIPv4(address) ? 1 : 28) === type)
    .map((address) => {
      const octets = addressBytes(address);
      const data = new Uint8Array(octets.length + extraOctets);
      data.set(octets.subarray(0, data.length));
      return { name, type, ttl: 0, data };
    });
}

/**
 * Opens the servers that checks could reach: a web server, ports that close each connection, and a UDP port that never
 * answers.
 */
async function openSites(): Promise<void> {
  const web = createHttpServer((request, response) => {
    const to = redirects[Number(/^\/to\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN)];
    if (to === undefined) {
      response.end('hello');
      return;
    }
    // Written to the socket directly, because Node would refuse to send some of these URLs.
    response.socket?.end(`HTTP/1.1 302 Found\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`);
  }).listen(80, '::');
  const others = [443, 853, 8080].map((port) => createServer((socket) => socket.end()).listen(port, '::'));
  await Promise.all([web, ...others].map((one) => once(one, 'listening')));
  const datagrams = createSocket('udp6').bind(33_434, '::');
  await once(datagrams, 'listening');
}

async function runJobs(jobs: readonly CanaryJob[]): Promise<WorldReport> {
  const queue = new Queue(JOB_QUEUE, {
    connection: redis,
    prefix: redisKeys.queuePrefix(PROBE),
    skipVersionCheck: true,
  });
  const startedAt = performance.now();
  const waiting = new Map<string, CanaryJob>();
  const ask = (job: CanaryJob): Promise<unknown> => {
    const { type, params } = job;
    const checkId = randomBytes(16).toString('base64url');
    waiting.set(checkId, job);
    const options = { ...defaultsOf(type), ...params.options };
    const data = { v: 1, checkId, type, params: { ...params, options }, deadlineAt: Date.now() + DEADLINE_MS };
    return queue.add(type, data, { jobId: checkId, removeOnComplete: true, removeOnFail: true });
  };
  await Promise.all(jobs.map((job) => ask(job)));

  const wronglyAccepted: string[] = [];
  const outcomes: Record<string, number> = {};
  let measured = 0;
  let longestMs = 0;
  let from = '0';
  let until = startedAt + DEADLINE_MS + 5_000;
  while (waiting.size > 0 && performance.now() < until) {
    const streams = await redis.xread('COUNT', 1_000, 'BLOCK', 500, 'STREAMS', redisKeys.results(PROBE), from);
    for (const [id, fields] of streams?.[0]?.[1] ?? []) {
      from = id;
      const { check = '', kind, data = '' } = Object.fromEntries(pairs(fields));
      const job = kind === 'final' ? waiting.get(check) : undefined;
      if (job === undefined) continue;
      waiting.delete(check);
      longestMs = performance.now() - startedAt;
      const result = JSON.parse(data) as Came;
      if (result.error?.code === 'probe_interrupted') {
        // The machine stalled, which says nothing about the job.
        until = performance.now() + DEADLINE_MS + 5_000;
        await ask(job);
        continue;
      }
      if (result.result === 'success') measured += 1;
      const came = `${job.type} ${result.error?.code ?? result.result}`;
      outcomes[came] = (outcomes[came] ?? 0) + 1;
      if (job.refused && !isRefusal(result)) wronglyAccepted.push(JSON.stringify({ ...job, came: result }));
    }
  }
  const unanswered = [...waiting.values()].map((job) => JSON.stringify(job));
  return { jobs: jobs.length, wronglyAccepted, unanswered, measured, outcomes, longestMs: Math.round(longestMs) };
}

function defaultsOf(type: string): object {
  const { options }: AnyCheckType = (checkTypes as Readonly<Record<string, AnyCheckType>>)[type]!;
  const schemas = Object.entries(options as Readonly<Record<string, { readonly default?: unknown }>>);
  return Object.fromEntries(schemas.flatMap(([name, schema]) => ('default' in schema ? [[name, schema.default]] : [])));
}

function pairs(fields: readonly string[]): [string, string][] {
  return Array.from({ length: fields.length / 2 }, (_, index) => [fields[index * 2]!, fields[index * 2 + 1]!]);
}
