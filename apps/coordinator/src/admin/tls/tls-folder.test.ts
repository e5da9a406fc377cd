import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { ensureTls, readCa } from './tls-folder.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-tls-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const file = (...path: readonly string[]): string => readFileSync(join(folder, ...path), 'utf8');
const hosts = ['redis.example.net', '192.0.2.1', '2001:db8::1:ff', '::ffff:192.0.2.7'];
const DAY_MS = 86_400_000;

/** Verifies the certificate of Redis by `openssl verify`, independently of Node; throws if it is refused. */
function openssl(...args: readonly string[]): string {
  const files = ['-CAfile', join(folder, 'ca', 'ca.crt'), join(folder, 'redis', 'redis.crt')];
  return execFileSync('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', ...args, ...files], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

describe('the certificates of the agents’ Redis', () => {
  it('are good to OpenSSL at its strictest, for every host and for no other', async () => {
    await ensureTls(folder, { hosts });

    expect(openssl('-verify_hostname', 'redis.example.net')).toContain('OK');
    for (const address of hosts.slice(1)) expect(openssl('-verify_ip', address)).toContain('OK');
    expect(() => openssl('-verify_hostname', 'other.example.net')).toThrow(/mismatch/);
    expect(() => openssl('-verify_ip', '192.0.2.2')).toThrow(/mismatch/);
    expect(() => openssl('-purpose', 'crlsign')).toThrow();
  });

  it('have keys that their owner alone can read', async () => {
    await ensureTls(folder, { hosts });

    for (const key of ['ca/ca.key', 'redis/redis.key']) expect(statSync(join(folder, key)).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'ca')).mode & 0o777).toBe(0o700);
    expect(file('redis', 'ca.crt')).toBe(file('ca', 'ca.crt'));
  });

  it('are made once', async () => {
    const first = await ensureTls(folder, { hosts });
    const before = [file('ca', 'ca.crt'), file('redis', 'redis.crt'), file('redis', 'redis.key')];
    const second = await ensureTls(folder, { hosts: ['redis.example.net'] });

    expect([first.made, second.made]).toEqual([['ca', 'certificate'], []]);
    expect([file('ca', 'ca.crt'), file('redis', 'redis.crt'), file('redis', 'redis.key')]).toEqual(before);
  });

  it.each([
    ['a host is new', { hosts: ['new.example.net'] }, 0],
    ['it ends soon', { hosts: [] }, 800],
    ['it is asked for', { hosts: [], renew: true }, 0],
  ])('are issued again, by the same CA and for the old hosts too, if %s', async (_reason, order, days) => {
    await ensureTls(folder, { hosts });
    const [ca, old] = [file('ca', 'ca.crt'), file('redis', 'redis.crt')];

    const { made } = await ensureTls(folder, order, new Date(Date.now() + days * DAY_MS));

    const issued = new X509Certificate(file('redis', 'redis.crt'));
    expect(made).toEqual(['certificate']);
    expect(file('ca', 'ca.crt')).toBe(ca);
    expect(file('redis', 'redis.crt')).not.toBe(old);
    expect(issued.checkHost('redis.example.net')).toBeDefined();
    for (const host of order.hosts) expect(issued.checkHost(host)).toBeDefined();
  });

  it('are issued again if the key does not match: a renewal was interrupted', async () => {
    await ensureTls(folder, { hosts });
    writeFileSync(join(folder, 'redis', 'redis.key'), file('ca', 'ca.key'));

    expect((await ensureTls(folder, { hosts })).made).toEqual(['certificate']);
    const key = createPrivateKey(file('redis', 'redis.key'));
    expect(new X509Certificate(file('redis', 'redis.crt')).checkPrivateKey(key)).toBe(true);
  });

  it('need the key of the CA only where one is made', async () => {
    await ensureTls(folder, { hosts });
    rmSync(join(folder, 'ca', 'ca.key'));

    expect((await ensureTls(folder, { hosts })).made).toEqual([]);
    await expect(ensureTls(folder, { hosts: ['new.example.net'] })).rejects.toThrow(/ca\.key is not there/);
    expect(readCa(folder)).toBe(file('ca', 'ca.crt'));
  });
});
