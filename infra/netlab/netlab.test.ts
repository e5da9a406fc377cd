import { afterAll, describe, expect } from '@jest/globals';

import type { ping } from '../../packages/diagnostics/src/ping/contract.ts';
import type { traceroute } from '../../packages/diagnostics/src/traceroute/contract.ts';
import type { Outcome } from '../../packages/diagnostics/src/diagnostic.ts';
import { itNeeding } from '../../packages/diagnostics/test/needs.ts';
import { startCheckRunner } from './check-runner.ts';
import { createNetlab, netlabMissing } from './netlab.ts';
import { ipv4, ipv6, networks, SMALL_MTU } from './topology.ts';

type Ping = Outcome<typeof ping>;
type Traceroute = Outcome<typeof traceroute>;

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);
const lab = missing === null ? createNetlab() : undefined;
const runner = lab === undefined ? undefined : startCheckRunner(lab);
afterAll(async () => {
  await runner?.stop();
  lab?.remove();
});

const families = [
  { family: 4, address: ipv4 },
  { family: 6, address: ipv6 },
] as const;

async function check<T>(
  type: 'ping' | 'traceroute',
  host: string,
  options: object = {},
  { hide = false, names = {} }: { readonly hide?: boolean; readonly names?: Readonly<Record<string, string>> } = {},
): Promise<T> {
  return (await runner!.run({ type, host, options, hide, names })) as T;
}

/** The hops of `traceroute` itself: one address or null for each. */
async function traceroutesView(host: string, ...flags: readonly string[]): Promise<readonly (string | null)[]> {
  const { stdout } = await lab!.run('probe', 'traceroute', '-n', '-q', '1', '-w', '1', '-m', '8', ...flags, host);
  return [...stdout.matchAll(/^ ?\d+ {2}(\S+)/gm)].map(([, who]) => (who === '*' ? null : who!));
}

const ips = (outcome: Traceroute): readonly (string | null)[] => (outcome.hops ?? []).map(({ ip }) => ip);

describe.each(families)('in a network whose truth is known, over IPv$family', ({ family, address }) => {
  const target = address(4, 2);
  const path = [address(1, 2), address(2, 2), address(3, 2), target];

  itInNetlab('ping sees what the real one sees', async () => {
    const outcome = await check<Ping>('ping', target, { count: 3, interval: 200 });
    const { stdout } = await lab!.run('probe', 'ping', '-n', '-c', '3', '-i', '0.2', target);

    expect(stdout).toContain('3 packets transmitted, 3 received');
    expect(outcome).toMatchObject({ result: 'success', pingCount: 3, pingCompleted: 3, loss: 0 });
    for (const { ttl, from } of outcome.packets ?? []) {
      expect(from).toBe(target);
      expect(stdout).toContain(`ttl=${ttl ?? 61} `);
    }
  });

  itInNetlab('ping fails at once with who refused it, and why', async () => {
    const prohibited = await check<Ping>('ping', address(networks.prohibited, 1));
    const unreachable = await check<Ping>('ping', address(networks.unreachable, 1));
    const expired = await check<Ping>('ping', target, { ttl: 2 });

    expect(prohibited).toMatchObject({
      result: 'failure',
      error: { code: 'administratively_prohibited' },
      pingCount: 1,
    });
    expect(prohibited.error?.message).toContain(path[1]);
    expect(unreachable.error?.code).toBe(family === 4 ? 'host_unreachable' : 'network_unreachable');
    expect(unreachable.error?.message).toContain(path[2]);
    expect(expired).toMatchObject({ result: 'failure', error: { code: 'time_exceeded' } });
    expect(expired.error?.message).toContain(path[1]);
  });

  itInNetlab('ping fails with the MTU of the link that is too small, and not a byte below', async () => {
    const size = SMALL_MTU - (family === 4 ? 28 : 48);
    const fitting = await check<Ping>('ping', target, { size, count: 1 });
    const tooBig = await check<Ping>('ping', target, { size: size + 1 });

    expect(fitting).toMatchObject({ result: 'success', loss: 0 });
    expect(tooBig).toMatchObject({ result: 'failure', error: { code: 'packet_too_big', source: 'network' } });
    expect(tooBig.error?.message).toContain(path[2]);
    expect(tooBig.error?.message).toContain(String(SMALL_MTU));
  });

  for (const protocol of ['icmp', 'udp', 'tcp'] as const) {
    itInNetlab(`traceroute by ${protocol} finds each hop, each time, and the MTU of the path`, async () => {
      const outcome = await check<Traceroute>('traceroute', target, { protocol });

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

  itInNetlab('traceroute sees what the real one sees', async () => {
    expect(await traceroutesView(target, '-I')).toEqual(path);
    expect(await traceroutesView(address(networks.behindSilent, 99), '-I')).toEqual(
      ips(await check<Traceroute>('traceroute', address(networks.behindSilent, 99))),
    );
  });

  itInNetlab('traceroute keeps the place of a router that never says a word', async () => {
    const outcome = await check<Traceroute>('traceroute', address(networks.behindSilent, 99));

    expect(outcome).toMatchObject({ result: 'success', reached: true });
    expect(outcome.hops?.map(({ ip }) => ip === null)).toEqual([false, true, false, false]);
    expect(ips(outcome).at(-1)).toBe(address(networks.behindSilent, 99));
  });

  itInNetlab('traceroute ends at a filter and at a missing route', async () => {
    const prohibited = await check<Traceroute>('traceroute', address(networks.prohibited, 1));
    const unreachable = await check<Traceroute>('traceroute', address(networks.unreachable, 1));

    expect(prohibited).toMatchObject({
      result: 'failure',
      error: { code: 'administratively_prohibited' },
      reached: false,
    });
    expect(ips(prohibited)).toEqual(path.slice(0, 2));
    expect(prohibited.hops?.at(-1)?.icmp?.mark).toBe('!X');
    expect(unreachable).toMatchObject({ result: 'failure', reached: false });
    expect(unreachable.error?.code).toBe(family === 4 ? 'host_unreachable' : 'network_unreachable');
    expect(ips(unreachable)).toEqual(path.slice(0, 3));
  });

  itInNetlab('traceroute stops in a loop', async () => {
    const outcome = await check<Traceroute>('traceroute', address(networks.loop, 1));
    // Linux answers from the address towards the probe over IPv4, over IPv6 from that of the link the packet came by.
    const back = family === 4 ? path[1] : address(3, 1);
    const loop = family === 4 ? { start: 2, length: 2 } : { start: 3, length: 2 };

    expect(outcome).toMatchObject({ result: 'timeout', reached: false, loop });
    expect(ips(outcome)).toEqual([...path.slice(0, 3), back, path[2], ...(family === 4 ? [] : [back])]);
  });

  itInNetlab('traceroute stays on one way at a load balancer, and shows all ways with several flows', async () => {
    const one = await check<Traceroute>('traceroute', address(networks.diamond, 99), { protocol: 'udp', queries: 10 });
    const many = await check<Traceroute>('traceroute', address(networks.diamond, 99), {
      protocol: 'udp',
      flows: 16,
      queries: 1,
    });

    expect(one.hops?.map(({ responders }) => responders.length)).toEqual([1, 1, 1, 1]);
    expect(many).toMatchObject({ result: 'success', reached: true });
    expect(many.hops?.[1]?.responders.map(({ ip }) => ip).toSorted()).toEqual(
      [address(2, 2), address(7, 2)].toSorted(),
    );
  });

  itInNetlab('traceroute keeps private hops to itself, and names those that it shows', async () => {
    const hidden = await check<Traceroute>(
      'traceroute',
      target,
      {},
      { hide: true, names: { [path[0]!]: 'r1.example' } },
    );
    const shown = await check<Traceroute>('traceroute', target, {}, { names: { [path[0]!]: 'r1.example' } });

    expect(hidden.hops?.map(({ ip, private: isPrivate, hostname }) => [ip, isPrivate, hostname])).toEqual([
      [null, true, null],
      [null, true, null],
      [null, true, null],
      [target, false, null],
    ]);
    expect(shown.hops?.[0]).toMatchObject({ ip: path[0], hostname: 'r1.example' });
  });
});

describe('in a black hole', () => {
  itInNetlab('ping hears nothing and traceroute shows five silent hops', async () => {
    const both = families.map(async ({ address }) => {
      const host = address(networks.blackHole, 1);
      const [pinged, traced] = await Promise.all([
        check<Ping>('ping', host, { count: 1 }),
        check<Traceroute>('traceroute', host),
      ]);

      expect(pinged).toMatchObject({ result: 'timeout', error: { code: 'timed_out' }, pingCompleted: 0, loss: 1 });
      expect(traced).toMatchObject({ result: 'timeout', error: { code: 'timed_out' }, reached: false, loop: null });
      expect(ips(traced)).toEqual([address(1, 2), address(2, 2), null, null, null, null, null]);
    });
    await Promise.all(both);
  });
});
