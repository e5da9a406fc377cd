import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { redisKeys, screenshotJobId } from '@vantage/contract';

import { createAgent, type ProbeAgent } from './agent.ts';
import { fakeConfig, fakeRuntime, openPort, silent } from '../test/fakes.ts';
import { eventually, newCheckId, startRig, type Rig } from '../test/rig.ts';
import type { ScreenshotOffer } from './runtime/screenshot-offer.ts';

let rig: Rig;
let counter = 0;
const agents: ProbeAgent[] = [];

beforeAll(async () => {
  rig = await startRig();
});

afterAll(() => rig.stop());

afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.close()));
});

const newProbe = (): string => `camera-${(counter += 1)}`;

/** Starts an agent with a fake camera. */
async function startAgent(
  probe: string,
  capture: ScreenshotOffer['capture'],
  environment: Readonly<Record<string, string>> = {},
): Promise<ProbeAgent> {
  const screenshots: ScreenshotOffer = {
    start: () => undefined,
    isOffered: () => true,
    degraded: () => null,
    settled: async () => null,
    capture,
    close: async () => undefined,
  };
  const runtime = fakeRuntime(async ({ port }) => openPort(port), { screenshots });
  const agent = createAgent(fakeConfig(probe, rig.server().url, environment), silent, async () => runtime);
  agents.push(agent);
  await agent.start();
  return agent;
}

const active = (probe: string): Promise<string[]> =>
  rig.admin.lrange(`${redisKeys.queuePrefix(probe)}:jobs:active`, 0, -1);

describe('an agent that takes screenshots', () => {
  it('writes the screenshot byte for byte, and leaves nothing behind', async () => {
    const png = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const probe = newProbe();
    await startAgent(probe, async () => ({ png, failure: null }));

    const check = await rig.addScreenshotJob(probe, 'http://127.0.0.1/');

    expect(await rig.screenshot(probe, check)).toEqual({ png, failure: null });
    await eventually(async () => ((await rig.leftovers(probe)).length === 0 ? true : undefined));
    expect((await rig.heartbeat(probe))?.capabilities.screenshot).toBe(true);
  });

  it('measures meanwhile, though it has one place only', async () => {
    const held = Promise.withResolvers<void>();
    const probe = newProbe();
    const capture: ScreenshotOffer['capture'] = async () => {
      await held.promise;
      return { png: Buffer.from('late'), failure: null };
    };
    await startAgent(probe, capture, { CONCURRENCY: '1' });
    const pictured = await rig.addScreenshotJob(probe, 'http://127.0.0.1/');
    await eventually(async () => ((await active(probe)).length === 1 ? true : undefined));

    const measured = await rig.addJob(probe);

    expect(await rig.final(probe, measured)).toMatchObject({ result: 'success' });
    held.resolve();
    expect((await rig.screenshot(probe, pictured)).png?.toString()).toBe('late');
  });

  it('takes the screenshot and the result of one check as two jobs', async () => {
    const probe = newProbe();
    const check = newCheckId();
    await startAgent(probe, async () => ({ png: Buffer.from('picture'), failure: null }));

    await rig.addJob(probe, { checkId: check });
    await rig.addScreenshotJob(probe, 'http://127.0.0.1/', 30_000, check);

    expect(await rig.final(probe, check)).toMatchObject({ result: 'success' });
    expect((await rig.screenshot(probe, check)).failure).toBeNull();
  });

  it('reports those that an earlier agent was at as interrupted', async () => {
    const probe = newProbe();
    const first = await startAgent(probe, () => new Promise(() => undefined));
    const check = await rig.addScreenshotJob(probe, 'http://127.0.0.1/');
    await eventually(async () => ((await active(probe)).includes(screenshotJobId(check)) ? true : undefined));
    await first.close();

    await startAgent(probe, async () => ({ png: Buffer.from('again'), failure: null }));

    expect((await rig.screenshot(probe, check)).failure?.code).toBe('probe_interrupted');
    await eventually(async () => ((await rig.leftovers(probe)).length === 0 ? true : undefined));
  });
});
