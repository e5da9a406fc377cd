import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { createAdmission } from '../admission.ts';
import { evaluateTarget, type TargetRequest } from './evaluate-target.ts';
import { createTargetPolicy } from './policy.ts';
import { patientResolver, startDnsServer, type DnsServer } from '../../test/dns-server.ts';

const deny = ['example.net', '8.8.8.0/24', '2606:4700::/32', '9.9.9.9'];
/** A denied part of an allowed range stays denied. */
const policy = createTargetPolicy({ deny, allow: ['8.8.0.0/16'], allowNames: ['example.net'] });

const zone: Readonly<Record<string, string>> = {
  'A a.example.com': '8.8.8.77',
  'A open.example.com': '8.8.4.4',
  'A both.example.com': '1.1.1.1',
  'AAAA both.example.com': '2606:4700::1',
  'A www.example.net': '1.1.1.1',
};

let server: DnsServer;

beforeAll(async () => {
  server = await startDnsServer((name, type) => {
    const record = zone[`${type} ${name}`];
    return record === undefined ? { records: [] } : { records: [record] };
  });
});

afterAll(() => server.stop());

const target = (hostKind: TargetRequest['hostKind'], host: string): TargetRequest => ({
  hostKind,
  host,
  purpose: hostKind === 'url' ? 'http' : 'icmp',
});

describe('the deny list of an operator', () => {
  it.each([
    ['a domain', target('host', 'example.net'), 'refused'],
    ['a name below it', target('host', 'a.b.Example.NET.'), 'refused'],
    ['a URL below it', target('url', 'https://www.example.net:8443/x'), 'refused'],
    ['a name below it to ask about', target('name', 'www.example.net'), 'refused'],
    ['a name that only ends alike', target('host', 'notexample.net'), 'accepted'],
    ['an address', target('host', '9.9.9.9'), 'refused'],
    ['one in a prefix', target('host', '8.8.8.8'), 'refused'],
    ['one next to it', target('host', '8.8.9.8'), 'accepted'],
    ['one of IPv6', target('host', '2606:4700::1111'), 'refused'],
    ['the same as IPv4 in IPv6', target('host', '::ffff:8.8.8.8'), 'refused'],
    ['a URL of an address', target('url', 'http://[2606:4700::1]/'), 'refused'],
    ['the reverse of an address to ask about', target('name', '8.8.8.8.in-addr.arpa'), 'refused'],
  ] as const)('has %s judged early', (_reason, request, verdict) => {
    expect(evaluateTarget(request, policy).verdict).toBe(verdict);
  });

  it.each([
    ['www.example.net', false],
    ['a.example.com', false],
    ['both.example.com', false],
    ['open.example.com', true],
    ['8.8.8.8', false],
    ['2606:4700::1', false],
  ])('has %s judged again where packets leave, resolved: admitted %s', async (host, admitted) => {
    const admit = createAdmission({
      policy,
      resolver: patientResolver(server),
      lateAaaaMs: 60_000,
      ownAddresses: () => ({ addresses: [], onLink: [], gateways: [], resolvers: [] }),
      redis: () => [],
      haveIpv4: () => true,
      haveIpv6: () => true,
    });

    const admission = await admit({ host, purpose: 'icmp' }, new AbortController().signal);

    expect(admission.admitted).toBe(admitted);
    if (!admission.admitted) {
      expect(admission.failure).toMatchObject({
        code: 'target_refused_by_policy',
        message: expect.stringContaining('The operator of this service does not let'),
      });
    }
  });
});
