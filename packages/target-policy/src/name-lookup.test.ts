import { afterEach, describe, expect, it } from '@jest/globals';

import { createNameLookup } from './name-lookup.ts';
import { hastyResolver, patientResolver, startDnsServer, type DnsServer, type Zone } from '../test/dns-server.ts';
import type { Answer } from '../test/dns-message.ts';

const never = new AbortController().signal;
const servers: DnsServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function lookUp(
  zone: Zone,
  showPrivateAddresses = false,
  makeResolver = patientResolver,
): Promise<ReturnType<typeof createNameLookup> & { readonly questions: readonly string[] }> {
  const server = await startDnsServer(zone);
  servers.push(server);
  const resolver = makeResolver(server);
  return { ...createNameLookup({ resolver, showPrivateAddresses }), questions: server.questions };
}

describe('the names of an address', () => {
  it('are its PTR records', async () => {
    const names = await lookUp(() => ({ records: ['dns.example.com', 'other.example.com'] }));

    expect(await names.reverse('8.8.4.4', never)).toEqual(['dns.example.com', 'other.example.com']);
    expect(names.questions).toEqual(['PTR 4.4.8.8.in-addr.arpa']);
  });

  it('are asked for under ip6.arpa', async () => {
    const names = await lookUp(() => ({ records: ['dns.example.com'] }));

    expect(await names.reverse('2606:4700::1', never)).toEqual(['dns.example.com']);
    expect(names.questions).toEqual([`PTR 1.${'0.'.repeat(23)}0.0.7.4.6.0.6.2.ip6.arpa`]);
  });

  it('are bounded in number', async () => {
    const records = Array.from({ length: 12 }, (_, index) => `h${index}.example.com`);
    const names = await lookUp(() => ({ records }));

    expect(await names.reverse('8.8.4.4', never)).toHaveLength(8);
  });

  it('hold no control character', async () => {
    const names = await lookUp(() => ({ records: ['a\u001b[31m\n.example.com'] }));

    const [name] = await names.reverse('8.8.4.4', never);
    expect(name).toMatch(/^a.*\.example\.com$/);
    expect(name).not.toMatch(/\p{Cc}/u);
  });

  it('are in the form in which DNS answers are shown: a blank is escaped', async () => {
    const names = await lookUp(() => ({ records: ['evil name.example.com', 'tab\there.example.com'] }));

    expect(await names.reverse('8.8.4.4', never)).toEqual([
      String.raw`evil\032name.example.com`,
      String.raw`tab\009here.example.com`,
    ]);
  });

  it('are bounded in length, however much their escapes take', async () => {
    const label = '\u001b'.repeat(60);
    const names = await lookUp(() => ({ records: [`${label}.${label}.${label}.com`] }));

    const [name] = await names.reverse('8.8.4.4', never);

    expect(name).toHaveLength(255);
    expect(name).toMatch(/…$/);
  });

  it.each([
    ['NXDOMAIN', { rcode: 3 }],
    ['SERVFAIL', { rcode: 2 }],
    ['silence', { silent: true }],
  ])('are none after %s', async (_reason, answer) => {
    const names = await lookUp(() => answer, false, 'silent' in answer ? hastyResolver : patientResolver);

    expect(await names.reverse('8.8.4.4', never)).toEqual([]);
  });

  it('are none for what is no address', async () => {
    const names = await lookUp(() => ({ records: ['x.example.com'] }));

    expect(await names.reverse('127.1', never)).toEqual([]);
    expect(names.questions).toEqual([]);
  });

  it('are none, and not asked for, where the address is private and masked', async () => {
    const names = await lookUp(() => ({ records: ['core-1.example.com'] }));

    expect(await names.reverse('10.0.0.1', never)).toEqual([]);
    expect(names.questions).toEqual([]);
  });

  it('are asked for where the operator shows private addresses', async () => {
    const names = await lookUp(() => ({ records: ['core-1.example.com'] }), true);

    expect(await names.reverse('10.0.0.1', never)).toEqual(['core-1.example.com']);
  });

  it('are none when the look-up is given up', async () => {
    const names = await lookUp(() => ({ records: ['dns.example.com'] }));

    expect(await names.reverse('8.8.4.4', AbortSignal.abort())).toEqual([]);
  });
});

describe('the addresses of a name', () => {
  it('are its A or its AAAA records', async () => {
    const names = await lookUp((_name, type) => ({ records: type === 'A' ? ['8.8.4.4'] : ['2606:4700::1'] }));

    expect(await names.forward('DNS.example.com.', 4, never)).toEqual(['8.8.4.4']);
    expect(await names.forward('DNS.example.com.', 6, never)).toEqual(['2606:4700::1']);
  });

  it.each([
    ['a special-use name', 'db.internal'],
    ['an unknown suffix', 'nas.fritzbox'],
    ['an address', '8.8.8.8'],
    ['an odd form', '8.8.8.8.'],
    ['an escaped character', 'a\\000b.example.com'],
  ])('are unknown, and not asked for, for %s', async (_reason, name) => {
    const names = await lookUp(() => ({ records: ['8.8.4.4'] }));

    expect(await names.forward(name, 4, never)).toBeNull();
    expect(names.questions).toEqual([]);
  });

  it.each<[string, Answer, readonly string[] | null]>([
    ['NXDOMAIN', { rcode: 3 }, []],
    ['NODATA', {}, []],
    ['SERVFAIL', { rcode: 2 }, null],
    ['REFUSED', { rcode: 5 }, null],
    ['silence', { silent: true }, null],
    ['a broken message', { garbage: true }, null],
  ])('are none only by an answer that says so: %s', async (_reason, answer, addresses) => {
    const names = await lookUp(() => answer, false, answer.silent === true ? hastyResolver : patientResolver);

    expect(await names.forward('dns.example.com', 4, never)).toEqual(addresses);
  });

  it('are unknown when the look-up is given up', async () => {
    const names = await lookUp(() => ({ records: ['8.8.4.4'] }));

    expect(await names.forward('dns.example.com', 4, AbortSignal.abort())).toBeNull();
  });
});
