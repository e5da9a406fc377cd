import { createServer, type AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { resultSchema, ruleErrors, type Admit, type AnyCheckType, type ParamsOf } from '@vantage/contract';
import { testContext } from '@vantage/test-support/context';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { Value } from 'typebox/value';

import { checkTypes } from './contract.ts';
import { defineDiagnostic } from './define-diagnostic.ts';
import { tcp } from './types/tcp/contract.ts';
import { runTcp } from './types/tcp/run.ts';

const itWithIpv6 = itNeeding(ipv6Missing(), process.env['CI']);
const diagnostic = defineDiagnostic(tcp, runTcp);
const unmeasured = { startedAt: null, finishedAt: '2026-01-01T00:00:00.000Z' };

/** Resolves every name to these addresses. */
const named =
  (addresses: Partial<Record<4 | 6, string>>): Admit =>
  async ({ host, family = 4 }) => {
    const address = addresses[family];
    if (address !== undefined)
      return { admitted: true, target: { host, address, family, addresses: [address], resolveMs: 0 } };
    const message = 'The name has no address of the family.';
    const failure = { code: 'dns_no_address', phase: 'resolve', source: 'target', message } as const;
    return { admitted: false, failure, addresses: [], resolveMs: 0 };
  };

function jobOf(port: number): ParamsOf<typeof tcp> {
  const params = { host: 'example.com', port, options: { attempts: 2, family: 'both' } } as const;
  return tcp.jobParams!(params) as ParamsOf<typeof tcp>;
}

async function listening(host: string): Promise<{ readonly port: number; readonly close: () => void }> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen({ port: 0, host, ipv6Only: true }, resolve));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

describe('a check over both families', () => {
  itWithIpv6('measures over each, and shows both on the way', async () => {
    const { port, close } = await listening('127.0.0.1');
    const states: object[] = [];
    const context = {
      ...testContext({ admit: named({ 4: '127.0.0.1', 6: '::1' }) }),
      emitPartial: (state: object) => void states.push(state),
    };

    const outcome = await diagnostic.run(jobOf(port), context);
    close();

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '127.0.0.1', state: 'open' });
    expect(outcome.otherFamily).toMatchObject({ family: 6, result: 'failure', resolvedIp: '::1', state: 'closed' });
    expect([...Value.Errors(resultSchema(tcp), { ...outcome, ...unmeasured })]).toEqual([]);
    expect(states.at(-1)).toMatchObject({ resolvedIp: '127.0.0.1', otherFamily: { family: 6, resolvedIp: '::1' } });
  });

  itWithIpv6('has IPv6 first if the name has no IPv4', async () => {
    const { port, close } = await listening('::1');

    const outcome = await diagnostic.run(jobOf(port), testContext({ admit: named({ 6: '::1' }) }));
    close();

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '::1' });
    expect(outcome.otherFamily).toMatchObject({ family: 4, result: 'failure', error: { code: 'dns_no_address' } });
  });

  itWithIpv6('has IPv6 first if it alone works: a closed port over IPv4 is no failure of the name', async () => {
    const { port, close } = await listening('::1');

    const outcome = await diagnostic.run(jobOf(port), testContext({ admit: named({ 4: '127.0.0.1', 6: '::1' }) }));
    close();

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '::1', state: 'open' });
    expect(outcome.otherFamily).toMatchObject({ family: 4, result: 'failure', state: 'closed' });
  });

  for (const [why, cause] of [
    ['the probe refuses it', { code: 'target_refused_by_policy', phase: 'resolve', source: 'probe' }],
    ['its name cannot be resolved', { code: 'dns_servfail', phase: 'resolve', source: 'resolver' }],
  ] as const) {
    itWithIpv6(`has IPv6 first if IPv4 was not measured: ${why}`, async () => {
      const { port, close } = await listening('::1');
      const only6 = named({ 6: '::1' });
      const admit: Admit = async (asked, signal) => {
        const admission = await only6(asked, signal);
        return admission.admitted
          ? admission
          : { ...admission, failure: { ...cause, message: 'It was not measured.' } };
      };

      const outcome = await diagnostic.run(jobOf(port), testContext({ admit }));
      close();

      expect(outcome).toMatchObject({ result: 'success', resolvedIp: '::1' });
      expect(outcome.otherFamily).toMatchObject({ family: 4, error: { code: cause.code } });
    });
  }

  it.each(['ping', 'traceroute', 'tcp', 'http', 'dns'] as const)(
    'of type %s costs twice as much, within the bounds of a check',
    (type) => {
      const checkType: AnyCheckType = checkTypes[type];
      const options = {
        count: 4,
        size: 56,
        interval: 500,
        attempts: 3,
        maxHops: 30,
        queries: 3,
        flows: 1,
        protocol: 'icmp',
        followRedirects: 0,
        headers: {},
      };
      const params = (family?: unknown) => ({
        recordType: 'AAAA',
        host: type === 'http' ? 'https://example.com/' : 'example.com',
        options: { ...options, family },
      });
      const [one, two] = [checkType.traffic(params()), checkType.traffic(params('both'))];

      expect(two).toEqual({ packets: 2 * one.packets, bytes: 2 * one.bytes });
      expect(checkType.traffic(checkType.jobParams!(params('both')) as never)).toEqual(two);
      expect(ruleErrors(checkType, params('both'))).toEqual([]);
    },
  );

  it.each([
    ['tcp', '203.0.113.1'],
    ['ping', '2001:db8::1'],
    ['http', 'https://[2001:db8::1]:8443/'],
    ['traceroute', '203.0.113.1'],
  ] as const)('of type %s needs a name: %s is refused', (type, host) => {
    const checkType: AnyCheckType = checkTypes[type];
    const options = { family: 'both', maxHops: 30, queries: 3, flows: 1, protocol: 'icmp', headers: {} };

    expect(ruleErrors(checkType, { host, options })).toMatchObject([{ path: '/options/family' }]);
  });

  it.each([
    ['192.0.2.53', 'both', 'must be 4, or absent, with the resolver 192.0.2.53: only a name can have another family'],
    [
      '[2001:db8::53]:53',
      4,
      'must be 6, or absent, with the resolver 2001:db8::53: only a name can have another family',
    ],
    ['192.0.2.53', 4, undefined],
    ['resolver.example', 'both', undefined],
    [undefined, 'both', undefined],
  ] as const)('of type dns is that of its resolver: %s with %s', (resolver, family, message) => {
    const dns: AnyCheckType = checkTypes.dns;
    const errors = ruleErrors(dns, { host: 'example.com', recordType: 'A', options: { resolver, family } });

    expect(errors).toEqual(message === undefined ? [] : [{ path: '/options/family', message }]);
  });

  it('traces with the packets of one check', () => {
    const { traceroute } = checkTypes;
    const asked = (more: object) =>
      ({
        host: 'example.com',
        options: { maxHops: 30, queries: 3, flows: 1, protocol: 'icmp', family: 'both', ...more },
      }) as never;

    expect(ruleErrors(traceroute, asked({ flows: 4 }))).toMatchObject([
      { path: '/options', message: expect.stringContaining('is 720; at most 640') },
    ]);
    for (const more of [{}, { flows: 'all' }, { rounds: 60 }, { flows: 2 }]) {
      expect(traceroute.traffic(asked(more)).packets).toBeLessThanOrEqual(640);
    }
  });
});
