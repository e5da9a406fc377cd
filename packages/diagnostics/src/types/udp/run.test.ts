import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

import { afterAll, describe, expect, it } from '@jest/globals';
import { resultSchema, type Failure, type ParamsOf } from '@vantage/contract';
import { Value } from 'typebox/value';

import type { PacketSocketOptions, PacketSockets, ReceivedPacket } from '../../sockets/packet-socket.ts';
import { addressBytes } from '@vantage/contract/address';
import { checksum } from '../../sockets/wire/checksum.ts';
import { testContext } from '@vantage/test-support/context';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { standStill } from '@vantage/test-support/stand-still';
import { ATTEMPT_WAIT_MS, DATAGRAM_WAITS_MS, udp } from './contract.ts';
import { runUdp } from './run.ts';

const itWithIpv6 = itNeeding(ipv6Missing(), process.env['CI']);

type UdpParams = ParamsOf<typeof udp>;

const sockets: Socket[] = [];

afterAll(() => {
  for (const socket of sockets) socket.close();
});

describe('a udp check', () => {
  it('finds a port open that answers, and shows what came', async () => {
    const server = await listen((bytes, from) =>
      server.socket.send(Buffer.from(`re: ${bytes.toString()}`), from.port, from.address),
    );

    const outcome = await runUdp(params(server.port, { payload: '68656c6c6f' }), testContext());

    expect(outcome).toMatchObject({
      result: 'success',
      state: 'open',
      port: server.port,
      resolvedIp: '127.0.0.1',
      error: null,
      payload: '68656c6c6f',
      responseBytes: 9,
      response: Buffer.from('re: hello').toString('base64'),
      icmp: null,
    });
    expect(outcome.attempts).toEqual([{ rt: outcome.rt, error: null }]);
    expect(outcome.rt).toBeGreaterThan(0);
    expect(server.received.map(String)).toEqual(['hello']);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.concurrent('shows what it sends, and each attempt as it is answered or given up', async () => {
    const server = await listen((_bytes, from) =>
      server.received.length <= DATAGRAM_WAITS_MS.length ? undefined : server.socket.send('x', from.port, from.address),
    );
    const context = testContext<typeof udp>();

    const outcome = await runUdp(params(server.port, { attempts: 2 }), context);

    expect(outcome.attempts).toHaveLength(2);
    expect(context.partials).toMatchObject([
      { port: server.port, payload: outcome.payload, resolvedIp: '127.0.0.1', attempts: [] },
      { attempts: [{ rt: null, error: { code: 'timed_out' } }] },
      { attempts: outcome.attempts },
    ]);
  });

  it('shows the first 256 bytes of a long answer, and its size', async () => {
    const server = await listen((_bytes, from) => server.socket.send(Buffer.alloc(9_000, 7), from.port, from.address));

    const outcome = await runUdp(params(server.port), testContext());

    expect(outcome.responseBytes).toBe(9_000);
    expect(Buffer.from(outcome.response ?? '', 'base64')).toEqual(Buffer.alloc(256, 7));
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('takes an empty answer for an answer', async () => {
    const server = await listen((_bytes, from) => server.socket.send(Buffer.alloc(0), from.port, from.address));

    const outcome = await runUdp(params(server.port), testContext());

    expect(outcome).toMatchObject({ result: 'success', state: 'open', payload: '', responseBytes: 0, response: '' });
    expect(problemsOf(outcome)).toEqual([]);
  });

  async function findsClosed(host: string): Promise<void> {
    const port = await closedPort(host);

    const outcome = await runUdp({ ...params(port), host }, testContext());

    expect(outcome).toMatchObject({
      result: 'failure',
      rt: null,
      state: 'closed',
      error: { code: 'port_unreachable', source: 'target' },
      icmp: host === '::1' ? { type: 1, code: 4, from: null } : { type: 3, code: 3, from: null },
    });
    expect(outcome.attempts).toHaveLength(1);
    expect(problemsOf(outcome)).toEqual([]);
  }

  it('finds a port without a listener closed, after one datagram', () => findsClosed('127.0.0.1'));

  itWithIpv6('finds the same over IPv6', () => findsClosed('::1'));

  it('cannot tell a silent port from a filtered one', async () => {
    const deadline = new AbortController();
    const server = await listen(() => deadline.abort());

    const outcome = await runUdp(params(server.port), testContext({ signal: deadline.signal }));

    expect(outcome).toMatchObject({
      result: 'timeout',
      rt: null,
      state: 'open|filtered',
      error: { code: 'timed_out' },
      responseBytes: 0,
      response: '',
      icmp: null,
    });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.concurrent('sends again until something comes, from another port each time', async () => {
    const ports = new Set<number>();
    const server = await listen((_bytes, from) => {
      ports.add(from.port);
      if (ports.size === 3) server.socket.send('x', from.port, from.address);
    });

    const outcome = await runUdp(params(server.port), testContext());

    expect(outcome).toMatchObject({ result: 'success', state: 'open' });
    expect(outcome.attempts).toMatchObject([{ rt: null, error: { code: 'timed_out' } }, { error: null }]);
    expect(outcome.rt).toBeLessThan(DATAGRAM_WAITS_MS[0]);
    expect(ports.size).toBe(3);
  });

  it.concurrent('takes a lost datagram for no silence of the port: an attempt sends it again', async () => {
    const server = await listen((_bytes, from) => {
      if (server.received.length > 1) server.socket.send('x', from.port, from.address);
    });

    const outcome = await runUdp(params(server.port, { attempts: 1, payload: '68656c6c6f' }), testContext());

    expect(outcome).toMatchObject({ result: 'success', state: 'open', attempts: [{ error: null }] });
    expect(outcome.rt).toBeLessThan(DATAGRAM_WAITS_MS[0]);
    expect(server.received.map(String)).toEqual(['hello', 'hello']);
  });

  it.concurrent('hears an answer to the last datagram as late as one to the first', async () => {
    const server = await listen((_bytes, from) => {
      if (server.received.length < DATAGRAM_WAITS_MS.length) return;
      setTimeout(() => server.socket.send('x', from.port, from.address), DATAGRAM_WAITS_MS.at(-1)! + 300);
    });

    const outcome = await runUdp(params(server.port, { attempts: 1 }), testContext());

    expect(outcome).toMatchObject({ result: 'success', state: 'open', attempts: [{ error: null }] });
    expect(outcome.rt).toBeGreaterThan(DATAGRAM_WAITS_MS.at(-1)!);
  });

  it.concurrent('sends a silent port as many datagrams as are counted for it, in its budget less three seconds', async () => {
    const checks = [1, 3].map(async (attempts) => {
      const server = await listen();
      const asked = params(server.port, { attempts });
      const startedAt = performance.now();

      await runUdp(asked, testContext());

      // A busy machine makes the check longer, never shorter: with a budget without the last wait this test always
      // fails.
      const leastMs = attempts * ATTEMPT_WAIT_MS + DATAGRAM_WAITS_MS[0];
      expect(performance.now() - startedAt).toBeGreaterThan(leastMs - 50);
      expect(udp.budgetMs(asked)).toBe(leastMs + 3_000);
      expect(server.received).toHaveLength(udp.traffic(asked).packets);
    });
    await Promise.all(checks);
  });

  it('sends nothing again for an answer that came while the machine stood still', async () => {
    const server = await listen((_bytes, from) => {
      server.socket.send('x', from.port, from.address);
      standStill(ATTEMPT_WAIT_MS + 100);
    });

    const outcome = await runUdp(params(server.port), testContext());

    expect(outcome).toMatchObject({ result: 'success', attempts: [{ error: null }] });
    expect(server.received).toHaveLength(1);
  });

  it.concurrent('counts a late answer as the answer to the datagram that it is for', async () => {
    let first: RemoteInfo | undefined;
    const server = await listen((_bytes, from) => {
      first ??= from;
      if (server.received.length > DATAGRAM_WAITS_MS.length) server.socket.send('late', first.port, first.address);
    });

    const outcome = await runUdp(params(server.port), testContext());

    expect(outcome.result).toBe('success');
    expect(outcome.attempts).toMatchObject([{ error: null }, { rt: null }]);
    expect(outcome.rt).toBe(outcome.attempts?.[0]?.rt);
  });

  it('does not hear what comes from another port', async () => {
    const stranger = createSocket('udp4');
    sockets.push(stranger);
    const server = await listen((_bytes, from) => {
      stranger.send('lie', from.port, from.address, () => server.socket.send('truth', from.port, from.address));
    });

    const outcome = await runUdp(params(server.port), testContext());

    expect(outcome.response).toBe(Buffer.from('truth').toString('base64'));
  });

  it.concurrent('does not say that nothing came back at all if answers come from another port, as those of TFTP', async () => {
    const stranger = createSocket('udp4');
    sockets.push(stranger);
    const server = await listen((_bytes, from) => stranger.send('answer', from.port, from.address));

    const outcome = await runUdp(params(server.port, { attempts: 1 }), testContext());

    expect(outcome).toMatchObject({ result: 'timeout', state: 'open|filtered' });
    expect(outcome.error?.message).toContain(
      'Nothing came back from the port: it is open and silent, answers from another port (as TFTP does) or address, is filtered, or is closed',
    );
  });

  it('sends nothing of a caller’s to a port of a reflector, for any client', async () => {
    const context = testContext<typeof udp>();

    const outcome = await runUdp(params(11211, { payload: '00' }), context);

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy' } });
    expect(context.admissions).toEqual([]);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('is an error of the probe where its kernel does not send', async () => {
    // The kernel refuses to send to this broadcast address without SO_BROADCAST, whatever the routes are.
    const address = '255.255.255.255';
    const target = { host: address, address, family: 4 as const, addresses: [address], resolveMs: 0 };
    const admit = async () => ({ admitted: true, target }) as const;
    const packets: PacketSockets = {
      open: async () => Promise.reject(new Error('not expected')),
      sourceFor: async () => '127.0.0.1',
    };

    const outcome = await runUdp({ ...params(80), host: address }, testContext({ admit, packets }));

    expect(outcome).toMatchObject({ result: 'error', error: { source: 'probe' } });
    expect(outcome.state).toBeUndefined();
    expect(outcome).not.toHaveProperty('icmpUnread');
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, Failure, string]>([
    ['a name that is not there', failure('dns_nxdomain', 'resolver'), 'failure'],
    ['a resolver that is silent', failure('timed_out', 'resolver'), 'timeout'],
    ['a policy that refuses', failure('target_refused_by_policy', 'probe'), 'error'],
  ])('passes on why the target was not admitted: %s', async (_reason, error, result) => {
    const admit = async () => ({ admitted: false, failure: error, addresses: [], resolveMs: 1 }) as const;

    const outcome = await runUdp(params(80), testContext({ admit }));

    expect(outcome).toMatchObject({ result, error, port: 80, resolvedIp: null });
  });
});

type IcmpCase = [string, 4 | 6, number, number, string, Failure['code'], string];

describe('a udp check of a probe with raw sockets', () => {
  const overIpv6: IcmpCase = [
    ...(['a filter of IPv6', 6, 1, 1, '2001:db8::1'] as const),
    ...(['administratively_prohibited', 'unreachable'] as const),
  ];
  it.each<IcmpCase>([
    ['the target’s own refusal', 4, 3, 3, '127.0.0.1', 'port_unreachable', 'closed'],
    ['a filter that refuses the port', 4, 3, 3, '192.0.2.1', 'port_unreachable', 'unreachable'],
    ['no host', 4, 3, 1, '192.0.2.1', 'host_unreachable', 'unreachable'],
    ['a filter', 4, 3, 13, '192.0.2.1', 'administratively_prohibited', 'unreachable'],
    ['hops at their end', 4, 11, 0, '192.0.2.1', 'time_exceeded', 'unreachable'],
    ...(ipv6Missing() === null ? [overIpv6] : []),
  ])('names the ICMP error and its sender: %s', async (_reason, family, type, code, from, failureCode, state) => {
    const host = family === 4 ? '127.0.0.1' : '::1';
    const server = await listen(undefined, host);
    const packets = answeringPackets(({ identifier }) =>
      icmpError({ family, type, code, from, host, identifier, port: server.port }),
    );

    const outcome = await runUdp({ ...params(server.port), host }, testContext({ packets }));

    expect(outcome).toMatchObject({
      result: 'failure',
      state,
      error: { code: failureCode },
      icmp: { type, code, from },
    });
    expect(outcome.error?.source).toBe(from === host ? 'target' : 'network');
    expect(packets.closed).toBe(1);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('names who refuses the port, and claims nothing of its listeners', async () => {
    const server = await listen();
    const packets = answeringPackets(({ identifier }) =>
      icmpError({ family: 4, type: 3, code: 3, from: '192.0.2.1', host: '127.0.0.1', identifier, port: server.port }),
    );

    const outcome = await runUdp(params(server.port), testContext({ packets }));

    expect(outcome.error?.message).toContain('192.0.2.1');
    expect(outcome.error?.message).not.toContain('nothing listens');
  });

  it('takes an answer that follows an ICMP error for the answer', async () => {
    const server = await listen((_bytes, from) => {
      void packets.arrived.then(() => setImmediate(() => server.socket.send('here', from.port, from.address)));
    });
    const packets = answeringPackets(({ identifier }) =>
      icmpError({ family: 4, type: 3, code: 1, from: '192.0.2.1', host: '127.0.0.1', identifier, port: server.port }),
    );

    const outcome = await runUdp(params(server.port), testContext({ packets }));

    expect(outcome).toMatchObject({ result: 'success', state: 'open', attempts: [{ error: null }] });
  });

  it('masks a sender in a private network, in the message too', async () => {
    const server = await listen();
    const from = '10.1.2.3';
    const packets = answeringPackets(({ identifier }) =>
      icmpError({ family: 4, type: 3, code: 13, from, host: '127.0.0.1', identifier, port: server.port }),
    );
    const isPrivateAddress = (address: string): boolean => address.startsWith('10.');

    const outcome = await runUdp(
      params(server.port),
      testContext({ packets, isPrivateAddress, showPrivateAddresses: false }),
    );

    expect(outcome.icmp).toEqual({ type: 3, code: 13, from: null, private: true });
    expect(JSON.stringify(outcome)).not.toContain(from);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, Partial<IcmpSample>]>([
    ['another port', { port: 9 }],
    ['another address', { host: '127.0.0.9' }],
    ['another socket', { identifier: 9 }],
    ['a broken checksum', { broken: true }],
  ])('ignores an ICMP error about a packet that is not its own: %s', async (_reason, change) => {
    const deadline = new AbortController();
    const server = await listen(() => void packets.arrived.then(() => deadline.abort()));
    const packets = answeringPackets(({ identifier }) =>
      icmpError({
        family: 4,
        type: 3,
        code: 1,
        from: '192.0.2.1',
        host: '127.0.0.1',
        identifier,
        port: server.port,
        ...change,
      }),
    );

    const outcome = await runUdp(params(server.port), testContext({ packets, signal: deadline.signal }));

    expect(outcome).toMatchObject({ state: 'open|filtered', icmp: null });
  });

  it('does without them where they cannot be opened', async () => {
    const port = await closedPort('127.0.0.1');
    const packets: PacketSockets = {
      open: async () => Promise.reject(new Error('no privilege')),
      sourceFor: async () => '127.0.0.1',
    };

    const outcome = await runUdp(params(port), testContext({ packets }));

    expect(outcome).toMatchObject({ state: 'closed', icmp: { type: 3, code: 3, from: null }, icmpUnread: true });
  });

  it.concurrent('awaits a later datagram for as long as the answer to an earlier one took', async () => {
    let first: RemoteInfo | undefined;
    const server = await listen((_bytes, from) => {
      first ??= from;
      if (server.received.length <= DATAGRAM_WAITS_MS.length) return;
      server.socket.send('late', first.port, first.address);
      setTimeout(() => server.socket.send('late too', from.port, from.address), ATTEMPT_WAIT_MS / 2);
    });

    const outcome = await runUdp(params(server.port, { attempts: 2 }), testContext());

    expect(outcome.attempts).toMatchObject([{ error: null }, { error: null }]);
    expect(outcome.response).toBe(Buffer.from('late').toString('base64'));
  });
});

interface IcmpSample {
  readonly family: 4 | 6;
  readonly type: number;
  readonly code: number;
  readonly from: string;
  readonly host: string;
  readonly identifier: number;
  readonly port: number;
  readonly broken?: boolean;
}

/** An ICMP error that quotes a UDP packet from the identifier to the port. */
function icmpError({ family, type, code, from, host, identifier, port, broken = false }: IcmpSample): ReceivedPacket {
  const udpHeader = [identifier >> 8, identifier & 0xff, port >> 8, port & 0xff, 0, 8, 0, 0];
  const source = addressBytes(family === 4 ? '127.0.0.1' : '::1');
  const ipHeader =
    family === 4
      ? [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, ...source, ...addressBytes(host)]
      : [0x60, 0, 0, 0, 0, 8, 17, 64, ...source, ...addressBytes(host)];
  const data = Uint8Array.from([type, code, 0, 0, 0, 0, 0, 0, ...ipHeader, ...udpHeader]);
  const sum = checksum(data);
  data.set([sum >> 8, (sum & 0xff) ^ (broken ? 1 : 0)], 2);
  return { protocol: 'icmp', data, from, hopLimit: null, receivedMs: performance.now(), clock: 'kernel' };
}

/** Raw sockets on which one packet arrives as soon as there is a listener. */
function answeringPackets(answer: (options: { readonly identifier: number }) => ReceivedPacket) {
  const arrived = Promise.withResolvers<void>();
  const state = { closed: 0, arrived: arrived.promise };
  return Object.assign(state, {
    open: async ({ identifier = 0, protocol }: PacketSocketOptions) => {
      expect(protocol).toBe('udp');
      return {
        identifier,
        send: async () => Promise.reject(new Error('The diagnostic sends by its own socket.')),
        onPacket: (listener: (packet: ReceivedPacket) => void) => {
          setImmediate(() => {
            listener(answer({ identifier }));
            arrived.resolve();
          });
        },
        onLost: () => undefined,
        close: () => {
          state.closed++;
        },
      };
    },
    sourceFor: async () => '127.0.0.1',
  } satisfies PacketSockets);
}

function params(port: number, options: Partial<UdpParams['options']> = {}): UdpParams {
  return { host: '127.0.0.1', port, options: { attempts: 3, ...options } };
}

function failure(code: Failure['code'], source: Failure['source']): Failure {
  return { code, phase: 'resolve', source, message: 'As the test says.' };
}

function problemsOf(outcome: object): unknown[] {
  const now = new Date().toISOString();
  return [...Value.Errors(resultSchema(udp), { ...outcome, startedAt: now, finishedAt: now })];
}

async function listen(onMessage?: (bytes: Buffer, from: RemoteInfo) => void, host = '127.0.0.1') {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const received: Buffer[] = [];
  socket.on('message', (bytes, from) => {
    received.push(bytes);
    onMessage?.(bytes, from);
  });
  socket.bind(0, host);
  await once(socket, 'listening');
  sockets.push(socket);
  return { socket, received, port: socket.address().port };
}

/** A port without a listener that no other process can take: its socket hears only itself. */
async function closedPort(host: string): Promise<number> {
  const { socket, port } = await listen(undefined, host);
  const connected = once(socket, 'connect');
  socket.connect(port, host);
  await connected;
  return port;
}
