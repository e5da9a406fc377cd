import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { MAX_RESULT_BYTES, redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';

import { openAgentLogins, type AgentLogins } from '../../test/agent-login.ts';
import {
  passDeadline,
  report,
  startCoreBed,
  startLongCheck,
  success,
  until,
  type CoreBed,
} from '../../test/core-bed.ts';
import { ensureTls } from '../admin/tls/tls-folder.ts';

// What is counted is waited for, however busy the machine is.
jest.setTimeout(120_000);

/** Whoever stole the environment file of the probe `own`, over TLS, with the rights that `probe:add` gave it. */
let thief: Redis;
let bed: CoreBed;
let logins: AgentLogins;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-thief-'));
  bed = await startCoreBed();
  logins = await openAgentLogins(bed, folder);
  const own = await logins.add('own');
  await logins.add('other');
  thief = logins.connect(own);
  await Promise.all(['own', 'other'].map((probe) => bed.beat(probe)));
  await until(async () => (await bed.core.probes.list())['other']?.status === 'healthy');
});

afterAll(async () => {
  thief.disconnect();
  await bed.stop();
  rmSync(folder, { recursive: true });
});

/** A check of both probes, with its job in both queues. */
async function checkOfBoth(): Promise<string> {
  return startLongCheck(bed, ['own', 'other']);
}

const OTHERS = redisKeys.queuePrefix('other');
const ID = 'AAAAAAAAAAAAAAAAAAAAAA';

describe('a stolen agent may not', () => {
  it.each<readonly [string, readonly string[]]>([
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
    ['make a list of its own', ['BLMOVE', 'p:{own}:jobs:wait', 'p:{own}:jobs:x', 'RIGHT', 'LEFT', '1']],
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
    ['make it a replica of his own', ['REPLICAOF', '192.0.2.1', '6379']],
    ['read all as a replica does', ['PSYNC', '?', '-1']],
    ['send it elsewhere', ['MIGRATE', '192.0.2.1', '6379', 'p:{own}:hb', '0', '1']],
    ['hang it', ['DEBUG', 'SLEEP', '1']],
    ['load modules', ['MODULE', 'LIST']],
    ['look into the cluster', ['CLUSTER', 'NODES']],
    ['wait inside a transaction', ['MULTI']],
  ])('%s', async (_what, [command = '', ...args]) => {
    await expect(thief.call(command, ...args)).rejects.toThrow(/^NOPERM |^ERR DEBUG command not allowed/);
  });

  it.each(['EVALSHA', 'EVALSHA_RO'])('run a script that coordinators loaded, by %s', async (command) => {
    const loaded = String(await bed.redis.script('LOAD', 'return 1'));

    await expect(thief.call(command, loaded, '0')).rejects.toThrow(/^NOPERM /);
  });

  it('learn of a caller, or of other probes, from the jobs that it is sent', async () => {
    const check = await checkOfBoth();
    const job = await bed.redis.hgetall(`p:{own}:jobs:${check}`);

    const { data = '', ...rest } = job;
    expect(Object.keys(JSON.parse(data) as object).toSorted()).toEqual([
      'checkId',
      'deadlineAt',
      'params',
      'type',
      'v',
    ]);
    expect(JSON.stringify(rest)).not.toMatch(/other|127\.0\.0\.1|::1/);
  });

  it('come in without TLS’s word of who the server is', async () => {
    const { REDIS_URL } = await logins.add('careful');
    const user = logins.connect({ REDIS_URL, REDIS_CA: await foreignCa() });

    await expect(user.time()).rejects.toThrow();
    user.disconnect();
  });
});

/** The CA of another operator. */
async function foreignCa(): Promise<string> {
  const other = mkdtempSync(join(tmpdir(), 'vantage-other-ca-'));
  const { ca } = await ensureTls(other, { hosts: ['127.0.0.1'] });
  rmSync(other, { recursive: true });
  return ca.replaceAll(/-----[^-]+-----|\s/g, '');
}

describe('what a stolen agent writes in its own name', () => {
  const counted = async (counter: keyof CoreBed['core']['counters'], act: () => Promise<unknown>): Promise<void> => {
    const before = bed.core.counters[counter];
    await act();
    await until(() => bed.core.counters[counter] > before);
  };
  const resultOf = async (check: string, probe: string): Promise<unknown> => (await bed.read(check)).results[probe];

  it('is a result for a check that asked it, once: a second one is dropped and counted', async () => {
    const check = await checkOfBoth();
    await report(thief, 'own', check, success('first'));
    await counted('resultsDuplicate', () => report(thief, 'own', check, success('second')));

    expect(await resultOf(check, 'own')).toMatchObject({ said: 'first' });
    expect(await resultOf(check, 'other')).toMatchObject({ result: 'pending' });
  });

  it('is nothing for a check that did not ask it', async () => {
    const check = await startLongCheck(bed, ['other']);
    await counted('resultsForeign', () => report(thief, 'own', check, success('forged')));

    expect(Object.keys((await bed.read(check)).results)).toEqual(['other']);
    expect(await resultOf(check, 'other')).toMatchObject({ result: 'pending' });
  });

  it('is nothing for a check that does not exist', async () => {
    await counted('resultsUnknown', () => report(thief, 'own', ID, success('invented')));

    expect(await bed.redis.exists(redisKeys.check(ID), redisKeys.checkResults(ID))).toBe(0);
  });

  it('is nothing after the deadline', async () => {
    const check = await startLongCheck(bed, ['own']);
    await passDeadline(bed.redis, check);
    await until(async () => (await bed.read(check)).status === 'completed');
    const before = await resultOf(check, 'own');
    await counted('resultsLate', () => report(thief, 'own', check, success('late')));

    expect(before).toMatchObject({ result: 'timeout' });
    expect(await resultOf(check, 'own')).toEqual(before);
  });

  it.each<readonly [string, unknown]>([
    ['is larger than a result may be', success('x'.repeat(MAX_RESULT_BYTES))],
    ['is so large that a coordinator would die of it', success('x'.repeat(16 * 1_048_576))],
    ['has a field that is none', { ...success('x'), caller: '192.0.2.1' }],
    ['has a field of another type', { ...success('x'), rt: 'soon' }],
    ['lacks a field', { result: 'success' }],
    ['has `__proto__`', JSON.stringify(success('x')).replace('{', '{"__proto__":{"polluted":true},')],
    ['is no JSON', '{"result":'],
    ['is no object', '[]'],
  ])('is shown as invalid where it %s', async (_how, data) => {
    const check = await checkOfBoth();
    await counted('resultsInvalid', () => report(thief, 'own', check, data));

    await until(async () => (await bed.read(check)).results['own']?.['result'] !== 'pending');
    const shown = (await resultOf(check, 'own')) as { readonly error: object };
    expect(shown).toMatchObject({ result: 'error', error: { code: 'invalid_result', source: 'probe' } });
    expect(JSON.stringify(shown)).not.toMatch(/polluted|192\.0\.2\.1|xxx/);
  });

  it.each<readonly [string, readonly string[]]>([
    ['without a check', ['kind', 'final', 'data', '{}']],
    ['with a name of a check that is none', ['check', 'a:b', 'kind', 'final', 'data', '{}']],
    ['of a kind that is none', ['check', ID, 'kind', 'last', 'data', '{}']],
    ['with more fields than there can be', Array.from({ length: 20_000 }, (_, index) => `${index}`)],
  ])('is dropped and counted where it is an entry %s', async (_how, fields) => {
    await counted('entriesMalformed', () => thief.xadd(redisKeys.results('own'), '*', ...fields));

    await until(async () => (await bed.redis.xlen(redisKeys.results('own'))) === 0);
  });

  it('does not end the results of its probe by an id after which there is no other', async () => {
    const last = '18446744073709551615-18446744073709551615';
    await report(thief, 'own', ID, success('invented'), { id: last });
    const check = await checkOfBoth();

    // As an agent does: until Redis takes it.
    await until(async () => {
      const written = report(thief, 'own', check, success('first'));
      if (
        await written.then(
          () => true,
          () => false,
        )
      )
        return true;
      await thief.publish(redisKeys.resultNotification('own'), '1');
      return false;
    });

    await until(async () => (await bed.read(check)).results['own']?.['result'] === 'success');
  });

  it('is no more than its own job that it may spoil', async () => {
    const check = await checkOfBoth();
    await thief.unlink('p:{own}:jobs:wait');
    // With the rights of an earlier release.
    await bed.redis.set('p:{own}:jobs:wait', 'no list');
    const spoiled = await checkOfBoth();

    expect(await bed.redis.lrange(`${OTHERS}:jobs:wait`, 0, -1)).toEqual(expect.arrayContaining([check, spoiled]));
    expect(await resultOf(spoiled, 'own')).toMatchObject({ result: 'error', error: { code: 'internal_error' } });
    expect(await resultOf(spoiled, 'other')).toMatchObject({ result: 'pending' });
    await bed.redis.del('p:{own}:jobs:wait');
  });
});
