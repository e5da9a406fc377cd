import type { Check } from '../../../packages/contract/src/index.ts';
import { here, openBrowser, openTab, untilText, untilTrue } from '../../../apps/web/test/browser.ts';
import { startShowcase } from '../../../apps/web/test/showcase.ts';
import { world } from '../../../apps/web/test/world.ts';
import type { Progress } from '../../command/progress.ts';
import type { Figure } from '../goals.ts';
import { recordTasks } from './main-thread.ts';

const [PROBES, HOPS, ROUNDS] = [20, 12, 60];
const FRAME_MS = 16;
const started = new Date().toISOString();
const names = Array.from({ length: PROBES }, (_, index) => `p-${index}`);
const probes = Object.fromEntries(names.map((name) => [name, Object.values(world)[0]!]));

/** Tasks of the main thread while a traceroute of 60 rounds from 20 probes arrives, all rows open. */
export async function* liveFrames(progress: Progress): AsyncGenerator<Figure> {
  if (here.missing !== null) throw new Error(here.missing);
  const states = new Map(names.map((name) => [name, stateAt(0)]));
  const checkOf = (): Check => ({
    testId: 'liveFramesAAAAAAAAAAAA',
    type: 'traceroute',
    host: 'www.example.com',
    status: 'pending',
    createdAt: started,
    completedAt: null,
    results: Object.fromEntries(states),
  });
  const showcase = await startShowcase({ checks: [checkOf()], probes });
  const browser = await openBrowser();
  try {
    const tab = await openTab(browser, showcase.url);
    await tab.page.goto(`${showcase.url}/c/liveFramesAAAAAAAAAAAA`);
    await untilText(tab.page, names.at(-1)!);
    await tab.page.evaluate(
      `for (const one of document.querySelectorAll('tr[data-probe] [aria-expanded=false]')) one.click()`,
    );
    await untilTrue(tab.page, `document.querySelectorAll('table.hops.rounds').length === ${PROBES}`);
    const endRecording = await recordTasks(tab.page);
    for (let round = 1; round <= ROUNDS; round += 1) {
      progress.step(`round ${round} of ${ROUNDS}`);
      for (const name of names) {
        states.set(name, stateAt(round));
        showcase.show(checkOf());
        await new Promise((resolve) => setTimeout(resolve, 1_000 / PROBES));
      }
    }
    yield* figuresOf(await endRecording());
  } finally {
    await browser.close();
    showcase.close();
  }
}

function figuresOf(times: readonly number[]): readonly Figure[] {
  const sorted = times.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  const comparison = `${times.length} tasks, ${times.filter((ms) => ms > FRAME_MS).length} above ${FRAME_MS} ms`;
  return [
    {
      name: `tasks of a live trace, ${ROUNDS} rounds × ${PROBES} probes, p99`,
      value: p99,
      unit: 'ms CPU',
      atMost: FRAME_MS,
      comparison,
    },
    { name: 'longest of them', value: sorted.at(-1) ?? 0, unit: 'ms CPU', atMost: FRAME_MS },
  ];
}

function stateAt(round: number): Record<string, unknown> {
  const hops = Array.from({ length: HOPS }, (_, index) => {
    const rtts = Array.from({ length: round }, (_, one) => (one % 9 === 0 ? null : 2 * index + ((one * 7) % 5) / 10));
    const known = rtts.filter((rtt) => rtt !== null);
    const mean = known.reduce((sum, rtt) => sum + rtt, 0) / Math.max(1, known.length);
    const ip = `198.51.100.${index + 1}`;
    const who = {
      ip,
      private: false,
      hostname: `r${index + 1}.example.net`,
      hostnameVerified: true,
      asn: 'AS64496',
      asName: 'Example',
    };
    const counts = { sent: round, received: known.length, loss: round === 0 ? null : 1 - known.length / round };
    const times = {
      rttMin: Math.min(...known, mean),
      rttAvg: mean,
      rttMax: Math.max(...known, mean),
      rttStdDev: 0.1,
      jitter: 0.2,
    };
    return {
      hop: index + 1,
      ...who,
      latency: mean,
      rtts,
      stats: { ...counts, ...times },
      responders: [{ ...who, rtts: known }],
      mpls: [],
      icmp: null,
    };
  });
  return { result: 'pending', resolvedIp: '198.51.100.12', protocol: 'icmp', hops };
}
