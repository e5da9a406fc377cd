import { describe, expect, it } from '@jest/globals';
import { ruleErrors, type Place } from '@vantage/contract';

import { MAX_PACKETS, traceroute } from './contract.ts';
import { MAX_SPACED_PACKETS } from './options/spaced-results.ts';
import { FULL_QUERIES } from './probing/trace-state.ts';
import type { Hop } from './result-fields.ts';

const options = { protocol: 'icmp', maxHops: 30, queries: 3, flows: 1 } as const;
const who = { private: false, hostname: null, hostnameVerified: null, asn: null, asName: null };

describe('the contract of traceroute', () => {
  it.each([
    ['just enough', 64, 10, 1, 0],
    ['one flow too many', 30, 3, 8, 1],
    ['all at their maximum', 64, 10, 16, 1],
  ])('bounds the packets: %s', (_reason, maxHops, queries, flows, errors) => {
    const found = ruleErrors(traceroute, { host: 'a', options: { ...options, maxHops, queries, flows } });

    expect(found).toHaveLength(errors);
    for (const { path } of found) expect(path).toBe('/options');
  });

  it.each([
    ['icmp', 80, []],
    ['tcp', 25, [{ path: '/options/port', host: 'a.example', port: 25, purpose: 'tcp' }]],
    ['tcp', undefined, [{ path: '/options/port', host: 'a.example', port: 80, purpose: 'tcp' }]],
    ['udp', undefined, [{ path: '/options/port', host: 'a.example', port: 33_434, purpose: 'udp' }]],
  ] as const)('has the policy judge the port that is asked: %s, %s', (protocol, port, others) => {
    expect(
      traceroute.otherTargets?.({
        host: 'a.example',
        options: { ...options, protocol, ...(port === undefined ? {} : { port }) },
      }),
    ).toEqual(others);
  });

  it('refuses reflectors for udp alone', () => {
    const paths = (protocol: 'icmp' | 'udp' | 'tcp', port?: number): readonly string[] | undefined =>
      ruleErrors(traceroute, {
        host: 'a',
        options: { ...options, protocol, ...(port === undefined ? {} : { port }) },
      }).map(({ path }) => path);

    expect(paths('udp', 1_900)).toEqual(['/options/port']);
    expect(paths('udp', 53)).toEqual(['/options/port']);
    expect(paths('udp')).toEqual([]);
    expect(paths('tcp', 53)).toEqual([]);
  });

  it.each([
    ['a first hop beyond the last', { firstHop: 31 }, '/options/firstHop'],
    ['a first hop of a search for all paths', { firstHop: 2, flows: 'all' }, '/options/firstHop'],
    ['the size of a SYN', { protocol: 'tcp', size: 500 }, '/options/size'],
    ['a port to which echo requests cannot go', { port: 443 }, '/options/port'],
    ['a port of echo requests', { sourcePort: 5_000 }, '/options/sourcePort'],
    ['a port of all flows', { protocol: 'udp', flows: 'all', sourcePort: 5_000 }, '/options/sourcePort'],
    ['packets per hop of rounds', { queries: 5, rounds: 10 }, '/options/queries'],
    ['packets per hop of a search for all paths', { queries: 2, flows: 'all' }, '/options/queries'],
    ['no port for the last flow', { protocol: 'udp', flows: 2, sourcePort: 65_535 }, '/options/sourcePort'],
  ] as const)('refuses %s, by its field', (_reason, more, path) => {
    const found = ruleErrors(traceroute, { host: 'a', options: { ...options, ...more } });

    expect(found).toEqual([{ path, message: expect.stringMatching(/^must be /) }]);
  });

  it.each([{ rounds: 10 }, { flows: 'all' }] as const)(
    'names every number of packets per hop that it accepts: %j',
    (more) => {
      const [error] = ruleErrors(traceroute, { host: 'a', options: { ...options, queries: 2, ...more } });

      expect(error?.message).toMatch(/^must be 1, 3 \(the default\) or absent with /);
    },
  );

  it.each([1, 3])(
    'accepts %s packets per hop, the number sent or the default, with rounds and all flows',
    (queries) => {
      for (const more of [{ rounds: 10 }, { flows: 'all' }] as const) {
        expect(ruleErrors(traceroute, { host: 'a', options: { ...options, queries, ...more } })).toEqual([]);
      }
    },
  );

  it('has time and packets for those that follow a trace of several flows', () => {
    const of = (more: object) => {
      const params = { host: 'a', options: { ...options, maxHops: 10, queries: 1, ...more } };
      return { ms: traceroute.budgetMs(params), packets: traceroute.traffic(params).packets };
    };
    const [one, two, all] = [of({}), of({ flows: 2 }), of({ flows: 'all' })];

    expect(two.ms - one.ms).toBe(14_000);
    expect(all.ms).toBe(two.ms);
    expect(one.packets).toBe(10 + FULL_QUERIES + MAX_SPACED_PACKETS + 48);
    expect(two.packets - one.packets).toBe(10 + FULL_QUERIES);
    expect(all.packets).toBe(MAX_PACKETS);
  });

  it('counts the bytes of large packets, all packets to a silent target, and no hops that are not asked', () => {
    const traffic = (more: object) => traceroute.traffic({ host: 'a', options: { ...options, ...more } });

    expect(traffic({ size: 1_500 }).bytes - traffic({}).bytes).toBe(
      // Three ordinary echo requests may follow.
      2 * ((90 + FULL_QUERIES + MAX_SPACED_PACKETS) * (1_500 - 128) + 3 * 128),
    );
    expect(traffic({}).packets - traffic({ firstHop: 11 }).packets).toBe(30);
    expect(traffic({ dscp: 46 }).packets).toBe(traffic({}).packets + 3);
    // A trace never sends more than this, those with the full TTL included.
    expect(traffic({ maxHops: 4, queries: 10, flows: 16 }).packets).toBe(MAX_PACKETS);
  });

  it('adds networks to hops and responders that have an address, and changes nothing else', () => {
    const lookUp = (ip: string): Place => ({ asn: 'AS64500', asName: `net of ${ip}` }) as Place;
    const shown: Hop = {
      hop: 1,
      ip: '192.0.2.1',
      ...who,
      latency: 1,
      rtts: [1],
      responders: [
        { ip: '192.0.2.1', ...who, rtts: [1] },
        { ip: null, ...who, private: true, rtts: [] },
      ],
      mpls: [],
      icmp: null,
    };
    const masked: Hop = { ...shown, hop: 2, ip: null, private: true, responders: [] };
    const before = { hops: [shown, masked], reached: true };
    const after = traceroute.annotate?.(before, lookUp);

    expect(after?.hops?.[0]).toMatchObject({ asn: 'AS64500', asName: 'net of 192.0.2.1', latency: 1 });
    expect(after?.hops?.[0]?.responders.map(({ asn }) => asn)).toEqual(['AS64500', null]);
    expect(after?.hops?.[1]).toEqual(masked);
    expect(before.hops[0]?.asn).toBeNull();
    expect(traceroute.annotate?.({ reached: false }, lookUp)).toEqual({ reached: false });
  });
});
