import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as nextImmediate } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';
import { resultSchema, type Failure } from '@vantage/contract';
import { Value } from 'typebox/value';

import { closedPort } from '../../../test/closed-port.ts';
import { testContext } from '@vantage/test-support/context';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { resettingPort } from '../../../test/resetting-port.ts';
import { silentPort } from '../../../test/silent-port.ts';
import { socketsRead } from '../../../test/sockets-read.ts';
import { tcp } from './contract.ts';
import { runTcp } from './run.ts';

const itWithIpv6 = itNeeding(ipv6Missing(), process.env['CI']);

const servers: Server[] = [];

afterEach(closeServers);

describe('a tcp check', () => {
  it('finds an open port open, with the time of each handshake', async () => {
    const { port } = await listen();

    const outcome = await runTcp(params(port), testContext());

    expect(outcome).toMatchObject({ result: 'success', state: 'open', port, resolvedIp: '127.0.0.1', error: null });
    expect(outcome.attempts).toHaveLength(3);
    expect(outcome.attempts?.every(({ rt, error }) => rt !== null && rt > 0 && error === null)).toBe(true);
    expect(outcome.rt).toBe(outcome.attempts?.[0]?.rt);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('has all addresses of a name that has several, and measures one', async () => {
    const { port } = await listen();
    const addresses = ['127.0.0.1', '127.0.0.2'];
    const named = { ...params(port), host: 'two.example' };

    const outcome = await runTcp(named, testContext({ hosts: { 'two.example': addresses } }));
    const single = await runTcp(named, testContext({ hosts: { 'two.example': ['127.0.0.1'] } }));

    expect(outcome).toMatchObject({ state: 'open', resolvedIp: '127.0.0.1', addresses });
    expect(single).not.toHaveProperty('addresses');
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('makes as many handshakes as it was asked for, writes nothing, and leaves no connection', async () => {
    const received: number[] = [];
    const bothClosed = Promise.withResolvers<void>();
    const { port } = await listen((socket) => {
      socket.resume().on('close', () => {
        if (received.push(socket.bytesRead) === 2) bothClosed.resolve();
      });
    });

    await runTcp(params(port, { attempts: 2 }), testContext());
    await bothClosed.promise;

    expect(received).toEqual([0, 0]);
  });

  it('finds a port without a listener closed', async () => {
    const { port, close } = await closedPort();

    const outcome = await runTcp(params(port), testContext());
    await close();

    expect(outcome).toMatchObject({ result: 'failure', state: 'closed', rt: null, resolvedIp: '127.0.0.1' });
    expect(outcome.error).toMatchObject({ code: 'connection_refused', phase: 'connect', source: 'target' });
    expect(outcome.attempts?.map(({ error }) => error?.code)).toEqual(Array(3).fill('connection_refused'));
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('finds a port open that resets each connection before its handshake is read', async () => {
    const { port, untilReset, close } = await resettingPort();

    const running = runTcp(params(port, { attempts: 1 }), testContext());
    // After this turn of the event loop, Node has sent the SYN.
    await nextImmediate();
    untilReset(1);
    const outcome = await running;
    await close();

    expect(outcome).toMatchObject({ result: 'success', state: 'open', error: null, attempts: [{ error: null }] });
    expect(outcome.rt).toBeGreaterThan(0);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('finds a silent port filtered', async () => {
    const { port, close } = await silentPort();

    const outcome = await runTcp(params(port, { attempts: 1 }), testContext());
    await close();

    expect(outcome).toMatchObject({
      result: 'timeout',
      state: 'filtered',
      error: { code: 'timed_out', message: 'No answer to the SYN within 2 s.' },
    });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('calls no port filtered if its time ends before that of the first handshake', async () => {
    const { port, close } = await silentPort();
    const deadline = new AbortController();
    // Called before the first handshake, which is in progress in the next turn.
    const emitPartial = (): void => void setImmediate(() => deadline.abort());

    const outcome = await runTcp(params(port), testContext({ signal: deadline.signal, emitPartial }));
    await close();

    expect(outcome).toMatchObject({ result: 'timeout', rt: null, resolvedIp: '127.0.0.1', attempts: [] });
    expect(outcome.error).toMatchObject({ code: 'probe_timeout', source: 'probe' });
    expect(outcome).not.toHaveProperty('state');
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('counts no handshake as lost that its deadline ends', async () => {
    const { port } = await listen();
    const deadline = new AbortController();
    let shown = 0;
    // The third state has two handshakes; the next one is in progress after the current callback.
    const emitPartial = (): void => {
      if ((shown += 1) === 3) queueMicrotask(() => deadline.abort());
    };

    const outcome = await runTcp(params(port), testContext({ signal: deadline.signal, emitPartial }));

    expect(outcome).toMatchObject({ result: 'success', state: 'open', attempts: [{ error: null }, { error: null }] });
  });

  it('makes no connection when it was aborted before it began', async () => {
    let connections = 0;
    const { port } = await listen(() => (connections += 1));

    const outcome = await runTcp(params(port), testContext({ signal: AbortSignal.abort() }));
    await socketsRead();

    expect(outcome).toMatchObject({ result: 'timeout', resolvedIp: null });
    expect(outcome.error).toMatchObject({ code: 'timed_out', phase: 'resolve' });
    expect(connections).toBe(0);
  });

  itWithIpv6('connects over IPv6 where that is asked for', async () => {
    const { port } = await listen(undefined, '::1');
    const context = testContext<typeof tcp>();

    const outcome = await runTcp({ ...params(port, { family: 6 }), host: 'localhost' }, context);

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '::1' });
    expect(context.admissions).toEqual([{ host: 'localhost', port, purpose: 'tcp', family: 6 }]);
  });

  it('shows each attempt as it is made', async () => {
    const { port } = await listen();
    const context = testContext<typeof tcp>();

    await runTcp(params(port), context);

    expect(context.partials.map(({ attempts }) => attempts?.length)).toEqual([0, 1, 2, 3]);
  });

  it('sends nothing to a target that the policy refuses', async () => {
    let connections = 0;
    const { port } = await listen(() => (connections += 1));

    const outcome = await runTcp(
      { ...params(port), host: 'forbidden.test' },
      testContext({ refused: ['forbidden.test'] }),
    );

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy' }, resolvedIp: null });
    expect(connections).toBe(0);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('is an error of the probe where it has no way for the SYN', async () => {
    // Linux refuses TCP to a broadcast address with “network is unreachable”, whatever the routes are.
    const address = '255.255.255.255';
    const target = { host: address, address, family: 4 as const, addresses: [address], resolveMs: 0 };
    const admit = async () => ({ admitted: true, target }) as const;

    const outcome = await runTcp({ ...params(80), host: address }, testContext({ admit }));

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'network_unreachable', source: 'probe' } });
    expect(outcome.state).toBeUndefined();
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, Failure, string]>([
    ['a name that is not there', failure('dns_nxdomain', 'resolver'), 'failure'],
    ['a resolver that is silent', failure('timed_out', 'resolver'), 'timeout'],
    ['a probe without the family', failure('family_unavailable', 'probe'), 'error'],
  ])('passes on why the target was not admitted: %s', async (_reason, error, result) => {
    const admit = async () => ({ admitted: false, failure: error, addresses: [], resolveMs: 1 }) as const;

    const outcome = await runTcp(params(80), testContext({ admit }));

    expect(outcome).toMatchObject({ result, error });
  });
});

function params(port: number, options: { readonly attempts?: number; readonly family?: 4 | 6 } = {}) {
  return { host: '127.0.0.1', port, options: { attempts: 3, ...options } };
}

function failure(code: Failure['code'], source: Failure['source']): Failure {
  return { code, phase: 'resolve', source, message: 'As the test says.' };
}

function problemsOf(outcome: object): unknown[] {
  const now = new Date().toISOString();
  return [...Value.Errors(resultSchema(tcp), { ...outcome, startedAt: now, finishedAt: now })];
}

async function listen(onConnection?: (socket: Socket) => void, host = '127.0.0.1') {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    onConnection?.(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return { port };
}

async function closeServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
}
