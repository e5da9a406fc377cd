import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { itNeeding } from '@vantage/test-support/needs';
import { networkMissing, runCanaryAudit, transports, type CanaryReport } from './index.ts';

const missing = networkMissing();
const itInNetwork = itNeeding(missing, process.env['CI']);

/** All audits run at the same time, each in its own network: most of the time is waiting. */
const audits = new Map<string, Promise<CanaryReport>>();

beforeAll(() => {
  if (missing !== null) return;
  for (const transport of transports) audits.set(transport, runCanaryAudit({ transport }));
  audits.set('allowed', runCanaryAudit({ allow: ['10.0.0.1', '127.0.0.1'] }));
  // Each test awaits its audit.
  for (const audit of audits.values()) audit.catch(() => undefined);
});
afterAll(() => Promise.allSettled(audits.values()));

describe('the agent, with every check of the coordinator removed', () => {
  for (const transport of transports) {
    itInNetwork(`sends no packet where none may go, and refuses each job: over its ${transport}`, async () => {
      const { jobs, wronglyAccepted, unanswered, touches, measured } = await audits.get(transport)!;

      expect(touches).toEqual([]);
      expect(wronglyAccepted).toEqual([]);
      expect(unanswered).toEqual([]);
      // Public targets were measured meanwhile.
      expect(measured).toBeGreaterThan(0);
      expect(jobs).toBeGreaterThan(1_000);
    });
  }

  itInNetwork('is seen by the canaries and on its own machine wherever its operator lets it go', async () => {
    const { touches } = await audits.get('allowed')!;

    const seen = touches.map(({ protocol, address, port }) => `${protocol} ${address} ${port}`);
    expect(seen.toSorted()).toEqual([
      'any loopback 0',
      'icmp 10.0.0.1 0',
      'tcp 10.0.0.1 443',
      'tcp 10.0.0.1 80',
      'udp 10.0.0.1 33434',
      'udp 10.0.0.1 53',
    ]);
  });
});
