import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { agentRights, agentUser, redisKeys } from '@vantage/contract';
import { Redis } from 'ioredis';

import { createAgent, type ProbeAgent } from './agent.ts';
import { fakeConfig, fakeRuntime, openPort, silent } from '../test/fakes.ts';
import { eventually, startRig, type Rig } from '../test/rig.ts';

let rig: Rig;
let agents: ProbeAgent[] = [];

/** A single server, and a cluster of one node, where the agent looks up the node of its keys. */
const forms = [
  { form: 'one server', isCluster: false, arguments_: [] },
  { form: 'a cluster', isCluster: true, arguments_: ['--cluster-enabled', 'yes'] },
];

afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
  agents = [];
});

describe.each(forms)('on $form, an agent whose user may do only what an agent needs', ({ isCluster, arguments_ }) => {
  beforeAll(async () => {
    rig = await startRig(arguments_);
    if (isCluster) await becomeCluster();
    const rights = agentRights('fra', { cluster: isCluster });
    await rig.admin.call('ACL', 'SETUSER', agentUser('fra'), 'on', '>secret', ...rights);
  });

  afterAll(() => rig.stop());

  const url = (login: string): string =>
    rig.server().url.replace('redis://', isCluster ? `redis+cluster://${login}` : `redis://${login}`);

  async function becomeCluster(): Promise<void> {
    await rig.admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await eventually(async () => {
      const info = String(await rig.admin.call('CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') ? true : undefined;
    });
  }

  function newAgent(login: string, probe = 'fra'): ProbeAgent {
    const runtime = fakeRuntime(async ({ port }) => openPort(port));
    const agent = createAgent(fakeConfig(probe, url(login)), silent, async () => runtime);
    agents.push(agent);
    return agent;
  }

  const restricted = (): ProbeAgent => newAgent(`${agentUser('fra')}:secret@`);

  it('takes jobs, reports them, beats and leaves nothing behind', async () => {
    const agent = restricted();
    await agent.start();

    const checks = await Promise.all(Array.from({ length: 30 }, () => rig.addJob('fra')));
    for (const check of checks) expect(await rig.final('fra', check)).toMatchObject({ result: 'success' });

    await eventually(async () => ((await rig.leftovers('fra')).length === 0 ? true : undefined));
    await eventually(() => rig.heartbeat('fra'));
    await agent.drain();
    expect(await rig.heartbeat('fra')).toBeUndefined();
  });

  it('reports what an earlier agent left behind', async () => {
    const jobs = `${redisKeys.queuePrefix('fra')}:jobs`;
    const check = await rig.addJob('fra');
    await rig.admin.rpoplpush(`${jobs}:wait`, `${jobs}:active`);

    await restricted().start();

    expect(await rig.final('fra', check)).toMatchObject({ error: { code: 'probe_interrupted' } });
    await eventually(async () => ((await rig.leftovers('fra')).length === 0 ? true : undefined));
  });

  it('tries nothing beyond its rights', async () => {
    const agent = restricted();
    await agent.start();
    const check = await rig.addJob('fra');
    await rig.final('fra', check);
    await agent.drain();

    expect(await rig.admin.call('ACL', 'LOG')).toEqual([]);
  });

  it('reaches nothing of another probe, and runs no script', async () => {
    const login = `redis://${agentUser('fra')}:secret@`;
    const user = new Redis(rig.server().url.replace('redis://', login), {
      enableReadyCheck: false,
      disableClientInfo: true,
      maxRetriesPerRequest: 0,
    });

    await expect(user.xadd(redisKeys.results('nyc'), '*', 'check', 'x')).rejects.toThrow('NOPERM');
    await expect(user.eval('return 1', 0)).rejects.toThrow('NOPERM');
    const loaded = String(await rig.admin.script('LOAD', 'return 1'));
    await expect(user.evalsha(loaded, 0)).rejects.toThrow('NOPERM');
    user.disconnect();
  });
});
