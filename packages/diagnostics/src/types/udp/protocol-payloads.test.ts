import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import { ruleErrors } from '@vantage/contract';

import { opensslVersion } from '@vantage/test-support/certificate-mint';
import { FLAGS, readQuery } from '@vantage/test-support/dns/wire';
import { udp } from './contract.ts';
import { protocolPayload } from './protocol-payloads.ts';

const run = promisify(execFile);

const hasOpenssl = opensslVersion() !== null;
if (!hasOpenssl && process.env['CI'] === 'true') throw new Error('CI needs openssl.');
const itWithOpenssl = hasOpenssl ? it : it.skip;

const ask = (port: number, host = '192.0.2.1'): Buffer => Buffer.from(protocolPayload(port, host, 'vantage-test'));

describe('what is sent to a well-known port', () => {
  it('is a DNS query for the root', () => {
    const query = readQuery(ask(53));

    expect(query).toMatchObject({ flags: FLAGS.rd, name: '.', type: 6 });
    expect(query.rest).toHaveLength(0);
  });

  it('is a client packet of NTP version 4 without the clock of the probe in it', () => {
    const packet = ask(123);

    expect(packet).toHaveLength(48);
    expect(packet[0]).toBe(0b00_100_011);
    expect(packet.subarray(1, 40)).toEqual(Buffer.alloc(39));
  });

  itWithOpenssl('is a get request of SNMP version 1 that openssl can read as ASN.1', async () => {
    const question = ask(161);

    const child = run('openssl', ['asn1parse', '-inform', 'DER', '-i']);
    child.child.stdin?.end(question);
    const { stdout } = await child;

    expect(stdout).toContain('1.3.6.1.2.1.1.1.0');
    expect(stdout).toContain('public');
    expect(stdout.split('\n').filter((line) => line.includes('SEQUENCE'))).toHaveLength(3);
  });

  it.each([443, 853])('is a QUIC packet of a reserved version, 1200 bytes long: %s', (port) => {
    const packet = ask(port);

    expect(packet).toHaveLength(1200);
    expect(packet[0]! & 0xc0).toBe(0xc0);
    expect(packet.readUInt32BE(1) & 0x0f0f0f0f).toBe(0x0a0a0a0a);
    expect([packet[5], packet[14]]).toEqual([8, 8]);
  });

  it.each([3478, 3479, 19302])('is a STUN binding request: %s', (port) => {
    const packet = ask(port);

    expect(packet).toHaveLength(20);
    expect(packet.subarray(0, 8).toString('hex')).toBe('000100002112a442');
  });

  it('is an OPTIONS request of SIP that names the probe', () => {
    const lines = ask(5060, '2001:db8::1').toString().split('\r\n');

    expect(lines[0]).toBe('OPTIONS sip:[2001:db8::1]:5060 SIP/2.0');
    expect(lines).toContain('User-Agent: vantage-test');
    expect(lines).toContain('Content-Length: 0');
    expect(lines.slice(-2)).toEqual(['', '']);
  });

  it('is another one each time, so that answers cannot be guessed', () => {
    for (const port of [53, 123, 161, 443, 3478, 5060, 5683]) {
      // Some payloads have two random bytes, which may be equal by chance.
      const payloads = new Set(Array.from({ length: 4 }, () => ask(port).toString('hex')));

      expect(payloads.size).toBeGreaterThan(1);
    }
  });

  it.each([7, 13, 17, 19, 111, 137, 389, 520, 1900, 3702, 5353, 11211, 40_000])(
    'is an empty datagram to %s',
    (port) => {
      expect(ask(port)).toHaveLength(0);
    },
  );
});

describe('a payload of a caller’s', () => {
  it.each([7, 13, 17, 19, 53, 111, 123, 137, 161, 389, 520, 1900, 3702, 5353, 11211])(
    'is refused for port %s',
    (port) => {
      const options = { attempts: 3, payload: '00' };

      expect(ruleErrors(udp, { host: '192.0.2.1', port, options }).map(({ path }) => path)).toEqual([
        '/options/payload',
      ]);
      expect(ruleErrors(udp, { host: '192.0.2.1', port, options: { attempts: 3 } })).toEqual([]);
    },
  );

  it('is taken for another port', () => {
    expect(ruleErrors(udp, { host: '192.0.2.1', port: 5060, options: { attempts: 3, payload: '00' } })).toEqual([]);
  });

  it('leaves time for each attempt, and for a late reply to the last', () => {
    expect(udp.budgetMs({ host: '192.0.2.1', port: 9, options: { attempts: 2 } })).toBe(8_000);
  });
});
