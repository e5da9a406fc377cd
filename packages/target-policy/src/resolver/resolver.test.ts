import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, it } from '@jest/globals';

import { createNameResolver, type NameResolver } from './resolver.ts';
import { encodeDnsName, RA, type Answer, type RawRecord } from '../../test/dns-message.ts';
import { patientResolver, refusingPort, startDnsServer, type DnsServer, type Zone } from '../../test/dns-server.ts';

const never = new AbortController().signal;
const servers: DnsServer[] = [];

afterAll(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function serve(zone: Zone): Promise<DnsServer> {
  const server = await startDnsServer(zone);
  servers.push(server);
  return server;
}

describe('the resolver', () => {
  it('reads no hosts file and adds no search list', async () => {
    const server = await serve(() => undefined);
    const resolver = patientResolver(server);

    const answer = await resolver.addresses('localhost', 4, never);

    expect(answer).toMatchObject({
      ok: false,
      failure: { code: 'dns_nxdomain', message: expect.stringMatching(/^localhost /) },
    });
    expect(server.questions).toEqual(['A localhost']);
  });

  it('gives addresses in canonical text and in the order of the answer', async () => {
    const server = await serve(() => ({ records: ['2606:4700:0:0:0:0:0:2', '::1.2.3.4', '2606:4700::1'] }));
    const resolver = patientResolver(server);

    expect(await resolver.addresses('site.example.com', 6, never)).toEqual({
      ok: true,
      addresses: ['2606:4700::2', '::102:304', '2606:4700::1'],
    });
  });

  it('takes the second server where the first is silent', async () => {
    const silent = await serve(() => ({ silent: true }));
    const server = await serve(() => ({ records: ['8.8.8.8'] }));
    const resolver = createNameResolver({ servers: [silent.address, server.address], timeoutMs: 100, tries: 9 });

    expect(await resolver.addresses('site.example.com', 4, never)).toMatchObject({ ok: true });
    expect(silent.questions.length).toBeGreaterThan(0);
  });

  it.each([
    ['refuses', 5],
    ['does not support the question', 4],
  ])('says that a server fails behind another that %s', async (_what, rcode) => {
    const first = await serve(() => ({ rcode }));
    const failing = await serve((name) => (name === 'site.example.com' ? { rcode: 2 } : undefined));
    const resolver = createNameResolver({ servers: [first.address, failing.address] });

    expect(await resolver.addresses('site.example.com', 4, never)).toMatchObject({
      ok: false,
      failure: { code: 'dns_servfail', source: 'resolver' },
    });
  });

  it('says that a server that fails for another name, too, may fail for every name', async () => {
    const failing = await serve(() => ({ rcode: 2 }));
    const resolver = createNameResolver({ servers: [failing.address] });

    expect(await resolver.addresses('site.example.com', 4, never)).toMatchObject({
      ok: false,
      failure: { code: 'dns_resolver_failing', source: 'resolver' },
    });
    expect(new Set(failing.questions).size).toBe(2);
  });

  it('asks a server last that was silent where another one answered', async () => {
    const asked: string[] = [];
    const silent = await serve(() => (asked.push('silent'), { silent: true }));
    const server = await serve(() => (asked.push('answering'), { records: ['8.8.8.8'] }));
    const resolver = createNameResolver({ servers: [silent.address, server.address], timeoutMs: 100, tries: 9 });

    await resolver.addresses('site.example.com', 4, never);
    const before = asked.splice(0);
    await resolver.addresses('site.example.com', 4, never);

    expect([before[0], asked[0]]).toEqual(['silent', 'answering']);
  });

  it('says that an answer was no DNS message', async () => {
    const server = await serve(() => ({ garbage: true }));
    const resolver = patientResolver(server);

    expect(await resolver.addresses('site.example.com', 4, never)).toMatchObject({
      ok: false,
      failure: { code: 'dns_bad_response', phase: 'resolve', source: 'resolver' },
    });
  });

  it('refuses a server that is no address when it is made', () => {
    expect(() => createNameResolver({ servers: ['resolver.example.com'] })).toThrow('resolver.example.com');
  });

  it('gives up one question and leaves another alone', async () => {
    const controller = new AbortController();
    const server = await serve((name) => {
      if (name === 'given.example.com') controller.abort(new Error('given up'));
      return { records: ['8.8.8.8'], delayMs: 50 };
    });
    const resolver = patientResolver(server);

    const kept = resolver.addresses('kept.example.com', 4, never);
    const given = resolver.addresses('given.example.com', 4, controller.signal);

    await expect(given).rejects.toThrow('given up');
    expect(await kept).toMatchObject({ ok: true });
  });
});

const site = 'site.example.com';
const bytes = (text: string): Buffer => Buffer.from(text, 'hex');
const a = (data: Buffer, owner = site): RawRecord => ({ owner, type: 1, data });
const cname = (owner: string, target: string): RawRecord => ({ owner, type: 5, data: encodeDnsName(target) });

describe('an answer', () => {
  it.each<[string, 4 | 6, RawRecord[]]>([
    ['an A record of 8 octets', 4, [a(bytes('0101010108080808'))]],
    ['an A record of 3 octets', 4, [a(bytes('010101'))]],
    ['an A record of none', 4, [a(bytes(''))]],
    ['an A record of 8 octets behind a good one', 4, [a(bytes('08080808')), a(bytes('0101010108080808'))]],
    ['an AAAA record of 4 octets', 6, [{ owner: site, type: 28, data: bytes('08080808') }]],
    ['an AAAA record of 20 octets', 6, [{ owner: site, type: 28, data: Buffer.alloc(20, 0x26) }]],
    [
      'an alias with octets behind the name',
      4,
      [{ owner: site, type: 5, data: Buffer.concat([encodeDnsName('a'), bytes('00')]) }],
    ],
  ])('with %s is malformed, and no address of it is taken', async (_what, family, raw) => {
    const server = await serve(() => ({ raw }));

    expect(await patientResolver(server).addresses(site, family, never)).toMatchObject({
      ok: false,
      failure: { code: 'dns_bad_response', phase: 'resolve', source: 'resolver' },
    });
  });

  it.each<[string, Answer, string, 'target' | 'resolver']>([
    [
      'the address of another name',
      { raw: [a(bytes('08080808'), 'evil.example.net')] },
      'dns_bad_response',
      'resolver',
    ],
    [
      'aliases in a circle',
      { raw: [cname(site, 'b.example.com'), cname('b.example.com', site)] },
      'dns_no_answer',
      'target',
    ],
    ['nothing, by a server that does not resolve', { without: RA }, 'dns_no_answer', 'resolver'],
    ['NXDOMAIN by a server that does not resolve', { rcode: 3, without: RA }, 'dns_no_answer', 'resolver'],
    ['NODATA', {}, 'dns_no_address', 'target'],
    ['NODATA with the SOA, without RA', { soa: 'example.com', without: RA }, 'dns_no_address', 'target'],
    ['an alias without an address, by a resolver', { raw: [cname(site, 'b.example.com')] }, 'dns_no_address', 'target'],
    ['NXDOMAIN', { rcode: 3 }, 'dns_nxdomain', 'target'],
    ['NXDOMAIN of a filter', { rcode: 3, option: { code: 15, data: bytes('000f') } }, 'dns_no_answer', 'resolver'],
    ['SERVFAIL', { rcode: 2 }, 'dns_servfail', 'resolver'],
    ['REFUSED', { rcode: 5 }, 'dns_refused', 'resolver'],
    ['NOTIMP', { rcode: 4 }, 'dns_not_implemented', 'resolver'],
    ['an rcode without a name', { rcode: 14 }, 'dns_error', 'resolver'],
  ])('of %s is reported as that', async (_what, answer, code, source) => {
    const server = await serve((name) => (name === site || name === 'b.example.com' ? answer : undefined));

    expect(await patientResolver(server).addresses(site, 4, never)).toMatchObject({
      ok: false,
      failure: { code, source },
    });
  });

  it('says of an alias that it leads to a name that does not exist', async () => {
    const server = await serve(() => ({ rcode: 3, raw: [cname(site, 'gone.example.net')] }));

    expect(await patientResolver(server).addresses(site, 4, never)).toMatchObject({
      failure: {
        message: 'site.example.com is an alias of gone.example.net, which does not exist (NXDOMAIN).',
        canonicalName: 'gone.example.net',
      },
    });
  });

  it('leads by way of its aliases, and only there', async () => {
    const server = await serve(() => ({
      raw: [
        cname(site.toUpperCase(), 'b.example.com'),
        a(bytes('08080808'), 'b.example.com'),
        a(bytes('09090909'), 'c.example.com'),
      ],
    }));

    expect(await patientResolver(server).addresses(site, 4, never)).toEqual({ ok: true, addresses: ['8.8.8.8'] });
  });

  it('is asked for over TCP when it is cut off', async () => {
    const server = await serve(() => ({ records: ['8.8.8.8'], truncated: true }));

    expect(await patientResolver(server).addresses(site, 4, never)).toEqual({ ok: true, addresses: ['8.8.8.8'] });
    expect(server.questions).toEqual([`A ${site}`, `A ${site} tcp`]);
  });

  it('is asked for without EDNS where the server knows none', async () => {
    const server = await serve((_name, _type, asked) => (asked === 1 ? { rcode: 1 } : { records: ['8.8.8.8'] }));

    expect(await patientResolver(server).addresses(site, 4, never)).toEqual({ ok: true, addresses: ['8.8.8.8'] });
  });

  const plainOpt = { code: 3, data: bytes('') };
  it.each<[string, Answer]>([
    ['drops', { silent: true }],
    ['answers FORMERR, with a new OPT record, to', { rcode: 1, option: plainOpt }],
    ['answers SERVFAIL to', { rcode: 2 }],
    ['answers NOTIMP, with a new OPT record, to', { rcode: 4, option: plainOpt }],
    ['answers REFUSED to', { rcode: 5 }],
    ['sends a malformed message in answer to', { garbage: true }],
    ['sends a malformed OPT record in answer to', { option: { code: 15, data: bytes('00') } }],
    ['answers without records or proof', { without: RA }],
  ])('is asked for without EDNS where the only server %s queries with it', async (_what, toEdns) => {
    const server = await serve((_name, _type, _asked, hasEdns) => (hasEdns ? toEdns : { records: ['8.8.8.8'] }));

    expect(await patientResolver(server).addresses(site, 4, never)).toEqual({ ok: true, addresses: ['8.8.8.8'] });
  });

  it('that fails with EDNS and without is reported by the one with EDNS', async () => {
    const server = await serve((name, _type, _asked, hasEdns) =>
      name === site ? { rcode: hasEdns ? 2 : 5 } : undefined,
    );

    expect(await patientResolver(server).addresses(site, 4, never)).toMatchObject({
      failure: { code: 'dns_servfail' },
    });
  });

  it('that is cut off, and not to be had over TCP, is reported as truncated', async () => {
    const server = await serve(() => ({ truncated: true, closesTcp: true }));

    expect(await patientResolver(server).addresses(site, 4, never)).toMatchObject({
      failure: { code: 'dns_no_answer', message: expect.stringContaining('cut off (TC)') },
    });
  });

  it.concurrent('that is cut off, from a server whose TCP port is silent, is reported as truncated', async () => {
    const server = await serve(() => ({ truncated: true, silentTcp: true }));
    const resolver = createNameResolver({ servers: [server.address], timeoutMs: 100, tries: 5 });

    expect(await resolver.addresses(site, 4, never)).toMatchObject({
      failure: { code: 'dns_no_answer', message: expect.stringContaining('cut off (TC)') },
    });
  });

  it('is asked of the next server where the TCP port of the first is silent', async () => {
    const first = await serve(() => ({ truncated: true, silentTcp: true }));
    const server = await serve(() => ({ records: ['8.8.8.8'] }));
    const resolver = createNameResolver({ servers: [first.address, server.address], timeoutMs: 100, tries: 9 });

    expect(await resolver.addresses(site, 4, never)).toEqual({ ok: true, addresses: ['8.8.8.8'] });
  });

  it.each<[string, Answer]>([
    ['fails', { rcode: 2 }],
    ['refuses', { rcode: 5 }],
    ['sends no DNS message', { garbage: true }],
  ])('is asked of the next server where one %s', async (_what, answer) => {
    const failing = await serve(() => answer);
    const server = await serve(() => ({ records: ['8.8.8.8'] }));
    const resolver = createNameResolver({ servers: [failing.address, server.address], timeoutMs: 60_000, tries: 1 });

    expect(await resolver.addresses(site, 4, never)).toEqual({ ok: true, addresses: ['8.8.8.8'] });
  });

  it('is not asked of the next server where the first says that the name does not exist', async () => {
    const first = await serve(() => undefined);
    const server = await serve(() => ({ records: ['8.8.8.8'] }));
    const resolver = createNameResolver({ servers: [first.address, server.address], timeoutMs: 60_000, tries: 1 });

    expect(await resolver.addresses(site, 4, never)).toMatchObject({ failure: { code: 'dns_nxdomain' } });
    expect(server.questions).toEqual([]);
  });

  it('counts that comes late, while another server is asked', async () => {
    const asked = Promise.withResolvers<void>();
    const late = await serve(() => ({ records: ['8.8.8.8'], delayMs: 300 }));
    const silent = await serve(() => (asked.resolve(), { silent: true }));
    const resolver = createNameResolver({ servers: [late.address, silent.address], timeoutMs: 200, tries: 9 });

    const answer = await resolver.addresses(site, 4, never);

    await asked.promise;
    expect(answer).toEqual({ ok: true, addresses: ['8.8.8.8'] });
    expect(late.questions.filter((question) => question === `A ${site}`)).toHaveLength(1);
  });

  it('that never comes, from a port that refuses or one that is silent, is no answer', async () => {
    const refusing = await refusingPort();
    servers.push(refusing);
    const silent = await serve(() => ({ silent: true }));
    const ask = ({ address }: DnsServer): ReturnType<NameResolver['addresses']> =>
      createNameResolver({ servers: [address], timeoutMs: 100, tries: 2 }).addresses(site, 4, never);

    expect(await ask(refusing)).toMatchObject({ failure: { code: 'dns_resolver_unreachable' } });
    expect(await ask(silent)).toMatchObject({ failure: { code: 'timed_out' } });
    expect(silent.questions.filter((question) => question === `A ${site}`)).toHaveLength(2);
  });
});

describe('silence', () => {
  const soon = { timeoutMs: 100, tries: 4 };
  const aboutOthers =
    (answer: Answer | undefined): Zone =>
    (name) =>
      name === site ? { silent: true } : answer;

  it.concurrent.each<[string, Answer | undefined]>([
    ['has addresses', { records: ['8.8.8.8'] }],
    ['does not exist', undefined],
  ])(
    'about a name, of a resolver that says of another one that it %s, is that of its name servers',
    async (_what, other) => {
      const server = await serve(aboutOthers(other));

      const answer = await createNameResolver({ servers: [server.address], ...soon }).addresses(site, 4, never);

      expect(answer).toMatchObject({ failure: { code: 'dns_servers_silent', phase: 'resolve', source: 'resolver' } });
      const others = server.questions.filter((question) => question !== `A ${site}`);
      expect(others).toEqual([expect.stringMatching(/^A [a-z0-9]{16}\.com$/)]);
    },
  );

  it.concurrent.each<[string, Answer]>([
    ['is silent about other names too', { silent: true }],
    ['fails for other names', { rcode: 2 }],
    ['refuses other names', { rcode: 5 }],
  ])('of a resolver that %s says nothing about the name servers', async (_what, other) => {
    const server = await serve(aboutOthers(other));

    const answer = await createNameResolver({ servers: [server.address], ...soon }).addresses(site, 4, never);

    expect(answer).toMatchObject({ failure: { code: 'timed_out' } });
  });

  it.concurrent('of a resolver that sends something else in place of the answer says nothing about the name servers', async () => {
    const notAnAnswer = { records: ['8.8.8.8'], without: 0x80_00 };
    const server = await serve((name) => (name === site ? notAnAnswer : undefined));

    const answer = await createNameResolver({ servers: [server.address], ...soon }).addresses(site, 4, never);

    const message = expect.stringMatching(/no resolver answered in time. What came did not answer the question.$/);
    expect(answer).toMatchObject({ failure: { code: 'timed_out', message } });
  });

  it.concurrent('of a resolver that denies another name from its cache (RFC 8198) says nothing about the name servers', async () => {
    const codeOf = async (originalTtl: number): Promise<string | undefined> => {
      const server = await serve(aboutOthers({ rcode: 3, raw: signedDenial(originalTtl) }));
      const answer = await createNameResolver({ servers: [server.address], ...soon }).addresses(site, 4, never);
      return answer.ok ? undefined : answer.failure.code;
    };

    expect(await codeOf(0)).toBe('dns_servers_silent');
    expect(await codeOf(900)).toBe('timed_out');
  });

  it.concurrent('is that of the name servers if one resolver is dead and the other answers about other names', async () => {
    const refusing = await refusingPort();
    servers.push(refusing);
    const server = await serve(aboutOthers(undefined));

    const addresses = [refusing.address, server.address];
    const answer = await createNameResolver({ servers: addresses, ...soon }).addresses(site, 4, never);

    expect(answer).toMatchObject({ failure: { code: 'dns_servers_silent' } });
  });

  it.concurrent('is reported when the time of a check is up before the last try', async () => {
    const asked = Promise.withResolvers<void>();
    const timeUp = new AbortController();
    const server = await serve((name) => {
      if (name === site) return { silent: true };
      asked.resolve();
      return undefined;
    });
    const resolver = createNameResolver({ servers: [server.address], timeoutMs: 100, tries: 15 });

    const answer = resolver.addresses(site, 4, timeUp.signal);
    await asked.promise;
    // Longer than the name's servers get for an answer before they count as silent.
    await sleep(500);
    timeUp.abort(new Error('time is up'));

    expect(await answer).toMatchObject({ failure: { code: 'dns_servers_silent' } });
  });

  it.concurrent('of a resolver whose first answers are lost ends with the next one', async () => {
    const server = await serve((name, _type, asked) =>
      name === site && asked <= 2 ? { silent: true } : { records: ['8.8.8.8'] },
    );
    const resolver = createNameResolver({ servers: [server.address], timeoutMs: 1_500, tries: 1 });

    expect(await resolver.addresses(site, 4, never)).toEqual({ ok: true, addresses: ['8.8.8.8'] });
  });

  it.concurrent('about the name of an address is not examined', async () => {
    const server = await serve(() => ({ silent: true }));

    const names = await createNameResolver({ servers: [server.address], ...soon, tries: 3 }).reverse('8.8.8.8', never);

    expect([names, [...new Set(server.questions)]]).toEqual([[], ['PTR 8.8.8.8.in-addr.arpa']]);
  });
});

/** An NSEC record with a TTL of 0, and its signature, which has the original one (RFC 4034 section 3.1). */
function signedDenial(originalTtl: number): readonly RawRecord[] {
  const signature = Buffer.alloc(40);
  signature.writeUInt16BE(47, 0);
  signature.writeUInt32BE(originalTtl, 4);
  const nsec = Buffer.concat([encodeDnsName('z.com'), Buffer.from([0, 1, 0x40])]);
  return [
    { owner: 'a.com', type: 47, data: nsec },
    { owner: 'a.com', type: 46, data: signature },
  ];
}
