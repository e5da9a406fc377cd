import { describe, expect, it } from '@jest/globals';
import { checkTypeNames } from '@vantage/diagnostics/contract';

import { readConfig, settings } from './config.ts';

const required = { PROBE_ID: 'fra-1', REDIS_URL: 'redis://127.0.0.1:6379' };

describe('the configuration of the agent', () => {
  it('offers every check type, allows nothing and runs 20 jobs at once unless told otherwise', () => {
    expect(readConfig(required)).toMatchObject({
      probeId: 'fra-1',
      checkTypes: checkTypeNames,
      concurrency: 20,
      targetAllow: [],
      targetAllowLinkLocal: false,
      dnsServers: [],
      showPrivateAddresses: false,
      contact: undefined,
    });
  });

  it.each([
    ['nothing', {}, /VANTAGE_URL is required, or PROBE_ID and REDIS_URL/],
    ['a Redis without an identifier', { REDIS_URL: required.REDIS_URL }, /VANTAGE_URL is required, or PROBE_ID/],
    ['a gateway and a Redis', { ...required, VANTAGE_URL: 'https://vantage.example.com' }, /exclude each other/],
  ])('refuses %s as the way to its jobs', (_reason, environment, message) => {
    expect(() => readConfig(environment)).toThrow(message);
  });

  it('connects to a gateway by its address alone', () => {
    const { transport } = readConfig({ VANTAGE_URL: 'https://vantage.example.com' });

    expect(transport).toEqual({ kind: 'gateway', url: 'https://vantage.example.com' });
  });

  it.each([
    ['an identifier in capitals', 'PROBE_ID', 'FRA'],
    ['an identifier that begins with a hyphen', 'PROBE_ID', '-fra'],
    ['a wish for screenshots that is none', 'SCREENSHOTS', 'maybe'],
    ['a Redis over HTTP', 'REDIS_URL', 'http://127.0.0.1'],
    ['a database that its user may not choose', 'REDIS_URL', 'redis://127.0.0.1/1'],
    ['no concurrency', 'CONCURRENCY', '0'],
    ['a check type that does not exist', 'CHECK_TYPES', 'tcp,telepathy'],
    ['no check type', 'CHECK_TYPES', ' , '],
    ['a range with bits beyond its length', 'TARGET_ALLOW', '10.0.0.1/8'],
    ['an odd address', 'TARGET_ALLOW', '0x7f.1/8'],
    ['a switch that is neither on nor off', 'TARGET_ALLOW_LINK_LOCAL_AND_METADATA_I_KNOW_WHAT_THIS_MEANS', 'yes'],
    ['a name that is none', 'TARGET_ALLOW_NAMES', 'a b'],
    ['a denied thing that is none', 'TARGET_DENY', '::g'],
    ['a resolver by name', 'DNS_SERVERS', 'dns.example'],
    ['a resolver with a port out of range', 'DNS_SERVERS', '192.0.2.53:70000'],
    ['an IPv4 resolver in brackets', 'DNS_SERVERS', '[192.0.2.53]:53'],
    ['a file of certificates that is not there', 'CA_FILE', '/nonexistent.pem'],
    ['a file of certificates that holds none', 'REDIS_CA_FILE', import.meta.filename],
    ['a contact that breaks a header', 'CONTACT', 'ops@example.org\r\nX: y'],
    ['a contact that is no address', 'CONTACT', 'ask around'],
    ['a contact that ends the comment it is in', 'CONTACT', 'https://example.org/)'],
  ])('refuses %s', (_reason, name, value) => {
    expect(() => readConfig({ ...required, [name]: value })).toThrow(name);
  });

  it.each([
    ['an IPv6 range', 'TARGET_ALLOW', 'fd00::/8', 'targetAllow', ['fd00::/8']],
    ['a single address', 'TARGET_ALLOW', '192.0.2.1', 'targetAllow', ['192.0.2.1']],
    ['a name without a dot', 'TARGET_ALLOW_NAMES', 'lan', 'targetAllowNames', ['lan']],
    [
      'a denied domain and range',
      'TARGET_DENY',
      'example.org, 192.0.2.0/24',
      'targetDeny',
      ['example.org', '192.0.2.0/24'],
    ],
    [
      'resolvers of every form',
      'DNS_SERVERS',
      '192.0.2.53,192.0.2.53:5353,::1,[::1]:53',
      'dnsServers',
      ['192.0.2.53', '192.0.2.53:5353', '::1', '[::1]:53'],
    ],
    ['a mail address', 'CONTACT', 'noc@example.org', 'contact', 'noc@example.org'],
    ['a page', 'CONTACT', 'https://example.org/probing', 'contact', 'https://example.org/probing'],
  ])('accepts %s', (_reason, name, value, field, read) => {
    expect(readConfig({ ...required, [name]: value })).toMatchObject({ [field]: read });
  });

  it('never prints the URL of Redis, which holds a password', () => {
    expect(() => readConfig({ ...required, REDIS_URL: 'http://user:hunter2@store' })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
    );
  });

  it('accepts an entry of NO_PROXY that matches nothing: agents of earlier releases ran with it', () => {
    const environment = { VANTAGE_URL: 'https://vantage.example.com', NO_PROXY: 'localhost,169.254/16' };

    expect(readConfig(environment)).toMatchObject({ noProxy: 'localhost,169.254/16' });
  });

  it('describes every setting in a sentence', () => {
    for (const { env, description } of Object.values(settings)) {
      expect(env).toMatch(/^[A-Z][A-Z_]+$/);
      expect(description).toMatch(/^[A-Z].*[.]$/s);
    }
  });
});
