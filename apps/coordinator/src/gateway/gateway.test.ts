import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';

import { encodePiece } from '@vantage/agent-loop';
import {
  JOB_QUEUE,
  LAST_JOBS_MS,
  redisKeys,
  SCREENSHOT_PIECE_BYTES,
  screenshotJobId,
  type AgentMessage,
  type GatewayJob,
  type Heartbeat,
} from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WebSocket } from 'ws';

import type { OnAccess } from '../probes/enrolment/access-watch.ts';
import { changeScript } from '../probes/enrolment/access-scripts.ts';
import { NO_ACCESS, readAccess } from '../probes/enrolment/agent-access.ts';
import { switchOff } from '../probes/access/switch-off.ts';
import { success } from '../../test/check-steps.ts';
import { until } from '../../test/core-bed.ts';
import {
  startGatewayBed,
  type Connecting,
  type GatewayBed,
  type OpenGateway,
  type PlayedAgent,
} from '../../test/gateway-bed.ts';
import { createAgentRates } from './limits/agent-rates.ts';

let test: GatewayBed;
let gateway: OpenGateway;

beforeAll(async () => {
  test = await startGatewayBed();
  gateway = await test.startGateway();
});

afterAll(() => test.stop());

async function isAlive(probe: string): Promise<void> {
  await until(async () =>
    (await test.bed.core.knownProbes().catch(() => [])).some(({ record, alive }) => record.id === probe && alive),
  );
}

async function startCheck(probe: string): Promise<string> {
  await isAlive(probe);
  return test.bed.start({ probes: [probe] });
}

function final(check: string, seq: number, said = 'yes'): AgentMessage {
  return { t: 'result', seq, check, kind: 'final', data: JSON.stringify(success(said)) };
}

/** Remaining keys of jobs in the queue of a probe. */
async function leftovers(probe: string): Promise<readonly string[]> {
  const kept = new Set(['meta', 'events', 'id', 'marker']);
  const keys = await test.bed.redis.keys(`p:{${probe}}:jobs:*`);
  return keys.filter((key) => !kept.has(key.split(':').at(-1)!));
}

/** Ids of the jobs that the agent has received. */
function jobsOf(agent: PlayedAgent): readonly string[] {
  return agent.received.filter((message): message is GatewayJob => message.t === 'job').map(({ id }) => id);
}

function answersOf(agents: readonly PlayedAgent[]): number {
  return agents.reduce((sum, { received }) => sum + received.filter(({ t }) => t === 'time').length, 0);
}

describe('a gateway', () => {
  it('enrols an agent, gives it a job, takes partial and final results, and leaves nothing behind', async () => {
    const agent = await test.join(gateway, 'whole');
    const check = await startCheck('whole');
    const job = await agent.next('job');

    const data = JSON.stringify({ steps: [1] });
    agent.send({ t: 'result', seq: 1, check, kind: 'partial', data });
    await until(async () => JSON.stringify((await test.bed.read(check)).results).includes('"steps":[1]'));
    agent.send(final(check, 2));
    const acks = [await agent.next('ack'), await agent.next('ack')];
    agent.send({ t: 'done', job: job.id });

    expect(job).toMatchObject({ id: check, name: 'echo' });
    expect(JSON.parse(job.data)).toMatchObject({ v: 1, checkId: check });
    expect(acks.map(({ seq }) => seq)).toEqual([1, 2]);
    const read = await test.bed.read(check, 20_000);
    expect(read).toMatchObject({ status: 'completed', results: { whole: { result: 'success', said: 'yes' } } });
    await until(async () => (await leftovers('whole')).length === 0);
  });

  it('shows the agent as connected by a gateway, and as offline once it has drained', async () => {
    const agent = await test.join(gateway, 'shown');
    await isAlive('shown');
    const [probe, described] = [await test.bed.core.probes.list(), await test.bed.core.probes.agents()];

    agent.beReady(true);
    agent.socket.close(1000);
    await until(async () => (await test.bed.redis.exists(redisKeys.heartbeat('shown'))) === 0);

    expect(probe['shown']).toMatchObject({ status: 'healthy', version: '0.1.0', load: { running: 0, capacity: 2 } });
    expect(described['shown']).toMatchObject({ transport: 'gateway', state: 'connected' });
  });

  it.concurrent('ends a connection from which no ping comes, and shows the probe as offline', async () => {
    const agent = await test.join(gateway, 'quiet', { isSilent: true });
    const lively = await test.join(gateway, 'lively');
    await isAlive('quiet');
    const [code] = await agent.closed;
    await until(async () => (await test.bed.redis.exists(redisKeys.heartbeat('quiet'))) === 0);

    expect(code).toBe(1006);
    expect(lively.socket.readyState).toBe(lively.socket.OPEN);
  });

  it('says over which time its agents return if they lose it together', async () => {
    const fresh = await test.startGateway(test.bed.startCore());
    const advised = await Promise.all(
      ['advised-1', 'advised-2'].map(async (probe) => {
        const { received } = await test.join(fresh, probe);
        return received.flatMap((message) => (message.t === 'welcome' ? [message.returnOverMs] : []));
      }),
    );

    // The interval grows by a second per 300 agents.
    expect(Math.max(...advised.flat().map(Number))).toBe(7);
  });

  it('lives from its first agent on', async () => {
    const fresh = await test.startGateway(test.bed.startCore());
    await test.join(fresh, 'early');
    let text: string | null = null;
    await until(async () => (text = await test.bed.redis.get(redisKeys.heartbeat('early'))) !== null);
    const { gateway: { id = '' } = {} } = JSON.parse(text!) as Heartbeat;

    expect(await test.bed.redis.exists(redisKeys.gateway(id))).toBe(1);
  });

  it.concurrent('gives no more jobs at a time than the agent has slots', async () => {
    const agent = await test.join(gateway, 'slots', { credit: 2 });
    const checks: string[] = [];
    for (let count = 0; count < 4; count += 1) checks.push(await startCheck('slots'));
    await agent.next('job');
    await agent.next('job');
    // The reply to a time request follows all jobs that were sent before it.
    agent.send({ t: 'time', id: 1 });
    await agent.next('time');
    const before = jobsOf(agent);
    agent.send(final(before[0]!, 2));

    await agent.next('job');
    expect(before).toHaveLength(2);
    agent.send(final(before[1]!, 3));
    await agent.next('job');
    expect(new Set(jobsOf(agent))).toEqual(new Set(checks));
  });

  it.concurrent('gives an agent that ends the jobs of a last second, and none afterwards', async () => {
    const endWithJobs = async (probe: string): Promise<PlayedAgent> => {
      const agent = await test.join(gateway, probe, { credit: 1 });
      for (let count = 0; count < 3; count += 1) await startCheck(probe);
      const first = await agent.next('job');
      agent.beReady(true);
      agent.send(final(first.id, 1));
      await Promise.race([agent.next('job'), sleep(2 * LAST_JOBS_MS)]);
      return agent;
    };
    let agent = await endWithJobs('ends-1');
    // On a busy machine the last second may pass before the gateway reads the result that frees the slot.
    for (let number = 2; jobsOf(agent).length < 2; number += 1) agent = await endWithJobs(`ends-${number}`);
    const [first, last] = jobsOf(agent);
    await sleep(LAST_JOBS_MS);
    agent.send(final(last!, 2));
    // A job for a slot that these results free would arrive before the answer to the time request.
    await agent.next('ack');
    await agent.next('ack');
    agent.send({ t: 'time', id: 1 });
    await agent.next('time');

    expect(jobsOf(agent)).toEqual([first, last]);
  });

  it.concurrent('gives no jobs to an agent that waits for approval, until it is approved', async () => {
    const invitation = await test.invite('waits', '--approve');
    const agent = await test.connect(gateway, { ...invitation, counter: 1 });
    const welcome = await agent.next('welcome');
    agent.beReady();
    agent.send({ t: 'time', id: 1 });
    await agent.next('time');
    const heartbeat = await test.bed.redis.exists(redisKeys.heartbeat('waits'));

    await test.admin('approve', 'waits');
    await agent.next('approved');
    const check = await startCheck('waits');

    expect([welcome.state, heartbeat]).toEqual(['waiting', 0]);
    expect((await agent.next('job')).id).toBe(check);
  });

  it.concurrent('puts a screenshot together, and takes a result between its pieces', async () => {
    const agent = await test.join(gateway, 'camera');
    // The coordinator of the test reads an entry, and removes it, as soon as it is written.
    const watch = await monitor(test.bed.server.port);
    const png = Buffer.alloc(SCREENSHOT_PIECE_BYTES + 7, 'x');
    const check = await startCheck('camera');
    await agent.next('job');
    agent.socket.send(encodePiece({ seq: 1, upload: 9, bytes: png.subarray(0, SCREENSHOT_PIECE_BYTES) }));
    agent.send(final(check, 2));
    agent.socket.send(encodePiece({ seq: 3, upload: 9, bytes: png.subarray(SCREENSHOT_PIECE_BYTES) }));
    const data = JSON.stringify({ failure: null });
    agent.send({
      t: 'result',
      seq: 4,
      check,
      kind: 'screenshot',
      data,
      screenshot: { upload: 9, bytes: png.length },
    });
    await until(() => agent.received.filter(({ t }) => t === 'ack').length === 4);

    await until(() => watch.seen().includes(`"png" "${png.toString('latin1')}"`));
    watch.close();
    expect((await test.bed.read(check, 20_000)).status).toBe('completed');
  });

  it.concurrent('gives the job again to the instance that reconnects, and reports it as interrupted to another one', async () => {
    const first = await test.join(gateway, 'again');
    const check = await startCheck('again');
    await first.next('job');
    first.socket.terminate();

    const same = await test.connect(gateway, { key: first.key, counter: 2, instance: first.instance });
    await same.next('welcome');
    same.beReady();
    const given = await same.next('job');
    same.socket.terminate();
    const other = await test.connect(gateway, { key: first.key, counter: 3 });
    await other.next('welcome');
    other.beReady();
    const read = await test.bed.read(check, 25_000);

    expect(given.id).toBe(check);
    expect(read.results['again']).toMatchObject({ result: 'error', error: { code: 'probe_interrupted' } });
    expect(jobsOf(other)).toEqual([]);
    await until(async () => (await leftovers('again')).length === 0);
  });

  it('lets an older instance end its jobs after a newer one has taken over, on another gateway', async () => {
    const second = await test.startGateway(test.bed.startCore());
    const older = await test.join(gateway, 'upgrade');
    const check = await startCheck('upgrade');
    await older.next('job');
    const newer = await test.connect(second, { key: older.key, counter: 2 });
    await newer.next('welcome');
    newer.beReady();
    await older.next('retire');

    const next = await startCheck('upgrade');
    const given = await newer.next('job');
    older.send(final(check, 1, 'older'));
    await older.next('ack');
    older.send({ t: 'done', job: check });
    const [code] = await older.closed;
    newer.send(final(next, 1, 'newer'));

    expect(given.id).toBe(next);
    expect(code).toBe(4409);
    expect((await test.bed.read(check, 20_000)).results['upgrade']).toMatchObject({ said: 'older' });
    expect((await test.bed.read(next, 20_000)).results['upgrade']).toMatchObject({ said: 'newer' });
    expect([jobsOf(older), jobsOf(newer)]).toEqual([[check], [next]]);
  });

  it.each(['rack 7', ' ', 'a\nb 12'])(
    'closes the former connection of the same instance, which does not retire, on another gateway: %j',
    async (instance) => {
      const probe = `moves-${instance.length}`;
      const second = await test.startGateway(test.bed.startCore());
      const former = await test.join(gateway, probe, { instance });
      const check = await startCheck(probe);
      await former.next('job');
      const next = await test.connect(second, { key: former.key, counter: 2, instance });
      await next.next('welcome');
      next.beReady();
      const [code] = await former.closed;
      const again = await next.next('job');

      expect([code, again.id]).toEqual([4409, check]);
      expect(former.received.map(({ t }) => t)).not.toContain('retire');
    },
  );

  it.concurrent('closes the connection of an older instance only after the screenshot of it, too', async () => {
    const older = await test.join(gateway, 'photo');
    const check = await startCheck('photo');
    await older.next('job');
    const photo = screenshotJobId(check);
    const queue = `${redisKeys.queuePrefix('photo')}:${JOB_QUEUE}`;
    await test.bed.redis.hset(`${queue}:${photo}`, { name: 'screenshot', data: '{}', timestamp: Date.now() });
    await test.bed.redis.lpush(`${queue}:wait`, photo);
    await test.bed.redis.publish(redisKeys.jobsAdded, 'photo');
    await older.next('job');
    const newer = await test.connect(gateway, { key: older.key, counter: 2 });
    await newer.next('welcome');
    newer.beReady();
    await older.next('retire');
    older.send(final(check, 1));
    await older.next('ack');
    older.send({ t: 'done', job: check });
    // The gateway polls several times meanwhile.
    await sleep(1_000);
    const png = Buffer.from('picture');
    older.socket.send(encodePiece({ seq: 2, upload: 1, bytes: png }));
    const data = JSON.stringify({ failure: null });
    older.send({ t: 'result', seq: 3, check, kind: 'screenshot', data, screenshot: { upload: 1, bytes: png.length } });
    await until(() => older.received.filter(({ t }) => t === 'ack').length === 3 || older.socket.readyState !== 1);
    const acknowledged = older.received.flatMap((message) => (message.t === 'ack' ? [message.seq] : []));
    older.send({ t: 'done', job: photo });

    expect([acknowledged, (await older.closed)[0]]).toEqual([[1, 2, 3], 4409]);
    expect(jobsOf(newer)).toEqual([]);
  });

  it.concurrent('takes the last results of an older instance that lost its connection, which replaces no newer one', async () => {
    const second = await test.startGateway(test.bed.startCore());
    const older = await test.join(gateway, 'lost');
    const check = await startCheck('lost');
    await older.next('job');
    const { key, instance } = older;
    const newer = await test.connect(gateway, { key, counter: 2 });
    await newer.next('welcome');
    newer.beReady();
    await older.next('retire');
    older.socket.terminate();
    await older.closed;
    const forge: Connecting['forge'] = (hello) => ({ ...hello, yields: false, reports: true });
    const again = await test.connect(second, { key, counter: 3, instance, forge });
    await again.next('welcome');
    again.beReady();
    await again.next('retire');
    again.send(final(check, 1, 'older'));
    await again.next('ack');
    again.send({ t: 'done', job: check });
    const [code] = await again.closed;
    const next = await startCheck('lost');
    await newer.next('job');
    newer.send(final(next, 1, 'newer'));

    expect(code).toBe(4409);
    expect((await test.bed.read(check, 20_000)).results['lost']).toMatchObject({ said: 'older' });
    expect((await test.bed.read(next, 20_000)).results['lost']).toMatchObject({ said: 'newer' });
    expect([jobsOf(again), jobsOf(newer)]).toEqual([[], [next]]);
    expect(newer.received.map(({ t }) => t)).not.toContain('retire');
  });

  it('replaces the connection of an instance that only reports by its next one', async () => {
    const older = await test.join(gateway, 'again');
    const check = await startCheck('again');
    await older.next('job');
    const { key, instance } = older;
    const newer = await test.connect(gateway, { key, counter: 2 });
    await newer.next('welcome');
    older.socket.terminate();
    await older.closed;
    const forge: Connecting['forge'] = (hello) => ({ ...hello, yields: false, reports: true });
    const lost = await test.connect(gateway, { key, counter: 3, instance, forge });
    await lost.next('retire');
    const again = await test.connect(gateway, { key, counter: 4, instance, forge });
    await again.next('retire');
    const [code] = await lost.closed;
    again.send(final(check, 1, 'older'));
    await again.next('ack');

    expect(code).toBe(4409);
    expect(await test.bed.redis.hexists(redisKeys.agentConnections('again'), instance)).toBe(1);
    expect((await test.bed.read(check, 20_000)).results['again']).toMatchObject({ said: 'older' });
  });

  it.concurrent('refuses an older instance while a newer one is connected, on any gateway, and takes it back afterwards', async () => {
    const second = await test.startGateway(test.bed.startCore());
    const older = await test.join(gateway, 'twice');
    const newer = await test.connect(second, { key: older.key, counter: 2 });
    await newer.next('welcome');
    newer.beReady();
    await older.closed;
    const { key, instance } = older;
    const again = (counter: number, on: OpenGateway) =>
      test.connect(on, { key, counter, instance, forge: (hello) => ({ ...hello, yields: true }) });
    const refused = [await (await again(3, gateway)).closed, await (await again(4, second)).closed];
    const check = await startCheck('twice');
    await newer.next('job');
    newer.send(final(check, 1));
    await newer.next('ack');
    newer.socket.close(1000);
    await newer.closed;
    await until(() => second.size() === 0);
    const back = await again(5, gateway);

    expect(refused).toEqual([
      [4409, 'another instance'],
      [4409, 'another instance'],
    ]);
    expect(newer.received.map(({ t }) => t)).not.toContain('retire');
    expect((await back.next('welcome')).state).toBe('approved');
  });

  it('welcomes an agent with a new key that yields, although one with the former key is connected', async () => {
    const older = await test.join(gateway, 'rekeyed');
    const invitation = await test.invite('rekeyed');
    const forge = (hello: Extract<AgentMessage, { t: 'hello' }>): AgentMessage => ({ ...hello, yields: true });
    const newer = await test.connect(gateway, { ...invitation, counter: 1, forge });

    expect((await newer.next('welcome')).state).toBe('approved');
    expect((await older.closed)[0]).toBe(4403);
  });

  it('keeps no connection that ended while other instances of its agent were looked for', async () => {
    const { key, instance, socket, closed } = await test.join(gateway, 'gone');
    socket.close(1000);
    await closed;
    const connections = redisKeys.agentConnections('gone');
    await until(async () => (await test.bed.redis.hlen(connections)) === 0);
    // Enough instances that the agent disconnects before the gateway has checked the last of them.
    const others = Array.from({ length: 10_000 }, (_, index) => `other-${index}`);
    await test.bed.redis.hset(connections, Object.fromEntries(others.map((other) => [other, 'stopped 1'])));
    const watch = await monitor(test.bed.server.port);
    const again = await test.connect(gateway, {
      key,
      counter: 2,
      instance,
      forge: (hello) => ({ ...hello, yields: true }),
    });
    await until(() => watch.seen().includes(`"hkeys" "${connections}"`));
    again.socket.terminate();
    await until(() => watch.seen().split('"exists"').length > others.length);
    watch.close();
    // Time for the last replies to reach the gateway, which would then store the connection.
    await sleep(200);

    expect(await test.bed.redis.hexists(connections, instance)).toBe(0);
  });

  it('asks its agents to connect elsewhere before it stops', async () => {
    const leaving = await test.startGateway(test.bed.startCore());
    const agent = await test.join(leaving, 'leaves');

    const closing = leaving.close();
    const { withinMs } = await agent.next('leave');
    agent.socket.close(1000);
    await closing;

    expect(withinMs).toBeGreaterThan(0);
    expect(leaving.size()).toBe(0);
  });

  it('disconnects an agent that is suspended or removed, and takes it back once it is resumed', async () => {
    const agent = await test.join(gateway, 'switched');
    await isAlive('switched');
    await test.admin('suspend', 'switched');
    const suspended = await agent.closed;
    const refused = await test.connect(gateway, { key: agent.key, counter: 2 });
    const refusal = await refused.closed;
    await test.admin('resume', 'switched');
    const back = await test.connect(gateway, { key: agent.key, counter: 3 });
    await back.next('welcome');
    back.beReady();
    await isAlive('switched');
    await test.admin('remove', 'switched');

    expect([suspended[0], refusal, (await back.closed)[0]]).toEqual([4403, [4401, 'suspended'], 4403]);
    await until(async () => (await test.bed.redis.exists(redisKeys.heartbeat('switched'))) === 0);
  });

  it('disconnects an agent that was suspended and resumed at once, which may come back without a pause', async () => {
    const agent = await test.join(gateway, 'brief');
    const keys = [
      redisKeys.agentAccess,
      redisKeys.agentChanges,
      redisKeys.agentKey('brief'),
      redisKeys.agentCounters('brief'),
    ];
    const given = ['brief', redisKeys.agentChanged];
    const both = test.bed.redis.multi();
    for (const change of ['suspend', 'resume']) both.eval(changeScript.lua, 4, ...keys, ...given, change, '');
    await both.exec();
    const closed = await agent.closed;
    const back = await test.connect(gateway, { key: agent.key, counter: 2 });

    expect(closed).toEqual([4403, 'resumed']);
    expect(await back.next('welcome')).toMatchObject({ state: 'approved', suspensions: 1 });
  });

  it('keeps an agent that enrolled while a look at the changes was under way, which says that it has no key', async () => {
    const core = test.bed.startCore();
    const listeners: OnAccess[] = [];
    const { onChange } = core.access;
    Object.assign(core.access, {
      onChange: (listener: OnAccess) => {
        listeners.push(listener);
        return onChange(listener);
      },
    });
    const own = await test.startGateway(core);
    const agent = await test.join(own, 'enrolled');
    for (const listener of listeners) listener('enrolled', { ...NO_ACCESS, state: 'invited' });
    agent.send({ t: 'time', id: 1 });

    expect(await agent.next('time')).toMatchObject({ id: 1 });
    expect(agent.socket.readyState).toBe(agent.socket.OPEN);
  });

  it('disconnects an agent that a coordinator switches off because it floods its keys', async () => {
    const agent = await test.join(gateway, 'flooding');
    await switchOff(test.bed.redis, 'flooding', 'it fills its keys.');
    const [code] = await agent.closed;
    const refused = await test.connect(gateway, { key: agent.key, counter: 2 });
    const refusal = await refused.closed;
    await test.admin('resume', 'flooding');
    const back = await test.connect(gateway, { key: agent.key, counter: 3 });

    expect([code, refusal]).toEqual([4403, [4401, 'suspended']]);
    expect((await back.next('welcome')).state).toBe('approved');
  });

  it.concurrent('tells an agent that is newer than the gateway so, and the operator too', async () => {
    const agent = await test.join(gateway, 'ahead');
    agent.socket.close(1000);
    await agent.closed;
    await until(async () => (await test.bed.redis.hlen(redisKeys.agentConnections('ahead'))) === 0);
    const ahead = await test.connect(gateway, { key: agent.key, counter: 2, v: 99 });

    expect(await ahead.closed).toEqual([4406, '1']);
    const reason = async (): Promise<string> => (await test.bed.core.probes.list())['ahead']?.reason ?? '';
    await until(async () => (await reason()).endsWith('upgrade the service.'));
  });

  it.concurrent('does not report a newer agent that it refuses while the older one works, on any gateway', async () => {
    const second = await test.startGateway(test.bed.startCore());
    const older = await test.join(gateway, 'both-work');
    await isAlive('both-work');
    const closed: unknown[] = [];
    for (const [at, on] of [gateway, second].entries()) {
      closed.push(await (await test.connect(on, { key: older.key, counter: 2 + at, v: 99 })).closed);
    }

    const access = await test.bed.redis.hget(redisKeys.agentAccess, 'both-work');
    expect(closed).toEqual([
      [4406, '1'],
      [4406, '1'],
    ]);
    expect(readAccess(access)).toMatchObject({ state: 'approved', refusal: null });
  });
});

describe('a gateway under attack', () => {
  const stranger = (forge: (hello: AgentMessage) => AgentMessage) => async () => {
    const invitation = await test.invite('victim');
    return test.connect(gateway, { ...invitation, counter: 1, forge });
  };
  const changed =
    (change: Readonly<Record<string, unknown>>) =>
    (hello: AgentMessage): AgentMessage => ({ ...hello, ...change });

  it.each([
    ['a forged probe id', 4401, 'bad-signature', (hello: AgentMessage) => withProof(hello, { probeId: 'other-1' })],
    ['a counter that was not signed', 4401, 'bad-signature', (hello: AgentMessage) => withProof(hello, { counter: 7 })],
    [
      'an endless instance',
      4400,
      'invalid message: hello/instance must NOT have more than 64 characters',
      changed({ instance: 'x'.repeat(1_000) }),
    ],
    ['no limit of jobs', 4400, 'invalid message: hello/credit must be <= 1000', changed({ credit: 1e9 })],
    ['no proof', 4400, "invalid message: hello must have required property 'proof'", changed({ proof: undefined })],
    [
      'a counter of none',
      4400,
      'invalid message: hello/proof/counter must be >= 1',
      (hello: AgentMessage) => withProof(hello, { counter: 0 }),
    ],
    [
      'a result before its identity',
      4400,
      'the first message must be a hello, not result',
      () => final('A'.repeat(22), 1),
    ],
    ['no message that exists', 4400, 'invalid message: t is of no message', changed({ t: 'telepathy' })],
  ])('refuses an agent with %s', async (_reason, code, why, forge) => {
    const agent = await stranger(forge)();

    expect(await agent.closed).toEqual([code, why]);
    expect(agent.received.map(({ t }) => t)).toEqual(['challenge']);
  });

  it('refuses a proof that answered the challenge of another connection', async () => {
    const agent = await test.join(gateway, 'replay');
    let proof: unknown;
    const one = await test.connect(gateway, {
      key: agent.key,
      counter: 2,
      forge: (hello) => {
        proof = hello.proof;
        return hello;
      },
    });
    await one.next('welcome');
    const two = await test.connect(gateway, {
      key: agent.key,
      counter: 3,
      forge: (hello) => ({ ...hello, proof }) as AgentMessage,
    });

    expect(await two.closed).toEqual([4401, 'bad-signature']);
  });

  it.concurrent('writes no result for another probe than that of the connection', async () => {
    const [agent, victim] = [await test.join(gateway, 'thief'), await test.join(gateway, 'robbed')];
    const check = await startCheck('robbed');
    await victim.next('job');

    agent.send(final(check, 1, 'forged'));
    await agent.next('ack');
    victim.send(final(check, 1, 'own'));

    expect((await test.bed.read(check, 20_000)).results).toMatchObject({ robbed: { said: 'own' } });
    expect((await test.bed.read(check)).results).not.toHaveProperty('thief');
  });

  it.each([
    ['a frame beyond the limit', 1009, (socket: WebSocket) => socket.send(Buffer.alloc(300 * 1024))],
    ['a compressed message that grows beyond it', 1009, (socket: WebSocket) => socket.send(bomb())],
    ['a piece beyond its limit', 1009, (socket: WebSocket) => socket.send(piece(1, SCREENSHOT_PIECE_BYTES + 1))],
    ['text that is no message', 4400, (socket: WebSocket) => socket.send('[]')],
    ['a screenshot beyond the limit', 4400, sendPieces],
    ['a screenshot that it did not send', 4400, (socket: WebSocket) => socket.send(JSON.stringify(without()))],
  ])('ends a connection that sends %s', async (_reason, code, attack) => {
    const agent = await test.join(gateway, `attack-${code}-${_reason.length}`);

    attack(agent.socket);

    expect((await agent.closed)[0]).toBe(code);
  });

  it('keeps nothing of a connection that ends in the middle of a screenshot', async () => {
    const agent = await test.join(gateway, 'broken');
    agent.socket.send(encodePiece({ seq: 1, upload: 1, bytes: Buffer.alloc(SCREENSHOT_PIECE_BYTES) }));
    await agent.next('ack');
    const before = gateway.size();
    agent.socket.terminate();

    // Connections of other tests may end meanwhile.
    await until(() => gateway.size() < before);
    await until(async () => (await test.bed.redis.hlen(redisKeys.agentConnections('broken'))) === 0);
  });

  it('refuses further attempts of an address after many failures, before it verifies anything', async () => {
    const own = await test.startGateway(test.bed.startCore());
    const invitation = await test.invite('guessed');
    const guess = () =>
      test.connect(own, { ...invitation, counter: 1, forge: (hello) => withProof(hello, { counter: 5 }) });
    const codes: unknown[] = [];
    for (let count = 0; count < 31; count += 1) codes.push((await (await guess()).closed)[0]);
    const last = await guess();

    expect(codes.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 4401));
    expect(await last.closed).toEqual([0, 'Unexpected server response: 429']);
    expect(last.received).toEqual([]);
  });

  it('takes one message of a connection in each turn, so that many that arrive together delay no other one', async () => {
    const [many, one] = [await test.join(gateway, 'many'), await test.join(gateway, 'one')];
    many.send({ t: 'time', id: 1 });
    await many.next('time');
    const count = 500;
    for (let id = 1; id <= count; id += 1) many.send({ t: 'time', id });
    one.send({ t: 'time', id: 1 });
    await new Promise((resolve) => one.socket.once('message', resolve));
    const before = many.received.length;

    await until(() => many.received.filter(({ t }) => t === 'time').length === count + 1);
    expect(before).toBeLessThan(count / 2);
  });

  it.concurrent('reads no more of a connection for a while that sends many messages, however small', async () => {
    const agent = await test.join(gateway, 'flooding');
    const since = performance.now();
    const count = 3_400;
    for (let id = 1; id <= count; id += 1) agent.send({ t: 'time', id });
    await until(() => agent.received.filter(({ t }) => t === 'time').length === count);
    agent.send({ t: 'time', id: count + 1 });
    await until(() => agent.received.filter(({ t }) => t === 'time').length > count);

    // A burst of about 576 is allowed, then as many a second: the whole takes about 4.9 s.
    expect(performance.now() - since).toBeGreaterThan(4_500);
  });

  it.concurrent('reads the results of jobs at any rate, and shares a rate among all else that agents send', async () => {
    // At a constant time no rate is refilled, so only bursts and credit are spent, on a busy machine, too.
    const own = await test.startGateway(
      test.bed.startCore(),
      createAgentRates(() => 0),
    );
    const thieves = await Promise.all(Array.from({ length: 30 }, (_, index) => test.join(own, `thief-${index}`)));
    const honest = await test.join(own, 'honest', { credit: 30 });
    await isAlive('honest');
    for (let count = 0; count < 30; count += 1) await test.bed.start({ probes: ['honest'] });
    await until(() => jobsOf(honest).length === 30);
    const [each, most] = [600, 400];
    // Messages so long that the gateway reads only few at a time.
    const ask = (agent: PlayedAgent, id: number): void =>
      agent.send({ t: 'time', id, more: 'x'.repeat(960) } as AgentMessage);
    for (const thief of thieves) for (let id = 1; id <= each; id += 1) ask(thief, id);
    await until(() => answersOf(thieves) > 800);
    for (let id = 1; id <= most; id += 1) ask(honest, id);
    await until(() => answersOf([honest]) === most);

    // The bursts, and the messages read before a rate was exceeded, are about 95 per agent: without credit for its
    // jobs, the honest agent would wait forever.
    expect(answersOf(thieves)).toBeLessThan(150 * thieves.length);
  });

  it('answers other requests as if they asked for no upgrade', async () => {
    const { port } = new URL(gateway.url);
    const ask = (path: string, upgrade: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const headers = { Connection: 'Upgrade', Upgrade: upgrade };
        request({ port, path, headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });

    expect([await ask('/agent', 'h2c'), await ask('/probes', 'websocket')]).toEqual([404, 404]);
  });
});

/**
 * Collects every command that Redis receives from now on, over a raw socket: a client library may take the first lines
 * for replies.
 */
async function monitor(port: number): Promise<{ readonly seen: () => string; readonly close: () => void }> {
  let seen = '';
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.on('data', (text: string) => (seen += text));
  socket.write('MONITOR\r\n');
  await until(() => seen.startsWith('+OK'));
  return { seen: () => seen, close: () => socket.destroy() };
}

function withProof(hello: AgentMessage, change: Readonly<Record<string, unknown>>): AgentMessage {
  const { proof } = hello as Extract<AgentMessage, { t: 'hello' }>;
  return { ...hello, proof: { ...proof, ...change } } as AgentMessage;
}

function bomb(): Buffer {
  return Buffer.concat([Buffer.of(1), deflateRawSync(JSON.stringify({ t: 'status', x: ' '.repeat(300 * 1024) }))]);
}

function sendPieces(socket: WebSocket): void {
  for (let seq = 1; seq <= 129; seq += 1) socket.send(piece(seq, SCREENSHOT_PIECE_BYTES));
}

function piece(seq: number, bytes: number): Buffer {
  return encodePiece({ seq, upload: 1, bytes: Buffer.alloc(bytes) });
}

function without(): AgentMessage {
  const data = JSON.stringify({ failure: null });
  return {
    t: 'result',
    seq: 1,
    check: 'A'.repeat(22),
    kind: 'screenshot',
    data,
    screenshot: { upload: 1, bytes: 10 },
  };
}
