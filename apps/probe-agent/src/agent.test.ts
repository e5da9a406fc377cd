import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LAST_JOBS_MS, redisKeys } from '@vantage/contract';

import { createAgent, type ProbeAgent } from './agent.ts';
import { fakeConfig, fakeRuntime, openPort, silent, type FakeRun } from '../test/fakes.ts';
import { eventually, newCheckId, startRig, type Rig } from '../test/rig.ts';

let rig: Rig;
let counter = 0;
let agents: ProbeAgent[] = [];

beforeAll(async () => {
  rig = await startRig();
});

afterAll(() => rig.stop());

afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
  agents = [];
});

/** Starts the agent of a new probe; returns the ID of the probe. */
async function startAgent(run?: FakeRun, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const probe = `probe-${(counter += 1)}`;
  await startAgentOf(probe, run, environment);
  return probe;
}

async function startAgentOf(
  probe: string,
  run?: FakeRun,
  environment: Readonly<Record<string, string>> = {},
): Promise<ProbeAgent> {
  const agent = createAgent(fakeConfig(probe, rig.server().url, environment), silent, async () => fakeRuntime(run));
  agents.push(agent);
  await agent.start();
  return agent;
}

/** A run that ends when the test releases it. */
function heldRun(): { readonly run: FakeRun; readonly started: () => number; readonly release: () => void } {
  let started = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    run: async ({ port }) => {
      started += 1;
      await promise;
      return openPort(port);
    },
    started: () => started,
    release: resolve,
  };
}

interface Drain {
  readonly held: ReturnType<typeof heldRun>;
  readonly probe: string;
  readonly check: string;
  readonly drained: Promise<void>;
  readonly last: string;
}

/** Drains an agent that has a job, and adds another one; again if a busy machine took half of the last second for that. */
async function drainWithLastJob(): Promise<Drain> {
  const held = heldRun();
  const probe = `probe-${(counter += 1)}`;
  const agent = await startAgentOf(probe, held.run);
  const check = await rig.addJob(probe);
  await eventually(() => (held.started() === 1 ? true : undefined));

  const begunMs = performance.now();
  const drained = agent.drain();
  const last = await rig.addJob(probe);
  if (performance.now() - begunMs < LAST_JOBS_MS / 2) return { held, probe, check, drained, last };
  held.release();
  await drained;
  return drainWithLastJob();
}

/** Adds jobs quickly until several completed ones are still active in the queue, as removal is batched. */
async function addUntilSomeArePostponed(
  probe: string,
): Promise<{ readonly added: readonly string[]; readonly postponed: readonly string[] }> {
  const added: string[] = [];
  const postponed = await eventually(async () => {
    added.push(...(await Promise.all(Array.from({ length: 3 }, () => rig.addJob(probe)))));
    const done = new Set((await rig.results(probe)).map(({ check }) => check));
    const active = await rig.admin.lrange(`${redisKeys.queuePrefix(probe)}:jobs:active`, 0, -1);
    const both = active.filter((id) => done.has(id));
    return both.length >= 3 ? both : undefined;
  });
  return { added, postponed };
}

describe('an agent', () => {
  it('measures a real TCP port, reports it on the clock of Redis, and leaves nothing behind', async () => {
    // The diagnostic resets its connections.
    const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const probe = await startAgent();
    const before = await rig.now();

    const check = await rig.addJob(probe, { params: { host: '127.0.0.1', port, options: { attempts: 2 } } });
    const final = await rig.final(probe, check);
    server.close();

    expect(final).toMatchObject({ result: 'success', resolvedIp: '127.0.0.1', error: null, state: 'open', port });
    expect(final['attempts']).toHaveLength(2);
    // The agent's clock offset is accurate to half a round trip.
    expect(Date.parse(final.startedAt!)).toBeGreaterThanOrEqual(before - 500);
    expect(Date.parse(final.finishedAt)).toBeGreaterThanOrEqual(Date.parse(final.startedAt!));
    await eventually(async () => ((await rig.leftovers(probe)).length === 0 ? true : undefined));
    // On a slow machine a partial result may precede the final one.
    const kinds = (await rig.results(probe)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind !== 'partial')).toEqual(['final']);
    expect(kinds.at(-1)).toBe('final');
  });

  it('notifies subscribers of a result', async () => {
    const probe = await startAgent(async ({ port }) => openPort(port));
    const subscriber = rig.admin.duplicate();
    await subscriber.subscribe(redisKeys.resultNotification(probe));
    const notified = once(subscriber, 'message');

    await rig.addJob(probe);

    expect(await notified).toEqual([redisKeys.resultNotification(probe), expect.stringMatching(/^(?:1$|final )/)]);
    subscriber.disconnect();
  });

  it('reports a job that it cannot read', async () => {
    const probe = await startAgent();
    const check = await rig.addJob(probe, { type: 'telepathy' });

    expect(await rig.final(probe, check)).toMatchObject({ result: 'error', error: { code: 'invalid_job' } });
  });

  it('drops a job whose deadline has passed', async () => {
    const probe = await startAgent(async ({ port }) => openPort(port));
    const late = await rig.addJob(probe, { deadlineAt: (await rig.now()) - 1 });
    const good = await rig.addJob(probe);
    await rig.final(probe, good);

    await eventually(async () => ((await rig.leftovers(probe)).length === 0 ? true : undefined));
    const results = await rig.results(probe);
    expect(results.map((entry) => entry.check)).toEqual([good]);
    expect(late).not.toBe(good);
  });

  it('aborts a run before the deadline of its check, and reports what it has', async () => {
    let remainingMs = 0;
    const probe = await startAgent(async ({ port }, context) => {
      remainingMs = context.remainingMs();
      await once(context.signal, 'abort');
      return openPort(port);
    });

    // Longer than any expected machine stall: an overdue job does not run at all.
    const check = await rig.addJob(probe, { deadlineAt: (await rig.now()) + 5_000 });
    const final = await rig.final(probe, check);

    expect(final).toMatchObject({ result: 'success' });
    expect(remainingMs).toBeLessThanOrEqual(4_750);
  });

  it('runs a burst at once', async () => {
    const held = heldRun();
    const probe = await startAgent(held.run);

    const checks = await Promise.all(Array.from({ length: 10 }, () => rig.addJob(probe)));
    await eventually(() => (held.started() === 10 ? true : undefined));
    held.release();

    for (const check of checks) expect(await rig.final(probe, check)).toMatchObject({ result: 'success' });
    await eventually(async () => ((await rig.leftovers(probe)).length === 0 ? true : undefined));
  });

  it('runs no more jobs at once than it is configured to, and all of them in the end', async () => {
    let running = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    const probe = await startAgent(
      async ({ port }) => {
        most = Math.max(most, (running += 1));
        if (running === 3) full.resolve();
        await full.promise;
        await sleep(20);
        running -= 1;
        return openPort(port);
      },
      { CONCURRENCY: '3' },
    );

    const checks = await Promise.all(Array.from({ length: 20 }, () => rig.addJob(probe)));
    for (const check of checks) await rig.final(probe, check);

    expect(most).toBe(3);
    await eventually(async () => ((await rig.leftovers(probe)).length === 0 ? true : undefined));
  });

  it('shows partial results at intervals and nothing after the final one', async () => {
    let tookMs = 0;
    const probe = await startAgent(async ({ port }, { emitPartial }) => {
      const started = performance.now();
      for (let count = 1; count <= 60; count += 1) {
        emitPartial({ port: count });
        await sleep(10);
      }
      setTimeout(() => emitPartial({ port: 61 }), 300).unref();
      tookMs = performance.now() - started;
      return openPort(port);
    });

    const check = await rig.addJob(probe);
    await rig.final(probe, check);
    await sleep(400);

    const results = await rig.results(probe);
    const kinds = results.map(({ kind }) => kind);
    expect(kinds.at(-1)).toBe('final');
    const shown = results.slice(0, -1).map(({ data }) => Number(data['port']));
    expect(shown.length).toBeGreaterThanOrEqual(1);
    expect(shown.length).toBeLessThanOrEqual(1 + tookMs / 250);
    expect(shown).toEqual(shown.toSorted((a, b) => a - b));
  });

  it('drains: takes jobs for a last second, until coordinators know, gives running ones their time, and no new ones then', async () => {
    const { held, probe, check, drained, last } = await drainWithLastJob();
    await eventually(async () => ((await rig.heartbeat(probe))?.draining === true ? true : undefined));
    await eventually(() => (held.started() === 2 ? true : undefined));
    await sleep(LAST_JOBS_MS);
    await rig.addJob(probe);
    held.release();
    await drained;

    const results = await rig.results(probe);
    expect(results.map((result) => result.check).toSorted()).toEqual([check, last].toSorted());
    for (const result of results) expect(result).toMatchObject({ kind: 'final', data: { result: 'success' } });
    expect(await rig.heartbeat(probe)).toBeUndefined();
    expect(await rig.admin.llen(`${redisKeys.queuePrefix(probe)}:jobs:wait`)).toBe(1);
    expect(await rig.admin.llen(`${redisKeys.queuePrefix(probe)}:jobs:active`)).toBe(0);
  });

  it('reports what is not done when its time to drain is up, as interrupted', async () => {
    const held = heldRun();
    const probe = `probe-${(counter += 1)}`;
    const agent = await startAgentOf(probe, held.run, { DRAIN_SECONDS: '0' });
    const check = await rig.addJob(probe);
    await eventually(() => (held.started() === 1 ? true : undefined));

    await agent.drain();
    held.release();

    const final = await rig.final(probe, check);
    expect(final).toMatchObject({ result: 'error', error: { code: 'probe_interrupted', source: 'probe' } });
    expect(await rig.leftovers(probe)).toEqual([]);
  });

  it('takes the jobs that it has done out of the queue before it stops, at a dense pace too', async () => {
    const probe = `probe-${(counter += 1)}`;
    const agent = await startAgentOf(probe, async ({ port }) => openPort(port));
    await addUntilSomeArePostponed(probe);

    await agent.drain();

    expect(await rig.admin.llen(`${redisKeys.queuePrefix(probe)}:jobs:active`)).toBe(0);
    const checks = (await rig.results(probe)).map(({ check }) => check);
    expect(new Set(checks).size).toBe(checks.length);
  });

  it('has written the result of each job that it had done when it dies at a dense pace', async () => {
    const probe = `probe-${(counter += 1)}`;
    const agent = await startAgentOf(probe, async ({ port }) => openPort(port));
    const { added, postponed } = await addUntilSomeArePostponed(probe);

    await agent.close();
    await startAgentOf(probe, async ({ port }) => openPort(port));
    await eventually(async () => ((await rig.leftovers(probe)).length === 0 ? true : undefined));

    // The first final result stands; an interruption may only be reported after it.
    const first = new Map<string, string>();
    for (const { check, data } of await rig.results(probe)) {
      if (!first.has(check)) first.set(check, String(data['result']));
    }
    expect([...first.keys()].toSorted()).toEqual(added.toSorted());
    expect(postponed.map((check) => first.get(check))).toEqual(postponed.map(() => 'success'));
  });

  it('tells what it can do and how busy it is', async () => {
    const held = heldRun();
    const probe = await startAgent(held.run, { CONCURRENCY: '7' });
    await rig.addJob(probe);
    await eventually(() => (held.started() === 1 ? true : undefined));

    const heartbeat = await eventually(async () => {
      const beat = await rig.heartbeat(probe);
      return beat?.load.running === 1 ? beat : undefined;
    });
    held.release();

    expect(heartbeat).toMatchObject({ v: 1, draining: false, load: { running: 1, capacity: 7 } });
    expect(heartbeat.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(heartbeat.capabilities).toMatchObject({ ipv4: true, ipv6: false, screenshot: false });
    expect(heartbeat.capabilities.types).toContain('tcp');
    expect(await rig.admin.pttl(redisKeys.heartbeat(probe))).toBeGreaterThan(5_000);
  });

  it('takes jobs that waited for it while no agent ran', async () => {
    const probe = `probe-${(counter += 1)}`;
    const check = await rig.addJob(probe);
    await rig.admin.del(`${redisKeys.queuePrefix(probe)}:jobs:marker`);
    await startAgentOf(probe, async ({ port }) => openPort(port));

    expect(await rig.final(probe, check)).toMatchObject({ result: 'success' });
  });

  it('reports a job that an earlier agent left behind, once, and forgets it', async () => {
    const probe = `probe-${(counter += 1)}`;
    const jobs = `${redisKeys.queuePrefix(probe)}:jobs`;
    const check = await rig.addJob(probe);
    await rig.admin.rpoplpush(`${jobs}:wait`, `${jobs}:active`);
    await rig.admin.set(`${jobs}:${check}:lock`, 'another');
    const stranger = newCheckId().slice(1);
    await rig.admin.lpush(`${jobs}:active`, stranger);

    await startAgentOf(probe, async ({ port }) => openPort(port));

    expect(await rig.final(probe, check)).toMatchObject({ result: 'error', error: { code: 'probe_interrupted' } });
    await eventually(async () => ((await rig.leftovers(probe)).length === 0 ? true : undefined));
    expect(await rig.results(probe)).toHaveLength(1);
  });
});
