import { afterAll, describe, expect } from '@jest/globals';

import { itNeeding } from '@vantage/test-support/needs';
import { netlabMissing } from './netlab.ts';
import { DELAY_MS, impairments } from './impairments.ts';
import { families, openTestLab } from './test-lab.ts';
import { networks } from './topology.ts';
import { none, quick, packetRows, truths } from './truths.ts';

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);
const itMeanwhile = itNeeding(missing, process.env['CI'], 'concurrent');
const lab = missing === null ? await openTestLab() : undefined;
afterAll(() => lab?.close());

/** A host may set the clock of its virtual machines forward, by half a millisecond at once; time stamps of the kernel show it. */
const LEAST_MS = DELAY_MS - 1;

const MOST_TRACES = 6;

/**
 * The states of a trace over the slow network, and how many hops have answered in each. A machine that stalls for longer
 * than that network takes shows two hops at once: then there is another trace.
 */
async function tracedSlowly(host: string) {
  for (let left = MOST_TRACES; ; left -= 1) {
    const states = await lab!.traceStates(host);
    const answered = states.map(({ hops = [] }) => hops.filter(({ ip }) => ip !== null).length);
    if (left === 1 || answered[0] === 1) return { states, answered };
  }
}

describe('over a link that does what is known to packets', () => {
  for (const { family, address } of families) {
    for (const { network, rows, fields } of truths) {
      itMeanwhile(`ping tells exactly what happened in network ${network}, by IPv${family}`, async () => {
        const outcome = await lab!.ping(address(network, 99), quick);

        expect(outcome).toMatchObject({ result: 'success', pingCount: 5, clock: 'kernel', ...fields });
        expect(packetRows(outcome)).toEqual(rows);
        expect(outcome.packets?.every(({ rtt, ttl }) => rtt === null || (rtt >= LEAST_MS && ttl === 63))).toBe(true);
      });
    }

    itMeanwhile(
      `ping takes what is damaged for lost, and counts it as corrupted where it gets to see it, by IPv${family}`,
      async () => {
        const outcome = await lab!.ping(address(networks.damaging, 99), quick);

        // The kernel drops an ICMPv6 message whose checksum is wrong.
        expect(outcome).toMatchObject({ loss: 0.6, anomalies: { ...none, corrupted: family === 4 ? 3 : 2 } });
        expect(packetRows(outcome)).toEqual(['1', '2 lost', '3 lost', '4 lost', '5']);
      },
    );

    itMeanwhile(`ping takes what comes too late for lost, and counts it as late, by IPv${family}`, async () => {
      const outcome = await lab!.ping(address(networks.late, 99), { count: 16, interval: 400 });

      expect(outcome).toMatchObject({ pingCompleted: 15, anomalies: { ...none, late: 1, reordered: 1 } });
      expect(packetRows(outcome)[0]).toBe('1 lost');
    });

    itMeanwhile(
      `traceroute shows the hops that answered while it waits for those beyond, by IPv${family}`,
      async () => {
        const { states, answered } = await tracedSlowly(address(networks.slow, 99));

        expect(states[0]?.hops?.[0]).toMatchObject({ ip: address(1, 2) });
        expect(answered[0]).toBe(1);
        expect(answered).toEqual(answered.toSorted((a, b) => a - b));
        expect(answered.at(-1)).toBe(4);
      },
    );
  }
});

describe('two hundred checks at once', () => {
  itInNetlab('each tells its own truth, while another program pings the same hosts', async () => {
    const strangers = families.map(({ address }) =>
      lab!.run('probe', 'ping', '-q', '-c', '200', '-i', '0.01', address(networks.even, 99)),
    );
    const checks = Array.from({ length: 200 }, async (_, index) => {
      const { address } = families[index % 2]!;
      const { network, rows, fields } = truths[Math.floor(index / 2) % truths.length]!;
      return { network, rows, fields, outcome: await lab!.ping(address(network, 99), quick) };
    });
    for (const { network, rows, fields, outcome } of await Promise.all(checks)) {
      const held = impairments[network]?.holdMs?.[1] ?? 0;

      expect(outcome).toMatchObject({ result: 'success', pingCount: 5, ...fields });
      expect(packetRows(outcome)).toEqual(rows);
      expect(outcome.packets?.[0]?.rtt).toBeGreaterThanOrEqual(LEAST_MS + held);
    }
    // With this many checks, one may have the ICMP identifier of the other program, which would take its replies for
    // duplicates.
    for (const { stdout } of await Promise.all(strangers)) {
      expect(stdout).toMatch(/ 200 received,( \+\d+ duplicates,)? 0% packet loss/);
    }
  });

  itInNetlab('each traceroute finds its own path', async () => {
    const protocols = ['icmp', 'udp', 'tcp'] as const;
    const traces = Array.from({ length: 200 }, async (_, index) => {
      const { family, address } = families[index % 2]!;
      const distant = index % 4 < 2;
      const host = address(distant ? networks.distant : 4, distant ? 99 : 2);
      const third = family === 4 ? address(3, 2) : address(distant ? 10 : 3, 2);
      const truth = [address(1, 2), distant ? address(9, 2) : address(2, 2), third, host];
      return { truth, outcome: await lab!.trace(host, { protocol: protocols[index % 3], queries: 1 }) };
    });
    for (const { truth, outcome } of await Promise.all(traces)) {
      expect(outcome).toMatchObject({ result: 'success', reached: true });
      expect(outcome.hops?.map(({ ip }) => ip)).toEqual(truth);
    }
  });
});
