import { afterAll, describe, expect } from '@jest/globals';

import { itNeeding } from '@vantage/test-support/needs';
import { netlabMissing } from './netlab.ts';
import { LABELS } from './impairments.ts';
import { families, openTestLab, type Traceroute } from './test-lab.ts';
import { networks, SMALL_MTU } from './topology.ts';

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);
const itMeanwhile = itNeeding(missing, process.env['CI'], 'concurrent');
const lab = missing === null ? await openTestLab() : undefined;
afterAll(() => lab?.close());

/** The hops that `traceroute` prints: one address or null each. */
async function traceroutesView(host: string, ...flags: readonly string[]): Promise<readonly (string | null)[]> {
  const { stdout } = await lab!.run('probe', 'traceroute', '-n', '-q', '1', '-w', '1', '-m', '8', ...flags, host);
  return [...stdout.matchAll(/^ ?\d+ {2}(\S+)/gm)].map(([, who]) => (who === '*' ? null : who!));
}

const ips = (outcome: Traceroute): readonly (string | null)[] => (outcome.hops ?? []).map(({ ip }) => ip);

describe.each(families)('in a network whose truth is known, over IPv$family', ({ family, address }) => {
  const target = address(4, 2);
  const path = [address(1, 2), address(2, 2), address(3, 2), target];

  for (const protocol of ['icmp', 'udp', 'tcp'] as const) {
    itInNetlab(`traceroute by ${protocol} finds each hop, each time, and the MTU of the path`, async () => {
      const outcome = await lab!.trace(target, { protocol });

      expect(outcome).toMatchObject({
        result: 'success',
        reached: true,
        resolvedIp: target,
        protocol,
        pathMtu: SMALL_MTU,
      });
      expect(ips(outcome)).toEqual(path);
      expect(outcome.hops?.flatMap(({ rtts }) => rtts).filter((rtt) => rtt !== null)).toHaveLength(12);
    });
  }

  itInNetlab('traceroute stops in a loop', async () => {
    const outcome = await lab!.trace(address(networks.loop, 1));
    // Linux answers from the address towards the probe over IPv4, over IPv6 from that of the link the packet came by.
    const back = family === 4 ? path[1] : address(3, 1);
    const loop = family === 4 ? { start: 2, length: 2 } : { start: 3, length: 2 };

    expect(outcome).toMatchObject({ result: 'timeout', reached: false, loop });
    expect(ips(outcome)).toEqual([...path.slice(0, 3), back, path[2], ...(family === 4 ? [] : [back])]);
  });

  // ICMP has no ports: the kernel's load balancer sends all of it over one path.
  for (const protocol of ['udp', 'tcp'] as const) {
    itInNetlab(
      `traceroute by ${protocol} stays on one way at a load balancer, and shows all with several flows`,
      async () => {
        const host = address(networks.diamond, 99);
        const one = await lab!.trace(host, { protocol, queries: 10 });
        const many = await lab!.trace(host, { protocol, flows: 16, queries: 1 });

        expect(one.hops?.map(({ responders }) => responders.length)).toEqual([1, 1, 1, 1]);
        expect(many).toMatchObject({ result: 'success', reached: true });
        expect(many.hops?.[1]?.responders.map(({ ip }) => ip).toSorted()).toEqual(
          [address(2, 2), address(7, 2)].toSorted(),
        );
      },
    );
  }

  itInNetlab('traceroute keeps private hops to itself', async () => {
    const hidden = await lab!.trace(target, {}, { hide: true, named: true });

    expect(hidden.hops?.map(({ ip, private: isPrivate, hostname }) => [ip, isPrivate, hostname])).toEqual([
      [null, true, null],
      [null, true, null],
      [null, true, null],
      [target, false, null],
    ]);
  });

  itInNetlab('traceroute asks the name server for the hops, and knows an honest name from a false one', async () => {
    const named = await lab!.trace(target, {}, { named: true });

    expect(named.hops?.map(({ hostname, hostnameVerified }) => [hostname, hostnameVerified])).toEqual([
      ['r1.example.net', true],
      ['elsewhere.example.net', false],
      [null, null],
      ['target.example.net', true],
    ]);
  });

  for (const protocol of ['icmp', 'udp', 'tcp'] as const) {
    itInNetlab(`traceroute by ${protocol} reads the labels of a label-switched path`, async () => {
      const host = address(networks.labelled, 99);
      const outcome = await lab!.trace(host, { protocol });
      const entry = { trafficClass: 2, ttl: 1 };

      expect(outcome).toMatchObject({ result: 'success', reached: true, pathMtu: 1_500, clock: 'kernel' });
      expect(ips(outcome)).toEqual([path[0], address(9, 77), host]);
      expect(outcome.hops?.map(({ mpls }) => mpls)).toEqual([
        [],
        [
          { ...entry, label: LABELS[0], bottomOfStack: false },
          { ...entry, label: LABELS[1], bottomOfStack: true },
        ],
        [],
      ]);
    });
  }
});

describe('in a network whose truth is known, where packets are awaited', () => {
  for (const { family, address } of families) {
    const target = address(4, 2);
    const path = [address(1, 2), address(2, 2), address(3, 2), target];

    itMeanwhile(`ping sees what the real one sees, over IPv${family}`, async () => {
      const outcome = await lab!.ping(target, { count: 3, interval: 200 });
      const { stdout } = await lab!.run('probe', 'ping', '-n', '-c', '3', '-i', '0.2', target);

      expect(stdout).toContain('3 packets transmitted, 3 received');
      expect(outcome).toMatchObject({ result: 'success', pingCount: 3, pingCompleted: 3, loss: 0 });
      expect(outcome.packets).toHaveLength(3);
      for (const { ttl, from } of outcome.packets ?? []) {
        expect(from).toBe(target);
        expect(ttl).not.toBeNull();
        expect(stdout).toContain(`ttl=${ttl} `);
      }
    });

    itMeanwhile(`ping fails with who refused it, and why, once every packet was sent, over IPv${family}`, async () => {
      const prohibited = await lab!.ping(address(networks.prohibited, 1));
      const unreachable = await lab!.ping(address(networks.unreachable, 1));
      const expired = await lab!.ping(target, { ttl: 2 });

      expect(prohibited).toMatchObject({
        result: 'failure',
        error: { code: 'administratively_prohibited' },
        pingCount: 4,
      });
      expect(prohibited.packets?.[0]?.icmp).toMatchObject({ from: path[1] });
      expect(prohibited.error?.message).toContain(path[1]);
      expect(unreachable.error?.code).toBe(family === 4 ? 'host_unreachable' : 'network_unreachable');
      expect(unreachable.error?.message).toContain(path[2]);
      expect(expired).toMatchObject({ result: 'failure', error: { code: 'time_exceeded' } });
      expect(expired.error?.message).toContain(path[1]);
    });

    itMeanwhile(
      `ping proves that a target is up behind a silent router at which its TTL runs out, over IPv${family}`,
      async () => {
        const [behindSilent, gone] = await Promise.all(
          [networks.behindSilent, networks.blackHole].map((network) =>
            lab!.ping(address(network, 99), { ttl: 2, count: 1 }),
          ),
        );

        expect(behindSilent).toMatchObject({ result: 'timeout', ordinary: { sent: 3, received: 3 } });
        // Its TTL runs out at a router that answers, so that nothing more is asked.
        expect(gone).toMatchObject({ result: 'failure', error: { code: 'time_exceeded' } });
        expect(gone).not.toHaveProperty('ordinary');
      },
    );

    itMeanwhile(
      `ping fails with the MTU of the link that is too small, and not a byte below, over IPv${family}`,
      async () => {
        const size = SMALL_MTU - (family === 4 ? 28 : 48);
        const fitting = await lab!.ping(target, { size, count: 1 });
        const tooBig = await lab!.ping(target, { size: size + 1 });

        expect(fitting).toMatchObject({ result: 'success', loss: 0 });
        expect(tooBig).toMatchObject({ result: 'failure', error: { code: 'packet_too_big', source: 'network' } });
        expect(tooBig.error?.message).toContain(path[2]);
        expect(tooBig.error?.message).toContain(String(SMALL_MTU));
      },
    );

    itMeanwhile(
      `ping sends nothing that its own link does not carry, and blames no other host, over IPv${family}`,
      async () => {
        const outcome = await lab!.ping(target, { size: 1472, count: 1 });

        // 1,500 bytes with the headers of IPv4, which the probe's link carries and link 4 does not; 1,520 with those of
        // IPv6.
        const expected =
          family === 4
            ? { result: 'failure', error: { code: 'packet_too_big', source: 'network' }, pingCount: 1 }
            : { result: 'error', error: { code: 'packet_too_big', source: 'probe' }, pingCount: 0 };
        expect(outcome).toMatchObject(expected);
      },
    );

    itMeanwhile(`traceroute sees what the real one sees, over IPv${family}`, async () => {
      expect(await traceroutesView(target, '-I')).toEqual(path);
      expect(await traceroutesView(address(networks.behindSilent, 99), '-I')).toEqual(
        ips(await lab!.trace(address(networks.behindSilent, 99))),
      );
    });

    itMeanwhile(`traceroute keeps the place of a router that never says a word, over IPv${family}`, async () => {
      const outcome = await lab!.trace(address(networks.behindSilent, 99));

      expect(outcome).toMatchObject({ result: 'success', reached: true });
      expect(outcome.hops?.map(({ ip }) => ip === null)).toEqual([false, true, false, false]);
      expect(ips(outcome).at(-1)).toBe(address(networks.behindSilent, 99));
    });

    itMeanwhile(
      `traceroute keeps the place of a router that answers only now and then, over IPv${family}`,
      async () => {
        const outcome = await lab!.trace(address(networks.behindLimited, 99), { queries: 10 });
        const answered = outcome.hops?.map(({ rtts }) => rtts.filter((rtt) => rtt !== null).length) ?? [];

        expect(outcome).toMatchObject({ result: 'success', reached: true });
        expect(ips(outcome)).toEqual([
          path[0],
          address(11, 2),
          family === 4 ? path[2] : address(12, 2),
          address(networks.behindLimited, 99),
        ]);
        expect(answered).toEqual([10, expect.any(Number), 10, 10]);
        expect(answered[1]).toBeGreaterThan(0);
        expect(answered[1]).toBeLessThan(10);
      },
    );
  }

  itMeanwhile('ping hears nothing in a black hole, and traceroute shows five silent hops', async () => {
    const both = families.map(async ({ address }) => {
      const host = address(networks.blackHole, 1);
      const [pinged, traced] = await Promise.all([lab!.ping(host, { count: 1 }), lab!.trace(host)]);

      expect(pinged).toMatchObject({ result: 'timeout', error: { code: 'timed_out' }, pingCompleted: 0, loss: 1 });
      expect(traced).toMatchObject({ result: 'timeout', error: { code: 'timed_out' }, reached: false, loop: null });
      expect(ips(traced)).toEqual([address(1, 2), address(2, 2), null, null, null, null, null]);
    });
    await Promise.all(both);
  });
});

// After the pings: a router sends few refusals of a route in a row, and these need some of them.
describe.each(families)('where a route ends, over IPv$family', ({ family, address }) => {
  const path = [address(1, 2), address(2, 2), address(3, 2)];

  itInNetlab('traceroute ends at a filter and at a missing route', async () => {
    const prohibited = await lab!.trace(address(networks.prohibited, 1));
    const unreachable = await lab!.trace(address(networks.unreachable, 1));

    expect(prohibited).toMatchObject({
      result: 'failure',
      error: { code: 'administratively_prohibited' },
      reached: false,
    });
    expect(ips(prohibited)).toEqual(path.slice(0, 2));
    expect(prohibited.hops?.at(-1)?.icmp?.mark).toBe('!X');
    expect(unreachable).toMatchObject({ result: 'failure', reached: false });
    expect(unreachable.error?.code).toBe(family === 4 ? 'host_unreachable' : 'network_unreachable');
    expect(ips(unreachable)).toEqual(path);
  });
});
