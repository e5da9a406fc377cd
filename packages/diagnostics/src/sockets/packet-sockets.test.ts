import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';

import { closedPort } from '../../test/closed-port.ts';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { skip } from '@vantage/test-support/virtual-time';
import { connectPinned } from './connect.ts';
import { createPacketSockets } from './packet-sockets.ts';
import type { PacketSocket, ReceivedPacket } from './packet-socket.ts';
import { echoRequest, parseIcmp } from './wire/icmp.ts';
import { tcpSyn, parseTcp, TCP_FLAGS, udpDatagram } from './wire/transport.ts';

const packets = createPacketSockets();
const { ipv4, ipv6 } = await packets.probePrivilege();
const itWithIpv4 = itNeeding(ipv4, process.env['CI']);
const itWithIpv6 = itNeeding(ipv4 ?? ipv6 ?? ipv6Missing(), process.env['CI']);

/** Longest silence of a packet process with a pending answer. */
const SILENCE_MS = 5_000;

afterEach(() => {
  jest.useRealTimers();
});
afterAll(() => packets.close());

function nextPacket(socket: PacketSocket): Promise<ReceivedPacket> {
  return new Promise((resolve) => socket.onPacket(resolve));
}

/** From now on only `jest.advanceTimersByTime` advances the clock of this process; other processes are not affected. */
function stopTheClock(): void {
  const doNotFake = ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const;
  jest.useFakeTimers({ doNotFake: [...doNotFake] });
}

/** Runs several turns of the event loop for code that waits for one. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function killed(pid: number | null): void {
  process.kill(pid!, 'SIGKILL');
}

describe('the packet process', () => {
  itWithIpv4('runs from the sources of all packages, as its agent does', async () => {
    const socket = await packets.open({ family: 4, protocol: 'icmp' });
    const words = readFileSync(`/proc/${packets.status().pid}/cmdline`, 'utf8').split('\0');
    socket.close();

    expect(words).toContain('--conditions=vantage-source');
  });

  itWithIpv4('sends an echo request and gets the reply, both with times of one clock', async () => {
    const socket = await packets.open({ family: 4, protocol: 'icmp' });
    const received = nextPacket(socket);
    const sentMs = await socket.send(echoRequest(4, socket.identifier, 1, Buffer.from('ours')), '127.0.0.1', 9);
    const { data, from, hopLimit, protocol, receivedMs, clock } = await received;
    const laterMs = await socket.send(echoRequest(4, socket.identifier, 2, Buffer.from('ours')), '127.0.0.1', 9);
    socket.close();

    expect(parseIcmp(4, data)).toMatchObject({ kind: 'echo-reply', identifier: socket.identifier, sequence: 1 });
    expect({ from, protocol, hopLimit, clock }).toEqual({
      from: '127.0.0.1',
      protocol: 'icmp',
      hopLimit: 64,
      clock: 'kernel',
    });
    // Tolerance: the wall clock and the monotonic clock cannot be read at the same instant.
    expect(receivedMs).toBeGreaterThan(sentMs - 1);
    expect(receivedMs).toBeLessThan(laterMs + 1);
  });

  itWithIpv4('opens a further ICMP socket without an answer, and frees its identifier', async () => {
    const own = createPacketSockets();
    const first = await own.open({ family: 4, protocol: 'icmp' });
    const { identifier } = first;
    const echo = async (socket: PacketSocket, sequence: number): Promise<void> => {
      const received = nextPacket(socket);
      await socket.send(echoRequest(4, identifier, sequence, Buffer.from('ours')), '127.0.0.1', 9);
      expect(parseIcmp(4, (await received).data)).toMatchObject({ kind: 'echo-reply', identifier, sequence });
    };
    await echo(first, 1);
    first.close();
    const second = await own.open({ family: 4, protocol: 'icmp', identifier });
    await echo(second, 2);
    await expect(own.open({ family: 4, protocol: 'icmp', identifier })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const lost = new Promise((resolve) => second.onLost(resolve));
    killed(own.status().pid);
    await lost;
    await echo(await own.open({ family: 4, protocol: 'icmp', identifier }), 3);
    await own.close();
  });

  itWithIpv6('does so over IPv6, with the checksum from the kernel', async () => {
    const socket = await packets.open({ family: 6, protocol: 'icmp' });
    const received = nextPacket(socket);
    await socket.send(echoRequest(6, socket.identifier, 2, Buffer.from('ours')), '::1', 9);
    const { data, from, hopLimit, clock } = await received;
    socket.close();

    expect(parseIcmp(6, data)).toMatchObject({ kind: 'echo-reply', sequence: 2 });
    expect({ from, hopLimit, clock }).toEqual({ from: '::1', hopLimit: 64, clock: 'kernel' });
  });

  itWithIpv6('works without koffi, by its own clock and without hop limits over IPv6', async () => {
    const refuseKoffi = `
      import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => {
        if (name === 'koffi') throw new Error('not here');
        return next(name, context);
      } });`;
    const nodeOptions = `NODE_OPTIONS=--import=data:text/javascript,${encodeURIComponent(refuseKoffi)}`;
    const own = createPacketSockets({ commandPrefix: ['env', nodeOptions] });
    const received = [];
    for (const [family, address] of [
      [4, '127.0.0.1'],
      [6, '::1'],
    ] as const) {
      const socket = await own.open({ family, protocol: 'icmp' });
      const packet = nextPacket(socket);
      const sentMs = await socket.send(echoRequest(family, socket.identifier, 1, Buffer.alloc(8)), address, 9);
      const { from, hopLimit, clock, receivedMs } = await packet;
      received.push({ from, hopLimit, clock, isAfter: receivedMs >= sentMs });
      socket.close();
    }
    await own.close();

    expect(received).toEqual([
      { from: '127.0.0.1', hopLimit: 64, clock: 'process', isAfter: true },
      { from: '::1', hopLimit: null, clock: 'process', isAfter: true },
    ]);
  });

  itWithIpv4('dates an arrival by the kernel, however late it is read', async () => {
    const stopMs = 200;
    const own = createPacketSockets();
    const socket = await own.open({ family: 4, protocol: 'icmp' });
    const other = await packets.open({ family: 4, protocol: 'icmp', identifier: socket.identifier });
    const { pid } = own.status();
    const request = echoRequest(4, socket.identifier, 1, Buffer.alloc(8));
    const received = nextPacket(socket);
    process.kill(pid!, 'SIGSTOP');
    await other.send(request, '127.0.0.1', 9);
    await new Promise((resolve) => setTimeout(resolve, stopMs));
    process.kill(pid!, 'SIGCONT');
    const { receivedMs, clock } = await received;
    const sentMs = await socket.send(request, '127.0.0.1', 9);
    other.close();
    await own.close();

    expect(clock).toBe('kernel');
    expect(sentMs - receivedMs).toBeGreaterThanOrEqual(stopMs - 1);
  });

  itWithIpv4('gives each socket its own packets only', async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => packets.open({ family: 4, protocol: 'icmp' })));
    const identifiers = await Promise.all(
      sockets.map(async (socket) => {
        const received = nextPacket(socket);
        await socket.send(echoRequest(4, socket.identifier, 1, Buffer.alloc(8)), '127.0.0.1', 9);
        const message = parseIcmp(4, (await received).data);
        return message?.kind === 'echo-reply' ? message.identifier : null;
      }),
    );
    for (const socket of sockets) socket.close();

    expect(identifiers).toEqual(sockets.map(({ identifier }) => identifier));
    expect(new Set(identifiers).size).toBe(20);
  });

  itWithIpv4('hears what a closed UDP port and a closed TCP port answer', async () => {
    const ports = { source: '127.0.0.1', destination: '127.0.0.1', destinationPort: 1 };
    const udp = await packets.open({ family: 4, protocol: 'udp' });
    const tcp = await packets.open({ family: 4, protocol: 'tcp' });
    const [unreachable, reset] = [nextPacket(udp), nextPacket(tcp)];
    await udp.send(udpDatagram({ ...ports, sourcePort: udp.identifier }, Buffer.from('x')), '127.0.0.1', 3);
    await tcp.send(tcpSyn({ ...ports, sourcePort: tcp.identifier }, 1_000), '127.0.0.1', 3);

    expect(parseIcmp(4, (await unreachable).data)).toMatchObject({ kind: 'unreachable', code: 3 });
    expect(parseTcp((await reset).data)).toMatchObject({
      acknowledgment: 1_001,
      flags: TCP_FLAGS.rst | TCP_FLAGS.ack,
    });
    udp.close();
    tcp.close();
  });

  itWithIpv4('throws at what cannot be sent, and lives on', async () => {
    const socket = await packets.open({ family: 4, protocol: 'icmp' });
    const tooLong = socket.send(new Uint8Array(2_049), '127.0.0.1', 9);

    await expect(tooLong).rejects.toMatchObject({ name: 'RangeError' });
    const noDscp = socket.send(new Uint8Array(8), '127.0.0.1', 9, { dscp: 64 });
    await expect(noDscp).rejects.toMatchObject({ name: 'RangeError' });
    await expect(socket.send(new Uint8Array(8), '::1', 9)).rejects.toMatchObject({ code: 'EBADF' });
    socket.close();
    await expect(socket.send(new Uint8Array(8), '127.0.0.1', 9)).rejects.toMatchObject({ code: 'EBADF' });
  });

  itWithIpv4('refuses an identifier that is taken, until it is free again', async () => {
    const first = await packets.open({ family: 4, protocol: 'udp', identifier: 61_111 });

    await expect(packets.open({ family: 4, protocol: 'udp', identifier: 61_111 })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    first.close();
    const again = await packets.open({ family: 4, protocol: 'udp', identifier: 61_111 });
    again.close();
  });

  itWithIpv4('refuses a port that a program of the machine has', async () => {
    const program = createSocket('udp4').bind(0, '127.0.0.1');
    await once(program, 'listening');
    const { port } = program.address();
    const opening = packets.open({ family: 4, protocol: 'udp', identifier: port });

    await expect(opening).rejects.toMatchObject({ code: 'EADDRINUSE' });
    program.close();
  });

  itWithIpv4('reports to its users that it died, and is there again for the next', async () => {
    const own = createPacketSockets();
    const socket = await own.open({ family: 4, protocol: 'icmp' });
    const lost = new Promise<Error>((resolve) => socket.onLost(resolve));
    killed(own.status().pid);

    expect((await lost).message).toContain('SIGKILL');
    await expect(socket.send(new Uint8Array(8), '127.0.0.1', 9)).rejects.toMatchObject({ code: 'ESRCH' });
    expect(own.status()).toMatchObject({ pid: null, crashes: 1 });
    const next = await own.open({ family: 4, protocol: 'icmp' });
    const received = nextPacket(next);
    await next.send(echoRequest(4, next.identifier, 1, Buffer.alloc(8)), '127.0.0.1', 9);
    expect((await received).from).toBe('127.0.0.1');
    await own.close();
  });

  itWithIpv4('starts it again for those who ask while it dies', async () => {
    const own = createPacketSockets();
    await own.sourceFor('127.0.0.1');
    // The packet process exits before it reads the next request, and this process has not noticed yet.
    killed(own.status().pid);
    const [socket, privilege, source] = await Promise.all([
      own.open({ family: 4, protocol: 'icmp' }),
      own.probePrivilege(),
      own.sourceFor('127.0.0.1'),
    ]);

    expect(socket.identifier).toBeGreaterThan(0);
    expect(privilege.ipv4).toBeNull();
    expect(source).toBe('127.0.0.1');
    expect(own.status().crashes).toBe(1);
    await own.close();
  });

  itWithIpv4('recalls the ICMP errors about a port that came before anyone asked, for each who asks', async () => {
    const { port, close } = await closedPort();
    const sender = createSocket('udp4');
    await new Promise<void>((resolve) => sender.connect(port, '127.0.0.1', resolve));
    sender.on('error', () => undefined).send('ours');
    await once(sender, 'error');
    const watch = { family: 4, protocol: 'udp', identifier: sender.address().port } as const;

    // This recalls far enough, however slow the packet process is.
    const recall = { ...watch, errorsOnly: { recallMs: 60_000 } };
    const [one, other] = await Promise.all([packets.open(recall), packets.open(recall)]);
    const [first, second] = await Promise.all([nextPacket(one), nextPacket(other)]);
    const blank = await packets.open({ ...watch, errorsOnly: { recallMs: 0 } });
    const heard = nextPacket(blank);
    sender.send('again');
    const live = await heard;
    for (const socket of [one, other, blank]) socket.close();
    sender.close();
    await close();

    for (const { protocol, data, from } of [first, second, live]) {
      expect(from).toBe('127.0.0.1');
      expect(protocol).toBe('icmp');
      expect(parseIcmp(4, data)).toMatchObject({ kind: 'unreachable', type: 3, code: 3 });
    }
  });

  itWithIpv4('recalls nothing of a time before it was there, and says so', async () => {
    const own = createPacketSockets();
    await own.probePrivilege();
    const watch = { family: 4, protocol: 'udp', identifier: 40_000, errorsOnly: { recallMs: 60_000 } } as const;

    const early = await own.open(watch);
    const late = await own.open({ ...watch, errorsOnly: { recallMs: 0 } });

    expect([early.isRecallPartial, late.isRecallPartial]).toEqual([true, false]);
    await own.close();
  });

  itWithIpv4('misses no error about a packet sent after its first socket opened', async () => {
    const own = createPacketSockets();
    await own.probePrivilege();
    const { port, close } = await closedPort();
    const context = { packets: own, showPrivateAddresses: true, isPrivateAddress: () => false };
    const target = {
      host: '127.0.0.1',
      address: '127.0.0.1',
      addresses: ['127.0.0.1'],
      family: 4,
      resolveMs: 0,
    } as const;

    const refused = await connectPinned(target, port, new AbortController().signal, { icmp: context });
    await close();
    await own.close();

    expect(refused).toMatchObject({ failure: { code: 'connection_refused' }, icmpUnread: false });
  });

  itWithIpv4('kills a packet process that no longer answers, and is there again for the next', async () => {
    const own = createPacketSockets();
    const socket = await own.open({ family: 4, protocol: 'icmp' });
    const lost = new Promise<Error>((resolve) => socket.onLost(resolve));
    process.kill(own.status().pid!, 'SIGSTOP');
    stopTheClock();
    const sending = socket.send(echoRequest(4, socket.identifier, 1, Buffer.alloc(8)), '127.0.0.1', 9);
    jest.advanceTimersByTime(SILENCE_MS);

    await expect(sending).rejects.toMatchObject({
      code: 'ESRCH',
      message: expect.stringContaining('did not answer for 5 seconds'),
    });
    expect((await lost).message).toContain('did not answer for 5 seconds');
    expect(own.status()).toMatchObject({ pid: null, crashes: 1 });
    const next = await own.open({ family: 4, protocol: 'icmp' });
    next.close();
    await own.close();
  });

  itWithIpv4('notices that it hangs even when the caller has left', async () => {
    const own = createPacketSockets();
    const socket = await own.open({ family: 4, protocol: 'icmp' });
    const other = await own.open({ family: 4, protocol: 'icmp' });
    const lost = new Promise<Error>((resolve) => other.onLost(resolve));
    process.kill(own.status().pid!, 'SIGSTOP');
    stopTheClock();
    const sending = socket.send(echoRequest(4, socket.identifier, 1, Buffer.alloc(8)), '127.0.0.1', 9);
    const left = expect(sending).rejects.toMatchObject({ code: 'EBADF' });
    socket.close();
    // After the first silence no answer is due, so the agent sends a request that always has one; the second silence
    // ends the process.
    jest.advanceTimersByTime(SILENCE_MS);
    await turns();
    jest.advanceTimersByTime(SILENCE_MS);

    await left;
    expect((await lost).message).toContain('did not answer for 5 seconds');
    await own.close();
  });

  itWithIpv4('leaves one alone that was asked nothing', async () => {
    const own = createPacketSockets();
    stopTheClock();
    const socket = await own.open({ family: 4, protocol: 'icmp' });
    await socket.send(echoRequest(4, socket.identifier, 1, Buffer.alloc(8)), '127.0.0.1', 9);
    for (let silence = 0; silence < 3; silence += 1) {
      jest.advanceTimersByTime(SILENCE_MS);
      await turns();
    }

    expect(own.status().crashes).toBe(0);
    await own.close();
  });

  itWithIpv4('leaves one alone that could not answer while the whole machine stood still', async () => {
    const own = createPacketSockets();
    const socket = await own.open({ family: 4, protocol: 'icmp' });
    const { pid } = own.status();
    process.kill(pid!, 'SIGSTOP');
    stopTheClock();
    const sending = socket.send(echoRequest(4, socket.identifier, 1, Buffer.alloc(8)), '127.0.0.1', 9);
    skip(SILENCE_MS);
    jest.advanceTimersByTime(SILENCE_MS);
    await turns();
    process.kill(pid!, 'SIGCONT');

    expect(await sending).toBeGreaterThan(0);
    expect(own.status()).toMatchObject({ pid, crashes: 0 });
    await own.close();
  });

  itWithIpv4('says what it lacks when it has no privilege', async () => {
    const own = createPacketSockets({ commandPrefix: ['setpriv', '--bounding-set=-net_raw', '--inh-caps=-net_raw'] });
    const privilege = await own.probePrivilege();
    const opening = own.open({ family: 4, protocol: 'icmp' });

    await expect(opening).rejects.toMatchObject({ code: 'EPERM' });
    expect(privilege.ipv4).toContain('CAP_NET_RAW');
    await own.close();
  });

  it('is away, with the reason, when it cannot be started', async () => {
    const own = createPacketSockets({ execPath: '/nonexistent/node' });

    await expect(own.open({ family: 4, protocol: 'icmp' })).rejects.toMatchObject({ code: 'ECHILD' });
    expect((await own.probePrivilege()).ipv4).toContain('ENOENT');
    expect(own.status().reason).toContain('ENOENT');
    await own.close();
  });

  itWithIpv4('is started again at short intervals while it cannot be started, and then works', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-packets-'));
    const flag = join(folder, 'no-process');
    writeFileSync(flag, '');
    const own = createPacketSockets({ commandPrefix: ['sh', '-c', `[ ! -e ${flag} ] && exec "$@"`, 'sh'] });

    stopTheClock();
    const startMs = performance.now();
    const pass = (): unknown => jest.advanceTimersByTime(250);

    for (; own.status().crashes < 7; pass()) await own.probePrivilege();
    expect(performance.now() - startMs).toBeLessThan(30_000);
    rmSync(folder, { recursive: true });
    for (; (await own.probePrivilege()).ipv4 !== null; pass()) expect(own.status().crashes).toBe(7);

    expect(performance.now() - startMs).toBeLessThan(30_000);
    expect(own.status()).toMatchObject({ reason: null, pid: expect.any(Number) });
    await own.close();
  });

  it('is away when something else answers in its place', async () => {
    const own = createPacketSockets({ commandPrefix: ['sh', '-c', 'printf nonsense >&3; sleep 5', 'sh'] });

    await expect(own.open({ family: 4, protocol: 'icmp' })).rejects.toMatchObject({
      code: 'ECHILD',
      message: expect.stringContaining('nonsense'),
    });
    await own.close();
  });

  it('finds the source address without a packet', async () => {
    expect(await packets.sourceFor('127.0.0.1')).toBe('127.0.0.1');
  });

  it('does not start again after it was closed', async () => {
    const own = createPacketSockets();
    await own.close();

    await expect(own.open({ family: 4, protocol: 'icmp' })).rejects.toMatchObject({ code: 'ECHILD' });
  });
});
