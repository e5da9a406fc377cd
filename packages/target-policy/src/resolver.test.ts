import { afterEach, describe, expect, it } from '@jest/globals';

import { resolverFailure } from './resolver-failure.ts';
import { createNameResolver } from './resolver.ts';
import { patientResolver, startDnsServer, type DnsServer, type Zone } from '../test/dns-server.ts';

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

describe('what c-ares rejected with', () => {
  it.each([
    ['a name it cannot send', Object.assign(new Error('x'), { code: 'EBADNAME' }), 'dns_error'],
    ['a broken answer', Object.assign(new Error('x'), { code: 'EBADRESP' }), 'dns_bad_response'],
    ['a question that was not understood', Object.assign(new Error('x'), { code: 'EFORMERR' }), 'dns_format_error'],
    ['a code of Object.prototype', Object.assign(new Error('x'), { code: 'constructor' }), 'dns_error'],
    ['an error without a code', new Error('x'), 'dns_error'],
    ['something that is no error', 'ENOTFOUND', 'dns_error'],
    ['nothing', undefined, 'dns_error'],
  ])('becomes a failure: %s', (_reason, thrown, code) => {
    expect(resolverFailure(thrown, 'a.example.com')).toMatchObject({ code, phase: 'resolve', source: 'resolver' });
  });
});
