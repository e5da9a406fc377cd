import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { redisKeys } from '@vantage/contract';
import { Redis } from 'ioredis';

import { createAgent, type Agent } from './agent.ts';
import { fakeConfig, fakeParts, openPort, silent } from '../test/fakes.ts';
import { eventually, startRig, type Rig } from '../test/rig.ts';

/** All that an agent's user may do. */
const COMMANDS =
  'hello client|setname bzpopmin evalsha time publish xadd del exists get hget hgetall hincrby hmget hmset hset llen ' +
  'lpush lrange lrem rpoplpush rpush sadd scard set smembers srem xtrim zadd zcard zpopmin zrange zrangebyscore';

let rig: Rig;
let agents: Agent[] = [];

beforeEach(async () => {
  rig = await startRig();
  const allowed = COMMANDS.split(' ').map((command) => `+${command}`);
  await rig.admin.call(
    'ACL',
    'SETUSER',
    'agent',
    'on',
    '>secret',
    'resetkeys',
    '~p:{fra}:*',
    'resetchannels',
    '&p:{fra}:*',
    '-@all',
    ...allowed,
  );
});

afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
  agents = [];
  await rig.stop();
});

function url(): string {
  return rig.server().url.replace('redis://', 'redis://agent:secret@');
}

function newAgent(redisUrl: string, environment: Readonly<Record<string, string>> = {}): Agent {
  const parts = fakeParts(async ({ port }) => openPort(port));
  const agent = createAgent(fakeConfig('fra', redisUrl, environment), silent, async () => parts);
  agents.push(agent);
  return agent;
}

/** What the coordinator does at each connect: an agent may not bring scripts. */
async function loadScripts(): Promise<void> {
  const loader = newAgent(rig.server().url);
  await loader.start();
  const check = await rig.addJob('fra');
  await rig.final('fra', check);
  await loader.close();
  await rig.admin.del(redisKeys.results('fra'));
}

describe('an agent whose user may do only what an agent needs', () => {
  it('takes jobs, reports them, beats and leaves nothing behind', async () => {
    await loadScripts();
    const agent = newAgent(url());
    await agent.start();

    const checks = await Promise.all(Array.from({ length: 30 }, () => rig.addJob('fra')));
    for (const check of checks) expect(await rig.final('fra', check)).toMatchObject({ result: 'success' });

    await eventually(async () => ((await rig.leftovers('fra')).length === 0 ? true : undefined));
    expect((await rig.heartbeat('fra'))?.degraded).toEqual(expect.any(Array));
    await agent.drain();
    expect(await rig.heartbeat('fra')).toBeUndefined();
  });

  it('reports what an earlier agent left behind', async () => {
    await loadScripts();
    const jobs = `${redisKeys.queuePrefix('fra')}:jobs`;
    const check = await rig.addJob('fra');
    await rig.admin.rpoplpush(`${jobs}:wait`, `${jobs}:active`);

    await newAgent(url()).start();

    expect(await rig.final('fra', check)).toMatchObject({ error: { code: 'probe_interrupted' } });
    await eventually(async () => ((await rig.leftovers('fra')).length === 0 ? true : undefined));
  });

  it('waits for its scripts while they are not loaded, and works once they are', async () => {
    await newAgent(url()).start();
    const check = await rig.addJob('fra');
    const denied = await eventually(async () => {
      const log = JSON.stringify(await rig.admin.call('ACL', 'LOG'));
      return log.includes('eval') ? log : undefined;
    });

    // From another probe's queue, so that nothing but the scripts comes from there.
    const parts = fakeParts(async ({ port }) => openPort(port));
    const other = createAgent(fakeConfig('nyc', rig.server().url), silent, async () => parts);
    agents.push(other);
    await other.start();
    await rig.final('nyc', await rig.addJob('nyc'));

    expect(denied).toContain('agent');
    expect(await rig.final('fra', check)).toMatchObject({ result: 'success' });
  });

  it('reaches nothing of another probe, nor brings a script of its own', async () => {
    const user = new Redis(url(), { enableReadyCheck: false, disableClientInfo: true, maxRetriesPerRequest: 0 });

    await expect(user.xadd(redisKeys.results('nyc'), '*', 'check', 'x')).rejects.toThrow('NOPERM');
    await expect(user.eval('return 1', 0)).rejects.toThrow('NOPERM');
    user.disconnect();
  });
});
