import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

import { createNameResolver, type NameResolver } from '../src/resolver/resolver.ts';
import { type RecordType, type Answer, TYPES, readQuestion, encode, garbage } from './dns-message.ts';

/** `asked` counts the queries for the name and type; `hasEdns`: the query has an OPT record. */
export type Zone = (name: string, type: RecordType, asked: number, hasEdns: boolean) => Answer | undefined;

export interface DnsServer {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  /** Every question so far, as `A example.com`; over TCP, as `A example.com tcp`. */
  readonly questions: readonly string[];
  readonly stop: () => Promise<void>;
}

const NXDOMAIN = 3;

/** Starts a DNS server on loopback, over UDP and TCP, that answers from `zone`. */
export async function startDnsServer(zone: Zone): Promise<DnsServer> {
  const questions: string[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const answerTo = (message: Buffer, over: string, send: (reply: Buffer) => void, close?: () => void): void => {
    const { name, code, end } = readQuestion(message);
    const type = TYPES[code];
    if (type === undefined) throw new Error(`asked for type ${code}`);
    questions.push(`${type} ${name}${over}`);
    const asked = questions.filter((question) => question.startsWith(`${type} ${name}`)).length;
    const answer = zone(name, type, asked, message.readUInt16BE(10) > 0) ?? { rcode: NXDOMAIN };
    if (answer.silent === true || (answer.silentTcp === true && over !== '')) return;
    if (answer.closesTcp === true && close !== undefined) return close();
    const isCutOff = answer.truncated === true && over === '';
    const question = message.subarray(0, end);
    const reply =
      answer.garbage === true
        ? garbage(question)
        : encode(question, code, isCutOff ? cutOff : { ...answer, truncated: false });
    const timer = setTimeout(() => {
      timers.delete(timer);
      send(reply);
    }, answer.delayMs ?? 0);
    timers.add(timer);
  };
  const streams = new Set<Socket>();
  const listener = createServer((stream) => {
    streams.add(stream.on('error', () => undefined));
    stream.once('data', (chunk: Buffer) => {
      const send = (reply: Buffer): void => {
        stream.end(Buffer.concat([Buffer.of(reply.length >> 8, reply.length & 0xff), reply]));
      };
      answerTo(chunk.subarray(2), ' tcp', send, () => stream.destroy());
    });
  });
  const socket = await bindBoth(listener);
  socket.on('message', (message, peer) => {
    answerTo(message, '', (reply) => socket.send(reply, peer.port, peer.address));
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    stop: async () => {
      for (const timer of timers) clearTimeout(timer);
      for (const stream of streams) stream.destroy();
      listener.close();
      socket.close();
      await Promise.all([once(socket, 'close'), once(listener, 'close')]);
    },
  };
}

const cutOff: Answer = { truncated: true };

/** A port that is free for both protocols; tries again if another program has the TCP port. */
async function bindBoth(listener: Server): Promise<UdpSocket> {
  for (;;) {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    listener.listen(socket.address().port, '127.0.0.1');
    const isBound = await once(listener, 'listening').then(
      () => true,
      () => false,
    );
    if (isBound) return socket;
    socket.close();
  }
}

/** A port that refuses datagrams and that no other socket can take: its socket is connected to one peer. */
export async function refusingPort(): Promise<DnsServer> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  // A connected socket takes packets of its peer only: here itself, and it sends nothing.
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const stop = async (): Promise<void> => {
    socket.close();
    await once(socket, 'close');
  };
  return { address: `127.0.0.1:${port}`, questions: [], stop };
}

/** For a responsive server: one query with a long timeout, for busy machines. */
export function patientResolver({ address }: Pick<DnsServer, 'address'>): NameResolver {
  return createNameResolver({ servers: [address], timeoutMs: 60_000, tries: 1 });
}

/** A resolver with short timeouts, for a silent server. */
export function hastyResolver({ address }: Pick<DnsServer, 'address'>): NameResolver {
  return createNameResolver({ servers: [address], timeoutMs: 100, tries: 1 });
}
