import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Probes } from '@vantage/contract';

import { post, startHttpBed, type HttpBed } from '../../../test/http-bed.ts';
import { exampleProbe } from '../openapi/example-values.ts';

const probe = (offers: readonly string[] | undefined, families: object = {}): object => {
  const { offers: _offers, capabilities, ...rest } = exampleProbe;
  return { ...rest, capabilities: { ...(capabilities as object), ...families }, ...(offers && { offers }) };
};

const probes = {
  'fra-1': probe(['203.0.113.5', '2001:db8:f::5']),
  'nyc-1': probe(['198.51.100.9', '2001:db8:a::9']),
  'old-1': { ...probe(['192.0.2.7']), capabilities: null },
  'six-1': probe(['2001:db8:6::6']),
  'hut-1': probe(undefined),
  'lan-1': probe(['10.0.0.1']),
  'blind-1': probe(['192.0.2.8', '2001:db8:b::8'], { ipv4: false }),
} as unknown as Probes;

let bed: HttpBed;

beforeEach(async () => {
  bed = await startHttpBed({
    probes: { list: async () => probes, agents: async () => ({}), metricsAddresses: async () => new Map() },
  });
});

afterEach(() => bed.close());

const between = (...ids: readonly string[]): object => ({ type: 'traceroute', between: ids });

describe('a check between two probes', () => {
  it('gives each of them an address of the other', async () => {
    const answer = await bed.ask('/check', post(between('fra-1', 'nyc-1')));

    expect(answer.status).toBe(202);
    expect(bed.created).toMatchObject([
      { submittedHost: 'fra-1 ↔ nyc-1', between: ['fra-1', 'nyc-1'], probes: ['fra-1', 'nyc-1'] },
    ]);
    expect([...bed.created[0]!.hosts!]).toEqual([
      ['fra-1', '198.51.100.9'],
      ['nyc-1', '203.0.113.5'],
    ]);
  });

  it.each([
    ['IPv6 if it is asked for', between('fra-1', 'nyc-1'), 6, ['2001:db8:a::9', '2001:db8:f::5']],
    ['the only family that both offer', between('fra-1', 'six-1'), undefined, ['2001:db8:6::6', '2001:db8:f::5']],
    ['the family in which both can trace', between('fra-1', 'blind-1'), undefined, ['2001:db8:b::8', '2001:db8:f::5']],
    [
      'a probe whose agent says nothing of its families',
      between('fra-1', 'old-1'),
      undefined,
      ['192.0.2.7', '203.0.113.5'],
    ],
  ])('takes %s', async (_what, body, family, hosts) => {
    const answer = await bed.ask('/check', post({ ...body, ...(family && { options: { family } }) }));

    expect(answer.status).toBe(202);
    expect([...bed.created[0]!.hosts!.values()]).toEqual(hosts);
  });

  it.each([
    ['one probe', between('fra-1'), '/between', 'must have at least 2 items'],
    ['three probes', between('fra-1', 'nyc-1', 'six-1'), '/between', 'must have at most 2 items'],
    ['a probe twice', between('fra-1', 'fra-1'), '/between', 'must not have the same item twice'],
    ['a text', { type: 'traceroute', between: 'fra-1,nyc-1' }, '/between', 'must be an array'],
    ['an id of an odd form', between('fra-1', 'NYC 1'), '/between/1', 'must be 1 to 63 lower-case letters'],
    ['an unknown probe', between('fra-1', 'par-1'), '/between/1', 'there is no probe "par-1"'],
    ['an id mistyped', between('fra-1', 'nyc1'), '/between/1', 'no probe "nyc1"; did you mean "nyc-1"?'],
    ['a name that every object has', between('constructor', 'fra-1'), '/between/0', 'there is no probe "constructor"'],
    ['a probe without an offer', between('hut-1', 'fra-1'), '/between/0', 'hut-1 offers no address'],
    ['families that do not meet', between('old-1', 'six-1'), '/between', 'old-1 IPv4, six-1 IPv6'],
    [
      'a family that one does not offer',
      { ...between('fra-1', 'six-1'), options: { family: 4 } },
      '/options/family',
      'fra-1 IPv4 and IPv6, six-1 IPv6',
    ],
    [
      'both families',
      { ...between('fra-1', 'nyc-1'), options: { family: 'both' } },
      '/options/family',
      'must be 4 or 6',
    ],
    [
      'a host as well',
      { ...between('fra-1', 'nyc-1'), host: 'a.example' },
      '/host',
      'cannot be combined with `between`',
    ],
    ['probes as well', { ...between('fra-1', 'nyc-1'), probes: ['fra-1'] }, '/probes', 'cannot be combined'],
    ['locations as well', { ...between('fra-1', 'nyc-1'), locations: ['de'] }, '/locations', 'cannot be combined'],
    ['a limit as well', { ...between('fra-1', 'nyc-1'), limit: 2 }, '/limit', 'cannot be combined'],
    ['neither host nor probes', { type: 'traceroute' }, '/host', 'is required, unless there is `between`'],
    ['another type', { type: 'ping', between: ['fra-1', 'nyc-1'] }, '/between', 'is of traceroute only, not of ping'],
    [
      'a port that is no target of traces',
      { ...between('fra-1', 'nyc-1'), options: { protocol: 'udp', port: 53 } },
      '/options/port',
      'No datagrams of a trace go to port 53',
    ],
  ])('refuses %s, and says where', async (_what, body, path, message) => {
    const answer = await bed.ask('/check', post(body));

    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      errors: expect.arrayContaining([{ path, message: expect.stringContaining(message) }]),
    });
    expect(bed.created).toEqual([]);
  });

  it('refuses an address that the policy refuses, and names the probe', async () => {
    const answer = await bed.ask('/check', post(between('fra-1', 'lan-1')));

    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ detail: expect.stringMatching(/^\/between\/1: 10\.0\.0\.1 is in/) });
    expect(bed.created).toEqual([]);
  });

  it('counts each address as a target of one probe', async () => {
    await bed.close();
    const list = async (): Promise<Probes> => probes;
    const targetLimits = { target: 1, targetPorts: 1e6, clientTargets: 1e6, costs: new Map([['traceroute', 1]]) };
    bed = await startHttpBed({
      probes: { list, agents: async () => ({}), metricsAddresses: async () => new Map() },
      targetLimits,
    });
    const body = { ...between('fra-1', 'nyc-1'), options: { maxHops: 1, queries: 1 } };
    const first = await bed.ask('/check', post(body));
    const again = await bed.ask('/check', post(body));

    expect([first.status, again.status]).toEqual([202, 429]);
    expect(again.json).toMatchObject({ detail: expect.stringMatching(/198\.51\.100\.|203\.0\.113\./) });
  });
});
