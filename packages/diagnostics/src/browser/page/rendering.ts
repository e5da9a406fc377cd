import { pause } from '@vantage/timers';
import type { CDPSession, Page } from 'puppeteer';

/** The drawing of a page, observed from an isolated world, which the scripts of the page cannot reach. */
export interface Rendering {
  /**
   * A number that is new after each change of the text or the elements of the page, and whenever the page does not
   * answer.
   */
  readonly changes: () => Promise<number>;
  /** Moves finite animations and transitions to their end. Returns how many it moved; 0 without an answer. */
  readonly finishAnimations: () => Promise<number>;
  /**
   * Fires the timers of the next second at once. Afterwards the clock of the page is stopped.
   *
   * @param isEnough ends it early; called before each tenth of the second
   */
  readonly skipSecond: (isEnough: () => boolean) => Promise<void>;
}

const SLICES = 10;
const SLICE_MS = 100;
/** Longest wait for an answer of the page, which cannot answer while its script runs. */
const ANSWER_MS = 2_000;

/** Counts changes of text and elements, but not of attributes, which animation scripts change all the time. */
const OBSERVE = `globalThis.changes = 0;
new MutationObserver(() => { changes += 1; }).observe(document, { childList: true, subtree: true, characterData: true });`;

const FINISH = `document.getAnimations().filter((animation) => {
  if (animation.playState !== 'running' || !(animation.effect?.getComputedTiming().endTime < Infinity)) return false;
  try { animation.finish(); return true; } catch { return false; }
}).length`;

/** @throws Error when the browser has ended */
export async function openRendering(page: Page): Promise<Rendering> {
  const session = await page.createCDPSession();
  let isTimeStopped = false;
  let lastChanges = 0;
  let world: World | undefined;

  const evaluate = async (expression: string): Promise<number | undefined> => {
    world ??= await inTime(openWorld(session, lastChanges + 1));
    const value = world === undefined ? undefined : await inTime(world.evaluate(expression));
    if (value === undefined) world = undefined;
    // A script that busy-waits for time never ends while the clock is stopped, so it is terminated.
    if (value === undefined && isTimeStopped) await inTime(session.send('Runtime.terminateExecution'));
    return value;
  };
  const changes = async (): Promise<number> => {
    const value = await evaluate('changes');
    // Without an answer, as after a navigation or while a script runs, the number must be a new one.
    lastChanges = value === undefined || world === undefined ? lastChanges + 1 : world.changesBefore + value;
    return lastChanges;
  };
  const skipSecond = async (isEnough: () => boolean): Promise<void> => {
    isTimeStopped = true;
    for (let slice = 0; slice < SLICES && !isEnough(); slice += 1) {
      const skipped = new Promise<true>((resolve) => {
        session.once('Emulation.virtualTimeBudgetExpired', () => resolve(true));
      });
      const sent = session.send('Emulation.setVirtualTimePolicy', { policy: 'advance', budget: SLICE_MS });
      if ((await inTime(Promise.all([sent, skipped]))) === undefined) return;
    }
  };
  return { changes, finishAnimations: async () => (await evaluate(FINISH)) ?? 0, skipSecond };
}

/** An isolated world of the document that the page shows now. */
interface World {
  /** The number of changes before this world was created. */
  readonly changesBefore: number;
  /** Rejects when the page has left the document. */
  readonly evaluate: (expression: string) => Promise<number>;
}

async function openWorld(session: CDPSession, changesBefore: number): Promise<World> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'rendering',
  });
  const evaluate = async (expression: string): Promise<number> => {
    const { result } = await session.send('Runtime.evaluate', { expression, contextId, returnByValue: true });
    return Number(result.value);
  };
  await evaluate(OBSERVE);
  return { changesBefore, evaluate };
}

/** The answer; undefined if the command fails, or is not answered within `ANSWER_MS`. */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  const over = new AbortController();
  const late = pause(ANSWER_MS, over.signal).then(() => undefined);
  const result = await Promise.race([answer.catch(() => undefined), late]);
  over.abort();
  return result;
}
