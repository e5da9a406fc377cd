import { canMakeNamespace, type Identity } from '../process/namespace.ts';
import type { ScreenshotOptions } from '../take-screenshot.ts';
import { runSelfTest } from './self-test.ts';

const SELF_TEST_MS = 25_000;
const UNPRIVILEGED = 65_534;

export interface IsolationOptions {
  /** The user that the browser of a root agent runs as, 65534 by default; otherwise it runs as the agent's user. */
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /**
   * False if only flags restrict the browser to its proxy. By default the self-test decides whether it also runs in a
   * network namespace.
   */
  readonly namespace?: boolean | undefined;
  /** Time for a self-test with a namespace, and once more for one without, milliseconds; by default `SELF_TEST_MS`. */
  readonly selfTestMs?: number | undefined;
  readonly log?: ((message: string, fields: Readonly<Record<string, unknown>>) => void) | undefined;
}

/** How the browsers of this agent are isolated. */
export interface Isolation {
  /** User and group of the browser, and whether it runs in a separate network namespace. */
  readonly current: () => Identity & { readonly namespace: boolean };
  /**
   * Runs the self-test in a namespace if the agent can create one and the options do not forbid it. Otherwise, or if it
   * fails there, the test runs with flags only. A test that timed out is not repeated without the namespace: slowness
   * must not weaken the isolation.
   *
   * @param screenshotOptions called for each test, as `current` changes between them
   * @returns null if screenshots may be offered, else the reason
   */
  readonly test: (screenshotOptions: () => ScreenshotOptions, signal: AbortSignal) => Promise<string | null>;
}

export function createIsolation(options: IsolationOptions): Isolation {
  const { selfTestMs = SELF_TEST_MS, log } = options;
  const identity = identityFor(options);
  let namespace = false;
  return {
    current: () => ({ ...identity, namespace }),
    test: async (screenshotOptions, signal) => {
      namespace = options.namespace !== false && (await canMakeNamespace(identity));
      const first = await runSelfTest(screenshotOptions(), signal, selfTestMs);
      if (first === null || first.isOutOfTime || !namespace) return first?.reason ?? null;
      log?.('no network namespace for screenshots', { reason: first.reason });
      namespace = false;
      const second = await runSelfTest(screenshotOptions(), signal, selfTestMs);
      return second?.reason ?? null;
    },
  };
}

/** A root agent runs the browser as another user, because Chromium refuses its sandbox to root. */
function identityFor({ uid, gid }: IsolationOptions): Identity {
  if (process.getuid?.() !== 0) return {};
  const user = uid ?? UNPRIVILEGED;
  return { uid: user, gid: gid ?? user };
}
