import { createServer as createProxy, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { redisKeys } from '@vantage/contract';
import { freePort } from '@vantage/redis-server';

import { createAgent, type ProbeAgent } from './agent.ts';
import { fakeConfig, fakeRuntime, openPort, silent } from '../test/fakes.ts';
import { eventually, startRig, type Rig } from '../test/rig.ts';

let rig: Rig;
let agent: ProbeAgent;

beforeEach(async () => {
  rig = await startRig();
});

afterEach(async () => {
  await agent.close();
  await rig.stop();
});

async function startAgent(redisUrl: string, held: Promise<void>): Promise<void> {
  const runtime = fakeRuntime(async ({ port }) => {
    await held;
    return openPort(port);
  });
  agent = createAgent(fakeConfig('fra', redisUrl), silent, async () => runtime);
  await agent.start();
}

async function untilRunning(count: number): Promise<void> {
  await eventually(async () => ((await rig.heartbeat('fra'))?.load.running === count ? true : undefined));
}

/** A TCP relay to Redis that can be interrupted, on a port that stays reserved while it is closed. */
async function startLine(
  port: number,
): Promise<{ readonly url: string; readonly cut: () => void; readonly close: () => void }> {
  const sockets = new Set<Socket>();
  const server: Server = createProxy((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
  }).listen(await freePort(), '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}

describe('an agent whose Redis goes away', () => {
  it('keeps a result that was measured meanwhile and delivers it once Redis is back', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await startAgent(rig.server().url, held);
    const check = await rig.addJob('fra');
    await untilRunning(1);

    const restarted = rig.restart();
    release();
    await restarted;

    expect(await rig.final('fra', check)).toMatchObject({ result: 'success' });
    await eventually(async () => ((await rig.leftovers('fra')).length === 0 ? true : undefined));
    // The agent knows the running job and must not report it as interrupted.
    await sleep(2_000);
    const finals = (await rig.results('fra')).map(({ check: id, data }) => [id, data['result']]);
    expect(new Set(finals.map(String))).toEqual(new Set([`${check},success`]));
  });

  it('takes new jobs after its connections were cut again and again', async () => {
    const line = await startLine(rig.server().port);
    await startAgent(line.url, Promise.resolve());

    for (let round = 0; round < 5; round += 1) {
      line.cut();
      const check = await rig.addJob('fra');
      expect((await rig.final('fra', check)).result).toMatch(/success|error/);
    }
    await eventually(async () => ((await rig.leftovers('fra')).length === 0 ? true : undefined));
    line.close();
  });

  it('runs a job whose announcement was lost on the way', async () => {
    const line = await startLine(rig.server().port);
    await startAgent(line.url, Promise.resolve());
    const jobs = `${redisKeys.queuePrefix('fra')}:jobs`;
    // Simulates a lost reply to the command that moved the job.
    const check = await rig.addJob('elsewhere');
    await rig.admin.hset(
      `${jobs}:${check}`,
      await rig.admin.hgetall(`${redisKeys.queuePrefix('elsewhere')}:jobs:${check}`),
    );
    await rig.admin.lpush(`${jobs}:active`, check);

    line.cut();

    expect(await rig.final('fra', check)).toMatchObject({ result: 'success' });
    await eventually(async () => ((await rig.leftovers('fra')).length === 0 ? true : undefined));
    line.close();
  });

  it('starts while Redis is away, and works once it is there', async () => {
    const line = await startLine(rig.server().port);
    line.close();
    const { port } = new URL(line.url);
    const runtime = fakeRuntime(async ({ port: target }) => openPort(target));
    agent = createAgent(fakeConfig('fra', line.url), silent, async () => runtime);
    const started = agent.start();
    const check = await rig.addJob('fra');

    const late = createProxy((client) => {
      const upstream = connect(rig.server().port, '127.0.0.1');
      client.on('error', () => undefined).pipe(upstream);
      upstream.on('error', () => undefined).pipe(client);
    }).listen(Number(port), '127.0.0.1');
    await started;

    expect(await rig.final('fra', check)).toMatchObject({ result: 'success' });
    await agent.close();
    late.close();
  });
});
