import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import { parseAddress } from '../src/address.ts';
import { createNameResolver, type NameResolver } from '../src/resolver.ts';

export type RecordType = 'A' | 'AAAA' | 'PTR';

/** What a server answers to one question; `undefined` from a zone means NXDOMAIN. */
export interface Answer {
  readonly rcode?: number;
  /** Addresses of the type asked for, or the labels of names for PTR, each joined by dots. */
  readonly records?: readonly string[];
  /** Sends nothing. */
  readonly silent?: boolean;
  /** Sends these bytes after the id instead of a message. */
  readonly garbage?: boolean;
  readonly delayMs?: number;
}

export type Zone = (name: string, type: RecordType, asked: number) => Answer | undefined;

export interface DnsServer {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  /** Every question so far, as `A example.com`. */
  readonly questions: readonly string[];
  readonly stop: () => Promise<void>;
}

const TYPES: Readonly<Record<number, RecordType>> = { 1: 'A', 12: 'PTR', 28: 'AAAA' };
const NXDOMAIN = 3;

/** A DNS server on loopback, UDP only, that answers what `zone` says. */
export async function startDnsServer(zone: Zone): Promise<DnsServer> {
  const questions: string[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const { name, code, end } = readQuestion(message);
    const type = TYPES[code];
    if (type === undefined) throw new Error(`asked for type ${code}`);
    questions.push(`${type} ${name}`);
    const asked = questions.filter((question) => question === `${type} ${name}`).length;
    const answer = zone(name, type, asked) ?? { rcode: NXDOMAIN };
    if (answer.silent === true) return;
    const reply = answer.garbage === true ? garbage(message) : encode(message.subarray(0, end), code, answer);
    const timer = setTimeout(() => {
      timers.delete(timer);
      socket.send(reply, peer.port, peer.address);
    }, answer.delayMs ?? 0);
    timers.add(timer);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    stop: async () => {
      for (const timer of timers) clearTimeout(timer);
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** A port that refuses datagrams, and that nobody else can take meanwhile: its socket speaks with one peer alone. */
export async function refusingPort(): Promise<DnsServer> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  // Its only peer is itself, and it sends nothing.
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const stop = async (): Promise<void> => {
    socket.close();
    await once(socket, 'close');
  };
  return { address: `127.0.0.1:${port}`, questions: [], stop };
}

/** Asks a server that answers: once, however long a busy machine lets it wait. */
export function patientResolver({ address }: Pick<DnsServer, 'address'>): NameResolver {
  return createNameResolver({ servers: [address], timeoutMs: 60_000, tries: 1 });
}

/** Asks a server that is silent. */
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

/** The question again, QR, RD and RA set, each record pointing back to the name of the question. */
function encode(question: Buffer, code: number, { rcode = 0, records = [] }: Answer): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | rcode, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records.map((record) => encodeRecord(code, record))]);
}

function encodeRecord(code: number, record: string): Buffer {
  const data = TYPES[code] === 'PTR' ? encodeName(record) : encodeAddress(record);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function encodeAddress(text: string): Buffer {
  const { family, value } = parseAddress(text)!;
  return Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex');
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'));
  return Buffer.concat([...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])]);
}

function garbage(message: Buffer): Buffer {
  const reply = Buffer.from(message.subarray(0, 12));
  reply.writeUInt16BE(0x8180, 2);
  reply.writeUInt16BE(9, 4);
  return reply;
}
