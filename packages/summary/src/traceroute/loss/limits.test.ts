import { describe, expect, it } from '@jest/globals';

import { summaryOf } from '../../../test/cases.ts';
import { HOPS, resultsOf, type Network } from '../../../test/trace-samples.ts';
import { thresholds } from '../../thresholds.ts';

const CHECKS = 24;
/** Permitted deviation of a share, in standard deviations. */
const DEVIATIONS = 3.5;

/**
 * Number of checks that reached the target, of those whose summary reports packet loss on the path, and of those that
 * are degraded by loss.
 */
function saidOf(
  network: Network,
  checks = CHECKS,
): { readonly said: number; readonly degraded: number; readonly of: number } {
  let [said, degraded, of] = [0, 0, 0];
  for (let seed = 1; seed <= checks; seed += 1) {
    const results = resultsOf(network, seed * 7_919);
    if (!Object.values(results).some(({ reached }) => reached === true)) continue;
    of += 1;
    const { findings } = summaryOf('traceroute', results);
    said += findings.some(({ code }) => code === 'path_loss') ? 1 : 0;
    degraded += findings.some(({ code, severity }) => isLoss(code) && severity === 'warning') ? 1 : 0;
  }
  return { said, degraded, of };
}

function isLoss(code: string): boolean {
  return code === 'path_loss' || code === 'loss_at_target';
}

function most(of: number, share: number): number {
  return of * share + DEVIATIONS * Math.sqrt(of * share * (1 - share));
}

const many = { queries: 10 };
const flows = { queries: 3, flows: 8 };
const few = { queries: 3 };
const limits = [
  { burst: 1, perSecond: 5 },
  { burst: 2, perSecond: 20 },
  { burst: 6, perSecond: 1 },
];

describe('loss from a hop to the target', () => {
  it.each(
    [0.2, 0.4, 0.7].flatMap((loss) => [
      { probes: 4, ...many, loss },
      { probes: 4, ...flows, loss },
    ]),
  )('is reported in 95 of 100 checks at least, with %j', (network) => {
    const { said, of } = saidOf(network);

    expect(of - said).toBeLessThanOrEqual(most(of, 0.05));
  });
});

describe('loss on the last link', () => {
  it.each([0.7, 0.85])('is laid to no router that answers %d of its packets, by three packets a hop', (shy) => {
    const { said } = saidOf({ probes: 1, queries: 3, loss: 0.4, lossAt: HOPS, shy }, 60);

    expect(said).toBeLessThanOrEqual(2);
  });
});

describe('loss that takes one of three packets of some probes', () => {
  it.each([
    { probes: 5, ...few, loss: 0.3 },
    { probes: 5, ...few, loss: 0.4 },
    { probes: 4, ...few, loss: 0.3 },
  ])('degrades 95 of 100 checks at least, with %j', (network) => {
    const { degraded, of } = saidOf(network);

    expect(of - degraded).toBeLessThanOrEqual(most(of, 0.05));
  });
});

describe('a target and routers that limit their answers', () => {
  it.each(limits.flatMap((limit) => [1, 3].map((routers) => ({ probes: routers, limit: { ...limit, routers } }))))(
    'are taken for loss as rarely as is promised, with %j',
    (network) => {
      for (const packets of [few, many, flows]) {
        for (const roundMs of [10, 100]) {
          const { said, degraded, of } = saidOf({ ...network, ...packets, roundMs });

          expect({ packets, roundMs, isRare: said <= most(of, 1 / thresholds.lossOverLimit) }).toMatchObject({
            isRare: true,
          });
          expect({ packets, roundMs, degraded }).toMatchObject({ degraded: 0 });
        }
      }
    },
  );

  it.each([few, many, flows])('are not taken for loss if the router answers in any order, with %j', (packets) => {
    for (const burst of [1, 6]) {
      const network = { probes: 4, ...packets, shy: 0.7, limit: { burst, perSecond: 1, routers: 0 } };

      expect(saidOf(network).said).toBeLessThanOrEqual(most(CHECKS, 1 / thresholds.lossOverLimit));
    }
  });
});
