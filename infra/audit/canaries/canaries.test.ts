import { describe, expect } from '@jest/globals';

import { itNeeding } from '@vantage/test-support/needs';
import { networkMissing, runCanaryAudit, transports } from './index.ts';

const itInNetwork = itNeeding(networkMissing(), process.env['CI']);

describe.each(transports)('the agent, with every check of the coordinator removed, over its %s', (transport) => {
  itInNetwork('sends no packet where none may go, and says of each job that it was refused', async () => {
    const { jobs, wronglyAccepted, unanswered, touches, measured } = await runCanaryAudit({ transport });

    expect(touches).toEqual([]);
    expect(wronglyAccepted).toEqual([]);
    expect(unanswered).toEqual([]);
    // Public targets were measured meanwhile.
    expect(measured).toBeGreaterThan(0);
    expect(jobs).toBeGreaterThan(1_000);
  });

  itInNetwork('is seen by the canaries wherever its operator lets it go', async () => {
    const { touches } = await runCanaryAudit({ transport, allow: '10.0.0.1' });

    const seen = touches.map(({ protocol, address, port }) => `${protocol} ${address} ${port}`);
    expect(seen.toSorted()).toEqual([
      'icmp 10.0.0.1 0',
      'tcp 10.0.0.1 443',
      'tcp 10.0.0.1 80',
      'udp 10.0.0.1 33434',
      'udp 10.0.0.1 53',
    ]);
  });

  itInNetwork('is seen on its own machine wherever its operator lets it go', async () => {
    const { touches } = await runCanaryAudit({ transport, allow: '127.0.0.1' });

    expect(touches).toEqual([expect.objectContaining({ address: 'loopback' })]);
  });
});
