import { createReader } from '@vantage/contract/dns-message';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { sampleRecords } from '@vantage/test-support/dns/samples';
import { startDnsServer, type DnsServer } from '@vantage/test-support/dns/server';
import { respond } from '@vantage/test-support/dns/wire';
import { recordTypeCodes } from './record-types.ts';
import { decodeMessage } from './message.ts';
import { presentData } from './rdata.ts';

const run = promisify(execFile);

const digVersion = await run('dig', ['-v']).then(
  ({ stderr }) => stderr.trim(),
  () => null,
);
if (digVersion === null && process.env['CI'] === 'true')
  throw new Error('CI needs dig (Debian package bind9-dnsutils).');

const wanted = [
  'A AAAA CAA CERT CNAME DNAME DNSKEY DS HTTPS LOC MX NAPTR NS NSEC NSEC3 NSEC3PARAM OPENPGPKEY PTR RRSIG SMIMEA SOA',
  'SPF SRV SSHFP SVCB TLSA TXT URI TYPE65280',
].flatMap((line) => line.split(' '));

/** 32 digits: dig accepts an NSEC3 record only if its owner resembles a hash. */
const ownerOf = (at: number): string => `${String(at).padStart(32, '0')}.example.com.`;

describe('the samples', () => {
  it('hold each type that is promised', () => {
    const sampled = new Set(sampleRecords.map(({ type }) => type));

    expect(wanted.filter((type) => !sampled.has(type))).toEqual([]);
  });

  it('have the codes of their types', () => {
    const named = sampleRecords.filter(({ type }) => !type.startsWith('TYPE'));

    for (const { type, code } of named) expect([type, recordTypeCodes[type as 'A']]).toEqual([type, code]);
  });
});

const describeWithDig = digVersion === null ? describe.skip : describe;

describeWithDig(`the presentation of data, compared with ${digVersion ?? 'dig, which is not installed'}`, () => {
  let server: DnsServer;
  const fromDig = new Map<string, string>();

  beforeAll(async () => {
    server = await startDnsServer((query) => {
      const sample = sampleRecords[Number(query.name.split('.')[0])];
      if (sample === undefined) return [];
      return [respond(query, { answers: [{ name: query.name, type: sample.code, data: sample.data }] })];
    });
    const questions = sampleRecords.flatMap(({ code }, at) => [ownerOf(at), `TYPE${code}`]);
    const flags = ['+noall', '+answer', '+nocookie', '+tries=1', '+time=3'];
    const { stdout } = await run('dig', ['@127.0.0.1', '-p', String(server.port), ...flags, ...questions]);
    for (const line of stdout.split('\n')) {
      // The type by dig's name, and the data. Before 9.20, dig does not know the name of key 7 (RFC 9461).
      const fields = /^(\d+\.example\.com\.)\s+\d+\s+IN\s+(.*)$/.exec(line);
      if (fields !== null) fromDig.set(fields[1]!, fields[2]!.replace('\t', ' ').replace(' key7=', ' dohpath='));
    }
  });

  afterAll(async () => server.close());

  it.each(sampleRecords.map((sample, at) => [sample.type, sample.reason, sample, at] as const))(
    '%s is the same text: %s',
    (_type, _reason, sample, at) => {
      const query = {
        id: 1,
        flags: 0,
        name: '.',
        type: sample.code,
        question: new Uint8Array(),
        rest: new Uint8Array(),
      };
      const bytes = respond(query, {
        question: null,
        answers: [{ name: ownerOf(at), type: sample.code, data: sample.data }],
      });

      const [record] = decodeMessage(bytes).answers;

      expect(`${record?.type} ${record?.data}`.trimEnd()).toBe(fromDig.get(ownerOf(at))?.trimEnd());
    },
  );
});

describe('the presentation of data', () => {
  it('is that of RFC 3597 for a class other than IN', () => {
    expect(presentData(1, 3, createReader(Uint8Array.of(1, 2, 3, 4)))).toBe('\\# 4 01020304');
  });

  it('is that of RFC 3597 for a version of LOC that is not known', () => {
    expect(presentData(29, 1, createReader(Uint8Array.of(1, 2, 3)))).toBe('\\# 3 010203');
  });

  it.each([
    ['now', 1_790_000_000, /^20260921/],
    ['after the 32 bits wrapped', 100, /^21060207062956|^1970/],
  ])('of a signature time is the one nearest to now: %s', (_when, seconds, expected) => {
    const time = [seconds >>> 24, (seconds >> 16) & 0xff, (seconds >> 8) & 0xff, seconds & 0xff];
    const data = Uint8Array.from([0, 1, 8, 2, 0, 0, 0, 60, ...time, ...time, 0, 1, 0]);

    expect(presentData(46, 1, createReader(data)).split(' ')[4]).toMatch(expected);
  });
});
