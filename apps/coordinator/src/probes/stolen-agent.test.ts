import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { MAX_RESULT_BYTES, redisKeys, type AgentMessage } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';

import { openAgentLogins, type AgentLogins } from '../../test/agent-login.ts';
import { passDeadline, report, success } from '../../test/check-steps.ts';
import { until, type CoreBed } from '../../test/core-bed.ts';
import { startGatewayBed, type GatewayBed, type OpenGateway, type PlayedAgent } from '../../test/gateway-bed.ts';
import { ensureTls } from '../admin/tls/tls-folder.ts';

/** An attacker with an agent's credentials, on that agent's transport. */
interface Thief {
  readonly probe: string;
  /** Writes a final result as the stolen probe. Resolves with the close code if the gateway refuses it. */
  readonly write: (check: string, data: unknown) => Promise<number | undefined>;
  /** Corrupts the job of this check in the queue of the stolen probe. */
  readonly spoil: (check: string) => Promise<void>;
}

const transports = ['Redis', 'gateway'] as const;
/** Client with the environment file of the probe `own`: over TLS, with the rights that `probe:add` grants. */
let redisUser: Redis;
let test: GatewayBed;
let gateway: OpenGateway;
let bed: CoreBed;
let logins: AgentLogins;
let folder: string;
let thieves: Readonly<Record<(typeof transports)[number], Thief>>;
/** The connection as the probe `held` with its key; opened again if the gateway has closed it. */
let connected: () => Promise<PlayedAgent>;
/** Connects as one of many probes, because a gateway limits reconnections of one. */
let connectedAsAny: () => Promise<PlayedAgent>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-thief-'));
  test = await startGatewayBed();
  ({ bed } = test);
  gateway = await test.startGateway();
  logins = await openAgentLogins(bed, folder);
  const own = await logins.add('own');
  await logins.add('other');
  redisUser = logins.connect(own);
  connected = await stealKey('held');
  const stolen = await Promise.all(Array.from({ length: 8 }, (_, index) => stealKey(`held-${index}`)));
  let next = 0;
  connectedAsAny = () => stolen[(next += 1) % stolen.length]!();
  thieves = { Redis: atRedis(), gateway: atGateway() };
  await Promise.all(['own', 'other'].map((probe) => bed.keepAlive(probe)));
  await until(async () => {
    const list = await bed.core.probes.list();
    return ['own', 'other', 'held'].every((probe) => list[probe]?.status === 'healthy');
  });
});

afterAll(async () => {
  redisUser.disconnect();
  await test.stop();
  rmSync(folder, { recursive: true });
});

function atRedis(): Thief {
  return {
    probe: 'own',
    write: async (check, data) => {
      // The test's own connection writes a huge result: a coordinator suspends an agent that it sees sending one.
      const isHuge = JSON.stringify(data).length > 1_048_576;
      await report(isHuge ? bed.redis : redisUser, 'own', check, data);
      return undefined;
    },
    spoil: async () => void (await redisUser.unlink('p:{own}:jobs:wait')),
  };
}

function atGateway(): Thief {
  return {
    probe: 'held',
    write: async (check, data) => {
      const agent = await connected();
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return settled(agent, { t: 'result', seq: nextSeq(), check, kind: 'final', data: text });
    },
    spoil: async (check) => (await connected()).send({ t: 'done', job: check }),
  };
}

let seqs = 0;
const nextSeq = (): number => (seqs += 1);

/** Sends a message. @returns the close code, or undefined once it is acknowledged */
async function settled(
  agent: PlayedAgent,
  message: Extract<AgentMessage, { t: 'result' }>,
): Promise<number | undefined> {
  agent.send(message);
  let code: number | undefined;
  void agent.closed.then(([closedWith]) => (code = closedWith));
  await until(
    () =>
      code !== undefined ||
      agent.received.some(({ t, ...more }) => t === 'ack' && 'seq' in more && more.seq === message.seq),
  );
  return code;
}

async function stealKey(probe: string): Promise<() => Promise<PlayedAgent>> {
  const first = await test.join(gateway, probe);
  const { key, instance } = first;
  let counter = 1;
  let current: PlayedAgent = first;
  return async () => {
    if (current.socket.readyState === current.socket.OPEN) return current;
    counter += 1;
    // Keeps the instance: with a new one, the jobs that were taken before would be reported as interrupted.
    current = await test.connect(gateway, { key, instance, counter });
    await current.next('welcome');
    current.beReady();
    return current;
  };
}

/** Starts a check of these probes as soon as all are online. */
async function checkOf(...probes: readonly string[]): Promise<string> {
  await until(async () => {
    const known = await bed.core.knownProbes().catch(() => []);
    return probes.every((probe) => known.some(({ record, alive }) => record.id === probe && alive));
  });
  return bed.start({ probes });
}

const OTHERS = redisKeys.queuePrefix('other');
const ID = 'AAAAAAAAAAAAAAAAAAAAAA';

/** Each attempt is made as a Redis command and as a message to the gateway. */
const attempts: readonly (readonly [what: string, command: readonly string[]])[] = [
  ['read another probe’s waiting jobs', ['LRANGE', `${OTHERS}:jobs:wait`, '0', '-1']],
  ['read another probe’s job', ['HGETALL', `${OTHERS}:jobs:${ID}`]],
  ['take another probe’s job', ['BLMOVE', `${OTHERS}:jobs:wait`, `${OTHERS}:jobs:active`, 'RIGHT', 'LEFT', '1']],
  [
    'move another probe’s job to itself',
    ['BLMOVE', `${OTHERS}:jobs:wait`, 'p:{own}:jobs:active', 'RIGHT', 'LEFT', '1'],
  ],
  ['read another probe’s results', ['XRANGE', redisKeys.results('other'), '-', '+']],
  ['read its own results back', ['XRANGE', redisKeys.results('own'), '-', '+']],
  [
    'write another probe’s result',
    ['XADD', redisKeys.results('other'), '*', 'check', ID, 'kind', 'final', 'data', '{}'],
  ],
  ['empty another probe’s results', ['XTRIM', redisKeys.results('other'), 'MAXLEN', '0']],
  ['delete another probe’s results', ['DEL', redisKeys.results('other')]],
  ['read another probe’s heartbeat', ['GET', redisKeys.heartbeat('other')]],
  ['write another probe’s heartbeat', ['SET', redisKeys.heartbeat('other'), '{}']],
  ['give itself work', ['LPUSH', 'p:{own}:jobs:wait', ID]],
  ['create an own list', ['BLMOVE', 'p:{own}:jobs:wait', 'p:{own}:jobs:x', 'RIGHT', 'LEFT', '1']],
  ['write what it may read back', ['SET', 'p:{own}:jobs:x', 'x']],
  ['change a job', ['HSET', `p:{own}:jobs:${ID}`, 'parentKey', 'x']],
  ['run a script that is loaded', ['EVALSHA', 'f14dd980c2be1d75b8e3f4a9d8a2c2a4f1d6b8a0', '0']],
  ['give another probe work', ['LPUSH', `${OTHERS}:jobs:wait`, ID]],
  ['write its own record', ['SET', redisKeys.probeRecord('own'), '{}']],
  ['read its own record', ['GET', redisKeys.probeRecord('own')]],
  ['read which probes there are', ['SMEMBERS', redisKeys.probeIds]],
  ['make a probe', ['SADD', redisKeys.probeIds, 'third']],
  ['switch itself on again', ['HSET', redisKeys.suspended, 'own', '']],
  ['read a check', ['HGETALL', redisKeys.check(ID)]],
  ['read the results of a check', ['HGETALL', redisKeys.checkResults(ID)]],
  ['write a result into a check', ['HSET', redisKeys.checkResults(ID), 'own', '{}']],
  ['read the ids of checks', ['ZRANGE', redisKeys.deadlines, '0', '-1']],
  ['end checks', ['ZADD', redisKeys.deadlines, '0', ID]],
  ['read the counters of callers', ['GET', `${redisKeys.rateLimitPrefix}x`]],
  ['copy its results elsewhere', ['COPY', redisKeys.results('own'), redisKeys.results('other')]],
  ['rename its keys into another’s', ['RENAME', 'p:{own}:jobs:x', 'p:{other}:jobs:x']],
  ['publish as another probe', ['PUBLISH', redisKeys.resultNotification('other'), '1']],
  ['publish events of a check', ['PUBLISH', redisKeys.checkEvents(ID), '{}']],
  ['publish anywhere else', ['PUBLISH', 'x', '1']],
  ['listen to other probes', ['PSUBSCRIBE', '*']],
  ['listen to events', ['SUBSCRIBE', redisKeys.checkEvents(ID)]],
  ['list keys', ['KEYS', '*']],
  ['walk through keys', ['SCAN', '0']],
  ['draw a key', ['RANDOMKEY']],
  ['count keys', ['DBSIZE']],
  ['bring a script', ['EVAL', 'return 1', '0']],
  ['bring a script that reads', ['EVAL_RO', 'return 1', '0']],
  ['load a script', ['SCRIPT', 'LOAD', 'return 1']],
  ['take the scripts of others away', ['SCRIPT', 'FLUSH']],
  ['end a script', ['SCRIPT', 'KILL']],
  ['bring functions', ['FUNCTION', 'LOAD', '#!lua name=x\nredis.register_function("x", function() end)']],
  ['call functions', ['FCALL', 'x', '0']],
  ['empty the database', ['FLUSHDB']],
  ['empty all databases', ['FLUSHALL']],
  ['go to another database', ['SELECT', '1']],
  ['swap databases', ['SWAPDB', '0', '1']],
  ['read the configuration', ['CONFIG', 'GET', '*']],
  ['change the configuration', ['CONFIG', 'SET', 'maxmemory', '1']],
  ['read who there is', ['ACL', 'LIST']],
  ['give itself rights', ['ACL', 'SETUSER', 'probe-own', 'allkeys']],
  ['make a password', ['ACL', 'GENPASS']],
  ['see connections', ['CLIENT', 'LIST']],
  ['end connections', ['CLIENT', 'KILL', 'USER', 'default']],
  ['stop everyone', ['CLIENT', 'PAUSE', '1000']],
  ['watch everyone', ['MONITOR']],
  ['read what the server is', ['INFO']],
  ['read slow commands', ['SLOWLOG', 'GET']],
  ['save in front of everyone', ['SAVE']],
  ['end the server', ['SHUTDOWN', 'NOSAVE']],
  ['make it a replica of another server', ['REPLICAOF', '192.0.2.1', '6379']],
  ['read all as a replica does', ['PSYNC', '?', '-1']],
  ['send it elsewhere', ['MIGRATE', '192.0.2.1', '6379', 'p:{own}:hb', '0', '1']],
  ['hang it', ['DEBUG', 'SLEEP', '1']],
  ['load modules', ['MODULE', 'LIST']],
  ['look into the cluster', ['CLUSTER', 'NODES']],
  ['wait inside a transaction', ['MULTI']],
];

describe('a stolen agent may not', () => {
  it.each(attempts)('%s by Redis', async (_what, [command = '', ...args]) => {
    await expect(redisUser.call(command, ...args)).rejects.toThrow(/^NOPERM |^ERR DEBUG command not allowed/);
  });

  it.each(attempts)('%s by a gateway', async (_what, [command = '', ...args]) => {
    const agent = await connectedAsAny();
    const before = agent.received.filter(({ t }) => t !== 'job').length;
    agent.send({ t: command.toLowerCase(), command, args } as unknown as AgentMessage);
    const [code] = await agent.closed;

    // A gateway accepts only messages of its protocol and forwards no command.
    expect(code).toBe(4400);
    expect(agent.received.filter(({ t }) => t !== 'job')).toHaveLength(before);
  });

  it('identify itself as another probe, before the welcome or after it', async () => {
    const { key } = await test.invite('third');
    const forge = (hello: Extract<AgentMessage, { t: 'hello' }>): AgentMessage => ({
      ...hello,
      proof: { ...hello.proof, probeId: 'held' },
    });
    const forged = await test.connect(gateway, { key, counter: 1, forge });
    const refusal = await forged.closed;
    const agent = await connected();
    const { token: _none, ...proof } = key.prove(1, 'x'.repeat(43));
    agent.send({ t: 'hello', v: 1, proof, instance: 'x', release: '1', credit: 1 });

    expect(refusal).toEqual([4401, 'bad-signature']);
    expect((await agent.closed)[0]).toBe(4400);
  });

  it.each(['EVALSHA', 'EVALSHA_RO'])('run a script that coordinators loaded, by %s', async (command) => {
    const loaded = String(await bed.redis.script('LOAD', 'return 1'));

    await expect(redisUser.call(command, loaded, '0')).rejects.toThrow(/^NOPERM /);
  });

  it.each(transports)(
    'learn of a caller, or of other probes, from the jobs that it is sent by %s',
    async (transport) => {
      const curious = transport === 'gateway' ? await test.join(gateway, 'curious') : undefined;
      const check = await checkOf(curious === undefined ? 'own' : 'curious', 'other');
      const { t: _type, ...job } = curious === undefined ? await queuedJob(check) : await curious.next('job');

      const { data = '', ...rest } = job;
      expect(Object.keys(JSON.parse(data) as object).toSorted()).toEqual([
        'checkId',
        'deadlineAt',
        'params',
        'type',
        'v',
      ]);
      expect(JSON.stringify(rest)).not.toMatch(/other|127\.0\.0\.1|::1/);
    },
  );

  it('come in without TLS’s word of who the server is', async () => {
    const { REDIS_URL } = await logins.add('careful');
    const user = logins.connect({ REDIS_URL, REDIS_CA: await foreignCa() });

    await expect(user.time()).rejects.toThrow();
    user.disconnect();
  });
});

async function queuedJob(check: string): Promise<{ readonly t?: string; readonly data?: string }> {
  return bed.redis.hgetall(`p:{own}:jobs:${check}`);
}

/** The CA of another operator. */
async function foreignCa(): Promise<string> {
  const other = mkdtempSync(join(tmpdir(), 'vantage-other-ca-'));
  const { ca } = await ensureTls(other, { hosts: ['127.0.0.1'] });
  rmSync(other, { recursive: true });
  return ca.replaceAll(/-----[^-]+-----|\s/g, '');
}

describe.each(transports)('what a stolen agent writes in its own name by %s', (transport) => {
  let thief: Thief;
  beforeAll(() => {
    thief = thieves[transport];
  });
  const counted = async (counter: keyof CoreBed['core']['counters'], act: () => Promise<unknown>): Promise<void> => {
    const before = bed.core.counters[counter];
    await act();
    await until(() => bed.core.counters[counter] > before);
  };
  const resultOf = async (check: string, probe: string): Promise<unknown> => (await bed.read(check)).results[probe];

  it('is a result for a check that asked it, once: a second one is dropped and counted', async () => {
    const check = await checkOf(thief.probe, 'other');
    await thief.write(check, success('first'));
    await counted('resultsDuplicate', () => thief.write(check, success('second')));

    expect(await resultOf(check, thief.probe)).toMatchObject({ said: 'first' });
    expect(await resultOf(check, 'other')).toMatchObject({ result: 'pending' });
  });

  it('is nothing for a check that did not ask it', async () => {
    const check = await checkOf('other');
    await counted('resultsForeign', () => thief.write(check, success('forged')));

    expect(Object.keys((await bed.read(check)).results)).toEqual(['other']);
    expect(await resultOf(check, 'other')).toMatchObject({ result: 'pending' });
  });

  it('is nothing for a check that does not exist', async () => {
    await counted('resultsUnknown', () => thief.write(ID, success('invented')));

    expect(await bed.redis.exists(redisKeys.check(ID), redisKeys.checkResults(ID))).toBe(0);
  });

  it('is nothing after the deadline', async () => {
    const check = await checkOf(thief.probe);
    await passDeadline(bed.redis, check);
    await until(async () => (await bed.read(check)).status === 'completed');
    const before = await resultOf(check, thief.probe);
    await counted('resultsLate', () => thief.write(check, success('late')));

    expect(before).toMatchObject({ result: 'timeout' });
    expect(await resultOf(check, thief.probe)).toEqual(before);
  });

  it.each<readonly [how: string, data: unknown, refusedWith: number | undefined]>([
    ['is larger than a result may be', success('x'.repeat(MAX_RESULT_BYTES)), 4400],
    ['is so large that a coordinator would die of it', success('x'.repeat(16 * 1_048_576)), 1009],
    ['has a field that is none', { ...success('x'), caller: '192.0.2.1' }, undefined],
    ['has a field of another type', { ...success('x'), rt: 'soon' }, undefined],
    ['lacks a field', { result: 'success' }, undefined],
    ['has `__proto__`', JSON.stringify(success('x')).replace('{', '{"__proto__":{"polluted":true},'), undefined],
    ['is no JSON', '{"result":', undefined],
    ['is no object', '[]', undefined],
  ])('is shown as invalid, or refused by a gateway, where it %s', async (_how, data, refusedWith) => {
    const check = await checkOf(thief.probe, 'other');
    if (transport === 'gateway' && refusedWith !== undefined) {
      const code = await thief.write(check, data);

      expect(code).toBe(refusedWith);
      expect(await resultOf(check, thief.probe)).toMatchObject({ result: 'pending' });
      return;
    }
    await counted('resultsInvalid', () => thief.write(check, data));

    await until(async () => (await bed.read(check)).results[thief.probe]?.['result'] !== 'pending');
    const shown = (await resultOf(check, thief.probe)) as { readonly error: object };
    expect(shown).toMatchObject({ result: 'error', error: { code: 'invalid_result', source: 'probe' } });
    expect(JSON.stringify(shown)).not.toMatch(/polluted|192\.0\.2\.1|xxx/);
  });

  it.each<readonly [string, Readonly<Record<string, string>>]>([
    ['without a check', { kind: 'final', data: '{}' }],
    ['with a name of a check that is none', { check: 'a:b', kind: 'final', data: '{}' }],
    ['of a kind that is none', { check: ID, kind: 'last', data: '{}' }],
    ['with more fields than there can be', Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`${n}`, '']))],
  ])('is dropped and counted, or refused by a gateway, where it is an entry %s', async (_how, fields) => {
    if (transport === 'gateway') {
      const agent = await connected();
      const code = await settled(agent, { t: 'result', seq: nextSeq(), ...fields } as never);

      expect(code).toBe(4400);
      return;
    }
    await counted('entriesMalformed', () =>
      redisUser.xadd(redisKeys.results('own'), '*', ...Object.entries(fields).flat()),
    );

    await until(async () => (await bed.redis.xlen(redisKeys.results('own'))) === 0);
  });

  it('is no more than its own job that it may spoil', async () => {
    const check = await checkOf(thief.probe, 'other');
    await thief.spoil(check);

    expect(await bed.redis.lrange(`${OTHERS}:jobs:wait`, 0, -1)).toContain(check);
    expect(await resultOf(check, 'other')).toMatchObject({ result: 'pending' });
  });
});

describe('what a stolen agent does by Redis alone', () => {
  it('does not end the results of its probe by an id after which there is no other', async () => {
    const last = '18446744073709551615-18446744073709551615';
    await report(redisUser, 'own', ID, success('invented'), { id: last });
    const check = await checkOf('own', 'other');

    // Repeats the write, like an agent, until Redis accepts it.
    await until(async () => {
      const written = report(redisUser, 'own', check, success('first'));
      if (
        await written.then(
          () => true,
          () => false,
        )
      )
        return true;
      await redisUser.publish(redisKeys.resultNotification('own'), '1');
      return false;
    });

    await until(async () => (await bed.read(check)).results['own']?.['result'] === 'success');
  });

  it('fails its own jobs only where it spoils its queue, with the rights of an earlier release', async () => {
    await bed.redis.set('p:{own}:jobs:wait', 'no list');
    const spoiled = await checkOf('own', 'other');
    const { results } = await bed.read(spoiled);
    await bed.redis.del('p:{own}:jobs:wait');

    expect(await bed.redis.lrange(`${OTHERS}:jobs:wait`, 0, -1)).toContain(spoiled);
    expect(results['own']).toMatchObject({ result: 'error', error: { code: 'internal_error' } });
    expect(results['other']).toMatchObject({ result: 'pending' });
  });
});
