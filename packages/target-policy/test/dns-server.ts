import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

import { parseAddress } from '../src/addresses/address.ts';
import { createNameResolver, type NameResolver } from '../src/resolver/resolver.ts';

export type RecordType = 'A' | 'AAAA' | 'PTR';

/** Answer of the server to one question; `undefined` from a zone means NXDOMAIN. */
export interface Answer {
  readonly rcode?: number;
  /** Addresses of the queried type, or, for PTR, names with labels joined by dots. */
  readonly records?: readonly string[];
  /** True to send no response. */
  readonly silent?: boolean;
  /** Sends a message that ends too early. */
  readonly garbage?: boolean;
  readonly delayMs?: number;
  /** Records of any type, owner and length, in the answer section, before `records`. */
  readonly raw?: readonly RawRecord[];
  /** An EDNS option in the OPT record; by default there is none. */
  readonly option?: { readonly code: number; readonly data: Buffer };
  /** Over UDP the answer is cut off. */
  readonly truncated?: boolean;
  /** Connections over TCP are closed without an answer. */
  readonly closesTcp?: boolean;
  /** Nothing is sent over TCP. */
  readonly silentTcp?: boolean;
  /** The SOA of this zone in the authority section. */
  readonly soa?: string;
  /** Header flags that are cleared, such as RA. */
  readonly without?: number;
}

export interface RawRecord {
  readonly owner: string;
  readonly type: number;
  readonly data: Buffer;
}

export const RA = 0x80;

/** `asked` counts the queries for the name and type; `hasEdns`: the query has an OPT record. */
export type Zone = (name: string, type: RecordType, asked: number, hasEdns: boolean) => Answer | undefined;

export interface DnsServer {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  /** Every question so far, as `A example.com`; over TCP, as `A example.com tcp`. */
  readonly questions: readonly string[];
  readonly stop: () => Promise<void>;
}

const TYPES: Readonly<Record<number, RecordType>> = { 1: 'A', 12: 'PTR', 28: 'AAAA' };
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

function readQuestion(message: Buffer): { readonly name: string; readonly code: number; readonly end: number } {
  const labels: string[] = [];
  let offset = 12;
  while (message[offset] !== 0) {
    const length = message[offset]!;
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length));
    offset += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), code: message.readUInt16BE(offset + 1), end: offset + 5 };
}

/** The query repeated with QR, RD and RA set; each of `records` points to the queried name. */
function encode(question: Buffer, code: number, answer: Answer): Buffer {
  const { rcode = 0, records = [], raw = [], option, truncated = false, soa, without = 0 } = answer;
  const head = Buffer.from(question);
  head.writeUInt16BE((0x8180 | rcode | (truncated ? 0x0200 : 0)) & ~without, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(raw.length + records.length, 6);
  head.writeUInt16BE(soa === undefined ? 0 : 1, 8);
  head.writeUInt16BE(option === undefined ? 0 : 1, 10);
  const toQuestion = Buffer.of(0xc0, 0x0c);
  return Buffer.concat([
    head,
    ...raw.map(({ owner, type, data }) => encodeRecord(encodeDnsName(owner), type, data)),
    ...records.map((record) =>
      encodeRecord(toQuestion, code, TYPES[code] === 'PTR' ? encodeDnsName(record) : encodeAddress(record)),
    ),
    ...(soa === undefined ? [] : [encodeRecord(encodeDnsName(soa), 6, Buffer.alloc(22))]),
    ...(option === undefined ? [] : [encodeRecord(Buffer.of(0), 41, encodeOption(option.code, option.data))]),
  ]);
}

function encodeRecord(owner: Buffer, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, head, data]);
}

function encodeOption(code: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(code, 0);
  head.writeUInt16BE(data.length, 2);
  return Buffer.concat([head, data]);
}

function encodeAddress(text: string): Buffer {
  const { family, value } = parseAddress(text)!;
  return Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex');
}

export function encodeDnsName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'));
  return Buffer.concat([...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])]);
}

/** The query repeated, with a count of nine records that are missing. */
function garbage(question: Buffer): Buffer {
  const reply = Buffer.from(question);
  reply.writeUInt16BE(0x8180, 2);
  reply.writeUInt16BE(9, 6);
  reply.writeUInt32BE(0, 8);
  return reply;
}
