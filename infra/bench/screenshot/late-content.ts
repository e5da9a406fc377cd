import type { Screenshots } from '../../../packages/diagnostics/src/index.ts';
import {
  apiPage,
  CONTENT,
  lateAnswers,
  latePages,
  restlessPages,
  unloadedPage,
} from '@vantage/test-support/browser/late-pages';
import { readPng } from '@vantage/test-support/browser/png';
import { startPuppeteer, type WaitUntil } from '../../../packages/diagnostics/test/browser-puppeteer.ts';
import type { Serve, Site } from '@vantage/test-support/browser/site';
import { median, type Figure } from '../goals.ts';

/** Duration of the API call of each page, milliseconds. */
const API_CALLS = [100, 200, 300, 400, 500, 600, 800, 1_000, 1_500, 2_000];
const ROUNDS = 5;
const ALL = API_CALLS.length * ROUNDS;

const others = [...latePages, ...restlessPages, unloadedPage];

export const lateContentPages: Readonly<Record<string, string | Serve>> = {
  ...Object.fromEntries(API_CALLS.map((ms) => [`/api/${ms}`, apiPage(ms).html])),
  ...Object.fromEntries(others.map(({ html }, index) => [`/late/${index}`, html])),
  ...lateAnswers,
};

/**
 * Share of screenshots that show content added after the load event, of Vantage and of puppeteer with each of its waits
 * for an idle network; taken alternately.
 */
export async function lateContent(
  executablePath: string,
  site: Site,
  take: (path: string) => ReturnType<Screenshots['capture']>,
): Promise<readonly Figure[]> {
  const peer = await startPuppeteer(executablePath, 'page.test');
  const ours = tally(async (path) => (await take(path)).png);
  const [idle0, idle2] = (['networkidle0', 'networkidle2'] satisfies WaitUntil[]).map((waitUntil) =>
    tally((path) => peer.capture(site.origin + path, waitUntil)),
  ) as [Tally, Tally];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const ms of API_CALLS) {
        for (const { capture } of [ours, idle0, idle2]) await capture(`/api/${ms}`);
      }
    }
  } finally {
    await peer.close();
  }
  const late = tally(async (path) => (await take(path)).png);
  for (const index of others.keys()) await late.capture(`/late/${index}`);
  const comparison = `puppeteer's networkidle0: ${idle0.shown()} of ${ALL}, networkidle2: ${idle2.shown()}`;
  const times = `puppeteer's networkidle0: ${Math.round(idle0.median())} ms, networkidle2: ${Math.round(idle2.median())} ms, without the start of a browser`;
  return [
    {
      name: 'pictures that show the content of an API call',
      value: ours.shown(),
      unit: `of ${ALL}`,
      atLeast: ALL,
      comparison,
    },
    { name: 'a picture of a page with an API call, median', value: ours.median(), unit: 'ms', comparison: times },
    {
      name: 'other late and restless pages whose picture shows the content',
      value: late.shown(),
      unit: `of ${others.length}`,
      atLeast: others.length,
    },
    { name: 'the slowest of these pictures', value: late.slowest(), unit: 'ms', atMost: 12_000 },
  ];
}

interface Tally {
  readonly capture: (path: string) => Promise<void>;
  readonly shown: () => number;
  readonly median: () => number;
  readonly slowest: () => number;
}

function tally(capture: (path: string) => Promise<Uint8Array | null>): Tally {
  const times: number[] = [];
  let shown = 0;
  return {
    capture: async (path) => {
      const started = performance.now();
      const png = await capture(path);
      times.push(performance.now() - started);
      if (png !== null && CONTENT.every((value, index) => readPng(png).pixel(600, 700)[index] === value)) shown += 1;
    },
    shown: () => shown,
    median: () => median(times),
    slowest: () => Math.max(...times),
  };
}
