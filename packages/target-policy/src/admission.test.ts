import type { Admission, AdmissionRequest } from '@vantage/contract';
import { afterEach, describe, expect, it } from '@jest/globals';

import { createAdmission, type AdmissionOptions } from './admission.ts';
import type { OwnAddresses } from './own/own-network.ts';
import { createTargetPolicy } from './rules/policy.ts';
import { createNameResolver } from './resolver/resolver.ts';
import {
  hastyResolver,
  patientResolver,
  refusingPort,
  startDnsServer,
  type DnsServer,
  type Zone,
} from '../test/dns-server.ts';

const nothingOwn: OwnAddresses = { addresses: [], onLink: [], gateways: [], resolvers: [] };
const never = new AbortController().signal;
const servers: DnsServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function serve(zone: Zone): Promise<DnsServer> {
  const server = await startDnsServer(zone);
  servers.push(server);
  return server;
}

/** A zone made of records by `A <name>` and `AAAA <name>`. A name that has only records of the other type is NODATA. */
function records(entries: Readonly<Record<string, readonly string[]>>): Zone {
  return (name, type) => {
    const found = entries[`${type} ${name}`];
    if (found !== undefined) return { records: found };
    return Object.keys(entries).some((key) => key.endsWith(` ${name}`)) ? { records: [] } : undefined;
  };
}

interface Overrides extends Partial<AdmissionOptions> {
  readonly server?: DnsServer;
}

async function ask(request: Partial<AdmissionRequest>, overrides: Overrides = {}): Promise<Admission> {
  const server = overrides.server ?? (await serve(() => undefined));
  const admit = createAdmission({
    policy: createTargetPolicy(),
    resolver: patientResolver(server),
    ownAddresses: () => nothingOwn,
    redis: () => [],
    haveIpv4: () => true,
    haveIpv6: () => true,
    lateAaaaMs: 60_000,
    ...overrides,
  });
  return admit({ host: 'site.example.com', purpose: 'icmp', ...request }, never);
}

const refused = { admitted: false, failure: { code: 'target_refused_by_policy', phase: 'resolve', source: 'probe' } };

describe('the broadcast address of an own network', () => {
  const policy = createTargetPolicy({ allow: ['192.0.2.0/24', '127.0.0.0/8'] });
  const onLink = ['192.0.2.0/25', '192.0.2.200/31', '127.0.0.0/8', '2001:db8::/64'];
  const ownAddresses = (): OwnAddresses => ({ ...nothingOwn, onLink });

  it.each(['192.0.2.127', '127.255.255.255'])('is refused though its network is allowed: %s', async (host) => {
    const admission = await ask({ host }, { policy, ownAddresses });

    expect(admission).toMatchObject({
      ...refused,
      failure: { message: expect.stringContaining(`${host} is the broadcast address`) },
    });
  });

  it.each(['192.0.2.126', '192.0.2.255', '192.0.2.201'])('is none of the other addresses: %s', async (host) => {
    expect(await ask({ host }, { policy, ownAddresses })).toMatchObject({ admitted: true });
  });
});

describe('the admission of a literal', () => {
  it('pins it without a question to anyone', async () => {
    const server = await serve(() => undefined);

    const admission = await ask({ host: '[2606:4700:0::1111]' }, { server });

    expect(admission).toEqual({
      admitted: true,
      target: {
        host: '2606:4700::1111',
        address: '2606:4700::1111',
        family: 6,
        addresses: ['2606:4700::1111'],
        resolveMs: 0,
      },
    });
    expect(server.questions).toEqual([]);
  });

  it.each([
    ['loopback', '127.0.0.1'],
    ['an odd form of loopback', '0x7f.1'],
    ['an odd form of a public address', '010.8.8.8'],
    ['a zone', '2606:4700::1%1'],
    ['metadata', '169.254.169.254'],
    ['an IPv4-mapped address', '::ffff:8.8.8.8'],
    ['circled digits', '①②⑦.⓪.⓪.①'],
  ])('refuses %s, without the coordinator', async (_reason, host) => {
    expect(await ask({ host })).toMatchObject(refused);
  });

  it('says why', async () => {
    expect(await ask({ host: '10.1.2.3' })).toMatchObject({
      failure: { message: '10.1.2.3 is in 10.0.0.0/8 (Private-Use, RFC 1918): private.' },
    });
  });

  it('says that the probe lacks the family', async () => {
    expect(await ask({ host: '2606:4700::1' }, { haveIpv6: () => false })).toMatchObject({
      failure: { code: 'family_unavailable', source: 'probe' },
    });
    expect(await ask({ host: '8.8.8.8' }, { haveIpv4: () => false })).toMatchObject({
      failure: { code: 'family_unavailable', source: 'probe' },
    });
  });

  it('says that it is of another family than asked for', async () => {
    expect(await ask({ host: '8.8.8.8', family: 6 })).toMatchObject({ failure: { code: 'dns_no_address' } });
  });

  it('needs no connectivity for loopback that an operator opened', async () => {
    const policy = createTargetPolicy({ allow: ['127.0.0.0/8', '::1'] });
    const offline = { policy, haveIpv4: () => false, haveIpv6: () => false };

    expect(await ask({ host: '127.0.0.1' }, offline)).toMatchObject({ admitted: true });
    expect(await ask({ host: '::1' }, offline)).toMatchObject({ admitted: true });
  });
});

describe('the admission of a name', () => {
  it('resolves it once and pins its first A record', async () => {
    const server = await serve(
      records({ 'A site.example.com': ['8.8.8.8', '8.8.4.4'], 'AAAA site.example.com': ['2606:4700::1'] }),
    );

    const admission = await ask({ host: 'Site.Example.Com.' }, { server });

    expect(admission).toMatchObject({
      admitted: true,
      target: {
        host: 'site.example.com',
        address: '8.8.8.8',
        family: 4,
        addresses: ['8.8.8.8', '8.8.4.4', '2606:4700::1'],
      },
    });
    expect(server.questions.toSorted()).toEqual(['A site.example.com', 'AAAA site.example.com']);
  });

  it.each([
    ['IPv6 where there is no A record', ['2606:4700::1'], [], true, undefined, '2606:4700::1'],
    ['IPv6 where the probe has no IPv4', ['2606:4700::1'], ['8.8.8.8'], false, undefined, '2606:4700::1'],
    ['IPv6 where it is asked for', ['2606:4700::1'], ['8.8.8.8'], true, 6, '2606:4700::1'],
    ['IPv4 where it is asked for', ['2606:4700::1'], ['8.8.8.8'], true, 4, '8.8.8.8'],
  ] as const)('pins %s', async (_reason, aaaa, a, hasIpv4, family, expected) => {
    const server = await serve(records({ 'A site.example.com': a, 'AAAA site.example.com': aaaa }));

    const admission = await ask({ family }, { server, haveIpv4: () => hasIpv4 });

    expect(admission).toMatchObject({ admitted: true, target: { address: expected } });
  });

  it('asks for the forced family alone', async () => {
    const server = await serve(records({ 'A site.example.com': ['8.8.8.8'] }));

    await ask({ family: 4 }, { server });

    expect(server.questions).toEqual(['A site.example.com']);
  });

  it('pins the answer that it judged, whatever the name resolves to a moment later', async () => {
    const server = await serve((_name, type, asked) =>
      type === 'A' ? { records: [asked === 1 ? '8.8.8.8' : '127.0.0.1'] } : { records: [] },
    );

    const admission = await ask({}, { server });

    expect(admission).toMatchObject({ admitted: true, target: { address: '8.8.8.8' } });
    expect(server.questions.filter((question) => question.startsWith('A '))).toHaveLength(1);
  });

  it('remembers no answer from one admission to the next', async () => {
    const server = await serve((_name, type, asked) =>
      type === 'A' ? { records: [asked === 1 ? '8.8.8.8' : '127.0.0.1'] } : { records: [] },
    );
    const resolver = patientResolver(server);

    expect(await ask({}, { server, resolver })).toMatchObject({ admitted: true });
    expect(await ask({}, { server, resolver })).toMatchObject(refused);
  });

  it.each([
    ['the only address is private', ['10.0.0.1'], []],
    ['one of two is loopback', ['8.8.8.8', '127.0.0.1'], []],
    ['the last of many is refused', ['8.8.8.8', '8.8.4.4', '1.1.1.1', '9.9.9.9', '0.0.0.0'], []],
    ['the AAAA record is refused and the A record would be used', ['8.8.8.8'], ['::1']],
    ['the A record is refused and the AAAA record is not', ['169.254.169.254'], ['2606:4700::1']],
    ['the AAAA record carries an IPv4 address', [], ['::ffff:8.8.8.8']],
    ['the AAAA record is a NAT64 one', [], ['64:ff9b::808:808']],
    ['the AAAA record is link-local', [], ['fe80::1']],
  ])('refuses the name where %s', async (_reason, a, aaaa) => {
    const server = await serve(records({ 'A site.example.com': a, 'AAAA site.example.com': aaaa }));

    const admission = await ask({}, { server });

    expect(admission).toMatchObject({ ...refused, addresses: [...a, ...aaaa] });
    expect(admission).toMatchObject({ failure: { message: expect.stringContaining('resolves to a refused address') } });
  });

  it.each([
    ['a special-use name', 'db.internal'],
    ['a metadata name', 'metadata.google.internal'],
    ['an unknown suffix', 'nas.fritzbox'],
    ['a name without a dot', 'localhost'],
    ['a control character', 'site.example.com\0'],
  ])('refuses %s before anything is asked', async (_reason, host) => {
    const server = await serve(() => ({ records: ['8.8.8.8'] }));

    expect(await ask({ host }, { server })).toMatchObject(refused);
    expect(server.questions).toEqual([]);
  });

  it('refuses a port before anything is asked', async () => {
    const server = await serve(() => ({ records: ['8.8.8.8'] }));

    expect(await ask({ purpose: 'tcp', port: 25 }, { server })).toMatchObject(refused);
    expect(await ask({ purpose: 'http', port: 6379 }, { server })).toMatchObject(refused);
    expect(await ask({ purpose: 'udp', port: 0 }, { server })).toMatchObject(refused);
    expect(await ask({ purpose: 'tcp' }, { server })).toMatchObject(refused);
    expect(server.questions).toEqual([]);
  });

  it.each([
    ['NXDOMAIN', { rcode: 3 }, { code: 'dns_nxdomain', source: 'target' }],
    ['no records', { records: [] }, { code: 'dns_no_address', source: 'target' }],
    ['SERVFAIL', { rcode: 2 }, { code: 'dns_resolver_failing', source: 'resolver' }],
    ['REFUSED', { rcode: 5 }, { code: 'dns_refused', source: 'resolver' }],
    ['NOTIMP', { rcode: 4 }, { code: 'dns_not_implemented', source: 'resolver' }],
    ['silence', { silent: true }, { code: 'timed_out', source: 'resolver' }],
  ])('tells what a resolver’s %s means', async (_reason, answer, failure) => {
    const server = await serve(() => answer);
    const resolver = 'silent' in answer ? hastyResolver(server) : patientResolver(server);

    expect(await ask({}, { server, resolver })).toMatchObject({
      admitted: false,
      failure: { ...failure, phase: 'resolve' },
      addresses: [],
    });
  });

  it('tells that no resolver can be reached', async () => {
    const server = await refusingPort();
    servers.push(server);

    expect(await ask({}, { server })).toMatchObject({
      failure: { code: 'dns_resolver_unreachable', phase: 'resolve', source: 'resolver' },
    });
  });

  it.each([
    ['the failure of one family over the other’s NODATA', { rcode: 2 }, { records: [] }, 'dns_resolver_failing'],
    ['in either order', { records: [] }, { rcode: 2 }, 'dns_resolver_failing'],
    ['NXDOMAIN over a failure', { rcode: 2 }, { rcode: 3 }, 'dns_nxdomain'],
  ])('tells %s', async (_reason, a, aaaa, code) => {
    const server = await serve((_name, type) => (type === 'A' ? a : aaaa));

    expect(await ask({}, { server })).toMatchObject({ failure: { code } });
  });

  it('says which family it asked for alone where the name has no address of it', async () => {
    const server = await serve(records({ 'AAAA site.example.com': ['2606:4700::1'] }));

    expect(await ask({ family: 4 }, { server })).toMatchObject({ failure: { code: 'dns_no_address', family: 4 } });
  });

  it('says that the probe lacks the only family of the name', async () => {
    const server = await serve(records({ 'AAAA site.example.com': ['2606:4700::1'] }));

    expect(await ask({}, { server, haveIpv6: () => false })).toMatchObject({
      failure: { code: 'family_unavailable', source: 'probe' },
      addresses: ['2606:4700::1'],
    });
  });

  it.each([
    ['A', 'AAAA', '2606:4700::1', { haveIpv6: () => false }],
    ['AAAA', 'A', '8.8.8.8', { haveIpv4: () => false }],
  ] as const)('does not call a family the only one if the %s question failed', async (failing, type, address, has) => {
    const server = await serve((_name, asked) => (asked === failing ? { rcode: 2 } : { records: [address] }));

    expect(await ask({}, { server, ...has })).toMatchObject({
      failure: { code: 'dns_resolver_failing', phase: 'resolve', source: 'resolver' },
      addresses: [address],
    });
    expect(server.questions).toContain(`${type} site.example.com`);
  });

  it('says that the name lacks the family asked for', async () => {
    const server = await serve(records({ 'A site.example.com': ['8.8.8.8'] }));

    expect(await ask({ family: 6 }, { server })).toMatchObject({ failure: { code: 'dns_no_address' } });
  });

  it('does not say that a name does not exist where the answer about AAAA alone says so (RFC 4074)', async () => {
    const server = await serve((name, type) =>
      name === 'site.example.com' && type === 'A' ? { records: ['8.8.8.8'] } : undefined,
    );

    expect(await ask({ family: 6 }, { server })).toMatchObject({ failure: { code: 'dns_no_address', family: 6 } });
    expect(await ask({ family: 6, host: 'gone.example.com' }, { server })).toMatchObject({
      failure: { code: 'dns_nxdomain' },
    });
  });

  it('uses the AAAA record where the A question fails', async () => {
    const server = await serve((_name, type) => (type === 'A' ? { rcode: 2 } : { records: ['2606:4700::1'] }));

    expect(await ask({}, { server })).toMatchObject({ admitted: true, target: { family: 6 } });
  });

  it('goes on with the A record where AAAA questions are never answered', async () => {
    const server = await serve((_name, type) => (type === 'A' ? { records: ['8.8.8.8'] } : { silent: true }));
    const resolver = createNameResolver({ servers: [server.address], timeoutMs: 60_000, tries: 9 });

    const admission = await ask({}, { server, resolver, lateAaaaMs: 50 });

    expect(admission).toMatchObject({ admitted: true, target: { addresses: ['8.8.8.8'] } });
  });
});

describe('the operator’s exceptions', () => {
  const local = createTargetPolicy({ allow: ['127.0.0.0/8', '192.0.2.0/24'] });

  it('open an address, as a literal and behind a name', async () => {
    const server = await serve(records({ 'A site.example.com': ['127.0.0.1'] }));

    expect(await ask({ host: '127.0.0.1' }, { policy: local })).toMatchObject({ admitted: true });
    expect(await ask({}, { server, policy: local })).toMatchObject({
      admitted: true,
      target: { address: '127.0.0.1' },
    });
  });

  it('open no name and no port', async () => {
    expect(await ask({ host: 'app.localhost' }, { policy: local })).toMatchObject(refused);
    expect(await ask({ host: '127.0.0.1', purpose: 'tcp', port: 25 }, { policy: local })).toMatchObject(refused);
  });

  it('do not open the other addresses of a name', async () => {
    const server = await serve(records({ 'A site.example.com': ['127.0.0.1', '10.0.0.1'] }));

    expect(await ask({}, { server, policy: local })).toMatchObject(refused);
  });

  it('open listed names, with or without a dot', async () => {
    const policy = createTargetPolicy({ allow: ['127.0.0.0/8'], allowNames: ['localhost'] });
    const server = await serve((_name, type) => ({ records: type === 'A' ? ['127.0.0.1'] : [] }));

    expect(await ask({ host: 'localhost' }, { server, policy })).toMatchObject({ admitted: true });
    expect(await ask({ host: 'app.localhost' }, { server, policy })).toMatchObject({ admitted: true });
  });

  it('beat the agent’s own lists', async () => {
    const ownAddresses = (): OwnAddresses => ({ ...nothingOwn, addresses: ['192.0.2.7'], onLink: ['192.0.2.0/24'] });

    expect(await ask({ host: '192.0.2.7' }, { policy: local, ownAddresses })).toMatchObject({ admitted: true });
  });
});

describe('the agent’s own surroundings', () => {
  const own: OwnAddresses = {
    addresses: ['198.41.0.4'],
    onLink: ['193.0.14.0/24', '2001:500::/48'],
    gateways: ['192.5.5.241'],
    resolvers: ['9.9.9.9'],
    others: ['199.7.83.42', '2606:4700:64::/96'],
  };

  it.each([
    ['an own address', '198.41.0.4'],
    ['a neighbour', '193.0.14.129'],
    ['an IPv6 neighbour', '2001:500::53'],
    ['a gateway', '192.5.5.241'],
    ['a resolver', '9.9.9.9'],
    ['another part of the service', '199.7.83.42'],
    ['what a NAT64 of the network translates', '2606:4700:64::a00:1'],
  ])('are refused: %s', async (_reason, host) => {
    expect(await ask({ host }, { ownAddresses: () => own })).toMatchObject({
      ...refused,
      failure: { message: 'The target belongs to this probe or to its own network.' },
    });
  });

  it('do not include the rest of the world', async () => {
    expect(await ask({ host: '198.41.0.5' }, { ownAddresses: () => own })).toMatchObject({ admitted: true });
  });

  it('are refused behind a name', async () => {
    const server = await serve(records({ 'A site.example.com': ['8.8.8.8', '198.41.0.4'] }));

    expect(await ask({}, { server, ownAddresses: () => own })).toMatchObject(refused);
  });

  it('let a caller name the agent’s public resolver for a dns check', async () => {
    const request = { host: '9.9.9.9', purpose: 'dns', port: 53 } as const;

    expect(await ask(request, { ownAddresses: () => own })).toMatchObject({ admitted: true });
  });

  it('are asked again at each admission', async () => {
    const lists = [own, nothingOwn];
    const admit = createAdmission({
      policy: createTargetPolicy(),
      resolver: createNameResolver({ servers: ['127.0.0.1:9'] }),
      ownAddresses: () => lists.shift()!,
      redis: () => [],
      haveIpv4: () => true,
      haveIpv6: () => true,
    });

    expect(await admit({ host: '198.41.0.4', purpose: 'icmp' }, never)).toMatchObject({ admitted: false });
    expect(await admit({ host: '198.41.0.4', purpose: 'icmp' }, never)).toMatchObject({ admitted: true });
  });

  it('refuse everything rather than skip an entry that cannot be read', async () => {
    const ownAddresses = (): OwnAddresses => ({ ...nothingOwn, gateways: ['fe80::1%eth0'] });

    await expect(ask({ host: '8.8.8.8' }, { ownAddresses })).rejects.toThrow('not an address or CIDR');
  });
});

describe('the agent’s Redis', () => {
  const everything = createTargetPolicy({
    allow: ['0.0.0.0/0', '::/0'],
    allowNames: ['localhost', 'redis', 'com'],
    dangerouslyAllowLinkLocalAndMetadata: true,
  });
  const ownAddresses = (): OwnAddresses => ({ ...nothingOwn, addresses: ['192.0.2.7', '2001:db8::7'] });
  const tcp = (host: string, port = 6379): Partial<AdmissionRequest> => ({ host, port, purpose: 'tcp' });

  it.each([
    ['by its address', '10.0.0.5', '10.0.0.5'],
    ['in an IPv4-mapped address', '10.0.0.5', '::ffff:10.0.0.5'],
    ['behind NAT64', '10.0.0.5', '64:ff9b::10.0.0.5'],
    ['where its own address is a mapped one', '::ffff:10.0.0.5', '10.0.0.5'],
    ['on loopback', '127.0.0.1', '127.0.0.1'],
    ['elsewhere on loopback', '127.0.0.1', '127.9.9.9'],
    ['at the unspecified address, which is loopback', '127.0.0.1', '0.0.0.0'],
    ['at the IPv6 unspecified address', '127.0.0.1', '::'],
    ['on IPv6 loopback', '127.0.0.1', '::1'],
    ['on mapped loopback', '127.0.0.1', '::ffff:127.0.0.1'],
    ['at an address of the machine', '127.0.0.1', '192.0.2.7'],
    ['at an IPv6 address of the machine', '127.0.0.1', '2001:db8::7'],
    ['on loopback where it is at an address of the machine', '192.0.2.7', '127.0.0.1'],
    ['on loopback where it is named localhost', 'localhost', '127.0.0.1'],
    ['by its name', 'redis', 'redis'],
    ['by its name in another case', 'Redis.Example.COM', 'redis.example.com'],
  ])('stays closed whatever is allowed: %s', async (_reason, redis, host) => {
    const options = { policy: everything, ownAddresses, redis: () => [{ host: redis, port: 6379 }] };

    expect(await ask(tcp(host), options)).toMatchObject(refused);
  });

  it('stays closed behind another name', async () => {
    const server = await serve((_name, type) => ({ records: type === 'A' ? ['10.0.0.5'] : [] }));
    const redis = (): readonly { host: string; port: number }[] => [{ host: '10.0.0.5', port: 6379 }];

    expect(await ask(tcp('site.example.com'), { server, policy: everything, redis })).toMatchObject(refused);
  });

  it('is closed from the moment in which its address is learnt', async () => {
    const known: { host: string; port: number }[] = [];
    const admit = createAdmission({
      policy: everything,
      resolver: createNameResolver({ servers: ['127.0.0.1:9'] }),
      ownAddresses: () => nothingOwn,
      redis: () => known,
      haveIpv4: () => true,
      haveIpv6: () => true,
    });
    const request = { host: '10.0.0.5', purpose: 'tcp', port: 6379 } as const;

    expect(await admit(request, never)).toMatchObject({ admitted: true });
    known.push({ host: '10.0.0.5', port: 6379 });
    expect(await admit(request, never)).toMatchObject({ admitted: false });
  });

  it('leaves other ports and machines to the allowance', async () => {
    const options = { policy: everything, ownAddresses, redis: () => [{ host: '127.0.0.1', port: 6379 }] };

    expect(await ask(tcp('127.0.0.1', 6380), options)).toMatchObject({ admitted: true });
    expect(await ask(tcp('10.0.0.5'), options)).toMatchObject({ admitted: true });
    expect(await ask({ host: '127.0.0.1' }, options)).toMatchObject({ admitted: true });
  });

  it.each([
    ['an address', '8.8.8.8', '8.8.8.8'],
    ['an IPv6 address in brackets', '[2606:4700::1]', '2606:4700::1'],
  ])('is refused on every port where nothing is allowed: %s', async (_reason, redis, host) => {
    const options = { redis: () => [{ host: redis, port: 6379 }] };

    expect(await ask(tcp(host, 443), options)).toMatchObject(refused);
  });
});

describe('an admission that is given up', () => {
  it.each([
    ['a name', 'site.example.com'],
    ['a literal', '8.8.8.8'],
  ])('rejects with the reason of the signal before it begins: %s', async (_reason, host) => {
    const server = await serve(() => ({ records: ['8.8.8.8'] }));
    const admit = createAdmission({
      policy: createTargetPolicy(),
      resolver: createNameResolver({ servers: [server.address] }),
      ownAddresses: () => nothingOwn,
      redis: () => [],
      haveIpv4: () => true,
      haveIpv6: () => true,
    });
    const reason = new Error('deadline');

    await expect(admit({ host, purpose: 'icmp' }, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(server.questions).toEqual([]);
  });

  it('rejects with the reason of the signal while it waits for a resolver', async () => {
    const controller = new AbortController();
    const reason = new Error('deadline');
    const server = await serve(() => {
      controller.abort(reason);
      return { silent: true };
    });
    const admit = createAdmission({
      policy: createTargetPolicy(),
      resolver: createNameResolver({ servers: [server.address], timeoutMs: 60_000 }),
      ownAddresses: () => nothingOwn,
      redis: () => [],
      haveIpv4: () => true,
      haveIpv6: () => true,
    });

    await expect(admit({ host: 'site.example.com', purpose: 'icmp' }, controller.signal)).rejects.toBe(reason);
  });

  it('rejects with the reason of the signal while it waits for the AAAA answer alone', async () => {
    const controller = new AbortController();
    const reason = new Error('deadline');
    const server = await serve((_name, type) => {
      if (type === 'AAAA') setTimeout(() => controller.abort(reason), 50);
      return type === 'A' ? { records: [] } : { silent: true };
    });
    const admit = createAdmission({
      policy: createTargetPolicy(),
      resolver: createNameResolver({ servers: [server.address], timeoutMs: 60_000 }),
      ownAddresses: () => nothingOwn,
      redis: () => [],
      haveIpv4: () => true,
      haveIpv6: () => true,
    });

    await expect(admit({ host: 'site.example.com', purpose: 'icmp' }, controller.signal)).rejects.toBe(reason);
  });
});
