import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import { afterEach, describe, expect, it } from '@jest/globals';

import { testContext } from '@vantage/test-support/context';
import { startDnsServer, type AnswerDns, type DnsServer } from '@vantage/test-support/dns/server';
import { addressRecord, FLAGS, respond, wireName, type WireQuery } from '@vantage/test-support/dns/wire';
import { socketsRead } from '../../../../test/sockets-read.ts';
import { createTrustStore } from '../../../tls/certificate/trust-store.ts';
import { queryServer } from '../query-server.ts';
import { prepareQuery, type NameServer } from './query.ts';
import { queryUdp } from './udp.ts';

const servers: DnsServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map(async (server) => server.close()));
});

const prepared = prepareQuery({
  name: 'www.example.com.',
  recordType: { code: 65, name: 'HTTPS' },
  recursionDesired: true,
  checkingDisabled: false,
  edns: { dnssecOk: false, nsid: false },
});

const never = new AbortController().signal;
const icmp = testContext();

const right = (query: WireQuery): Buffer =>
  respond(query, { answers: [addressRecord('www.example.com', '192.0.2.1')] });
const lie = { answers: [addressRecord('www.example.com', '203.0.113.66')] };

describe('over UDP', () => {
  it.each<[string, (query: WireQuery) => Buffer]>([
    ['a wrong id', (query) => respond(query, { ...lie, id: query.id ^ 1 })],
    ['another name', (query) => respond(query, { ...lie, question: question('evil.example.com', 65) })],
    [
      'another name of the same length',
      (query) => respond(query, { ...lie, question: question('wwx.example.com', 65) }),
    ],
    ['another type', (query) => respond(query, { ...lie, question: question('www.example.com', 1) })],
    [
      'a type that differs as letters differ in case',
      (query) => respond(query, { ...lie, question: question('www.example.com', 97) }),
    ],
    ['another class', (query) => respond(query, { ...lie, question: question('www.example.com', 65, 3) })],
    ['no question but records', (query) => respond(query, { ...lie, question: null })],
    ['a query', (query) => asQuery(respond(query, lie))],
    ['another opcode', (query) => withOpcode(respond(query, lie), 2)],
    ['too few octets', () => Buffer.from([1])],
    ['nothing', () => Buffer.alloc(0)],
  ])('an answer with %s is ignored, and the right one is waited for', async (_reason, wrong) => {
    const server = await listen((query) => [wrong(query), right(query)]);

    const asked = await queryUdp(at(server), prepared, { waitsMs: [30_000], icmp }, never);

    expect(asked.answer?.message.answers.map(({ data }) => data)).toEqual(['192.0.2.1']);
  });

  it('only wrong answers end as silence, which the failure tells', async () => {
    const over = new AbortController();
    const server = await listen((query) => {
      void socketsRead().then(() => over.abort());
      return [respond(query, { id: query.id ^ 1 })];
    });

    const asked = await queryUdp(at(server), prepared, { waitsMs: [60_000], icmp }, over.signal);

    const message = expect.stringContaining('1 datagram came that did not answer the question');
    expect(asked.failure).toMatchObject({ code: 'timed_out', message });
  });

  it.each([
    ['port', '127.0.0.1'],
    ['address', '127.0.0.2'],
  ])('what comes from another %s is not seen', async (_of, strange) => {
    const stranger = createSocket('udp4');
    stranger.bind(0, strange);
    await once(stranger, 'listening');
    const server = createSocket('udp4');
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    server.on('message', (bytes, { port, address }) => {
      const query = {
        id: bytes.readUInt16BE(0),
        flags: 0,
        name: '',
        type: 65,
        question: question('www.example.com', 65),
        rest: bytes,
      };
      stranger.send(respond(query, lie), port, address, () => server.send(right(query), port, address));
    });

    const asked = await queryUdp(at(server.address()), prepared, { waitsMs: [30_000], icmp }, never);
    stranger.close();
    server.close();

    expect(asked.answer?.message.answers.map(({ data }) => data)).toEqual(['192.0.2.1']);
  });

  it('a question is sent again, with another id, until it is answered', async () => {
    let count = 0;
    const server = await listen((query) => (++count < 3 ? [] : [right(query)]));

    const asked = await queryUdp(at(server), prepared, { waitsMs: [100, 100, 30_000], icmp }, never);

    expect(asked.failure).toBeNull();
    expect(new Set(server.queries.map(({ query }) => query.id)).size).toBe(3);
  });

  it('a late answer to an earlier transmission counts as the answer to that one', async () => {
    let first: Buffer | undefined;
    const server = await listen((query) => {
      if (first !== undefined) return [first];
      first = right(query);
      return [];
    });

    const asked = await queryUdp(at(server), prepared, { waitsMs: [300, 30_000], icmp }, never);

    const ids = server.queries.map(({ query }) => query.id);
    expect(ids).toHaveLength(2);
    expect(asked.answer?.message.id).toBe(ids[0]);
  });

  it('silence ends after the last wait', async () => {
    const server = await listen(() => []);

    const asked = await queryUdp(at(server), prepared, { waitsMs: [50, 50], icmp }, never);

    expect(asked.failure?.code).toBe('timed_out');
    expect(server.queries).toHaveLength(2);
  });

  it('ends at once when it is aborted', async () => {
    const server = await listen(() => []);

    const asked = await queryUdp(at(server), prepared, { waitsMs: [60_000], icmp }, AbortSignal.timeout(100));

    expect(asked.failure?.code).toBe('timed_out');
  });

  it('an answer with the question in another case is an answer', async () => {
    const server = await listen((query) => [respond(query, { question: question('WWW.example.COM', 65) })]);

    const asked = await queryUdp(at(server), prepared, { waitsMs: [30_000], icmp }, never);

    expect(asked.failure).toBeNull();
  });

  it('an answer that breaks the format is a failure of the resolver', async () => {
    const server = await listen((query) => [right(query).subarray(0, -1)]);

    const asked = await queryUdp(at(server), prepared, { waitsMs: [30_000], icmp }, never);

    expect(asked.failure).toMatchObject({ code: 'dns_bad_response', source: 'resolver' });
  });
});

describe('a truncated answer', () => {
  const options = {
    transport: 'udp',
    waitsMs: [30_000],
    trust: createTrustStore([]),
    userAgent: '',
    icmp,
  } as const;

  it('is asked for again over TCP', async () => {
    const server = await listen((query, via) => [via === 'udp' ? respond(query, { flags: FLAGS.tc }) : right(query)]);

    const asked = await queryServer(at(server), prepared, options, never);

    expect(asked).toMatchObject({ failure: null, answer: { transport: 'tcp' } });
    expect(asked.answer?.message.answers).toHaveLength(1);
    expect(asked.answer?.connectMs).toBeGreaterThan(0);
  });

  it('is asked for again over TCP where it was cut in the middle of a record', async () => {
    const server = await listen((query, via) => {
      if (via === 'tcp') return [right(query)];
      return [respond(query, { ...lie, flags: FLAGS.tc }).subarray(0, -3)];
    });

    const asked = await queryServer(at(server), prepared, options, never);

    expect(asked).toMatchObject({ failure: null, answer: { transport: 'tcp' } });
  });

  it('is kept where TCP fails', async () => {
    const server = await listen((query, via) =>
      via === 'udp' ? [respond(query, { ...lie, flags: FLAGS.tc })] : [Buffer.alloc(4)],
    );

    const asked = await queryServer(at(server), prepared, options, never);

    expect(asked).toMatchObject({ failure: { code: 'dns_bad_response' }, answer: { transport: 'udp' } });
    expect(asked.answer?.message.flags).toContain('tc');
  });
});

function question(name: string, type: number, classCode = 1): Uint8Array {
  return Uint8Array.from([...wireName(name), type >> 8, type & 0xff, classCode >> 8, classCode & 0xff]);
}

function asQuery(bytes: Buffer): Buffer {
  bytes[2]! &= 0x7f;
  return bytes;
}

function withOpcode(bytes: Buffer, opcode: number): Buffer {
  bytes[2]! |= opcode << 3;
  return bytes;
}

function at({ port }: { readonly port: number }): NameServer {
  const address = '127.0.0.1';
  return { target: { host: address, address, family: 4, addresses: [address], resolveMs: 0 }, port };
}

async function listen(answer: AnswerDns): Promise<DnsServer> {
  const server = await startDnsServer(answer);
  servers.push(server);
  return server;
}
