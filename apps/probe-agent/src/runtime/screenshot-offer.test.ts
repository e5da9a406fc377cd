import { afterEach, describe, expect, it } from '@jest/globals';
import type { Failure } from '@vantage/contract';
import type { CaptureRequest, Capture } from '@vantage/diagnostics';

import { silent } from '../../test/fakes.ts';
import { eventually } from '../../test/rig.ts';
import { createScreenshotOffer, type ScreenshotOffer, type ScreenshotOfferDependencies } from './screenshot-offer.ts';

let offer: ScreenshotOffer;

afterEach(() => offer.close());

/** A fake browser whose self-test yields these results in order; the last one repeats. */
function open(
  verdicts: readonly (string | null | Promise<string | null>)[],
  dependencies: Partial<ScreenshotOfferDependencies> = {},
): { tests: number; closed: boolean; picture: Capture } {
  const state = { tests: 0, closed: false, picture: { png: Buffer.from('png'), failure: null } as Capture };
  offer = createScreenshotOffer({
    wish: 'auto',
    screenshots: {
      selfTest: async () => {
        state.tests += 1;
        return verdicts[Math.min(state.tests, verdicts.length) - 1]!;
      },
      capture: async () => state.picture,
      close: async () => void (state.closed = true),
    },
    retryMs: 1,
    delayMs: 0,
    log: silent,
    ...dependencies,
  });
  return state;
}

const never = new AbortController().signal;
const request: CaptureRequest = { url: 'http://a.example/', insecureSSL: false, userAgent: 'x', signal: never };

function failed(source: Failure['source']): Capture {
  return { png: null, failure: { code: 'screenshot_failed', phase: 'exec', source, message: 'It died.' } };
}

describe('an agent’s offer of screenshots', () => {
  it('stands once the self-test has passed, not before', async () => {
    const test = Promise.withResolvers<null>();
    open([test.promise]);
    expect(offer.isOffered()).toBe(false);
    offer.start();
    const settled = offer.settled(never);
    expect(offer.isOffered()).toBe(false);

    test.resolve(null);

    expect(await settled).toBeNull();
    expect(offer.isOffered()).toBe(true);
  });

  it('does not degrade an agent that was not configured to offer it', async () => {
    open(['No browser.']);
    offer.start();

    expect(await offer.settled(never)).toBe('No browser.');
    expect(offer.degraded()).toBeNull();
  });

  it('is a reason where it was asked for and the self-test has failed, not while it runs', async () => {
    open(['No browser.'], { wish: 'on', retryMs: 60_000 });
    expect(offer.degraded()).toBeNull();
    offer.start();
    await offer.settled(never);

    expect(offer.degraded()).toBe('screenshot: No browser.');
  });

  it('is tried again until it stands', async () => {
    const state = open(['Too little memory.', 'Too little memory.', null], { wish: 'on' });
    offer.start();

    await eventually(() => (offer.isOffered() ? true : undefined));

    expect(state.tests).toBe(3);
    expect(offer.degraded()).toBeNull();
  });

  it('is none where screenshots are switched off', async () => {
    open([null], { wish: 'off', screenshots: undefined });
    offer.start();

    expect(await offer.settled(never)).toMatch(/switched off/);
    expect([offer.isOffered(), offer.degraded()]).toEqual([false, null]);
  });

  it('is not waited for longer than a signal lets it', async () => {
    open([new Promise(() => undefined)]);
    offer.start();

    expect(await offer.settled(AbortSignal.abort())).toMatch(/has not run yet/);
  });

  it('is tested again when the browser itself fails repeatedly', async () => {
    const state = open([null, 'It does not start any more.', null]);
    offer.start();
    await offer.settled(never);
    state.picture = failed('probe');

    for (let count = 0; count < 3; count += 1) await offer.capture(request);
    expect(offer.isOffered()).toBe(false);
    await eventually(() => (offer.isOffered() ? true : undefined));

    expect(state.tests).toBe(3);
  });

  it('stands whatever pages do', async () => {
    const state = open([null]);
    offer.start();
    await offer.settled(never);
    state.picture = failed('target');

    for (let count = 0; count < 10; count += 1) await offer.capture(request);

    expect([offer.isOffered(), state.tests]).toEqual([true, 1]);
  });

  it('ends with the browsers', async () => {
    const state = open(['Not yet.'], { retryMs: 60_000 });
    offer.start();
    await offer.settled(never);
    await offer.close();
    offer.start();

    expect([state.closed, state.tests]).toEqual([true, 1]);
  });
});
