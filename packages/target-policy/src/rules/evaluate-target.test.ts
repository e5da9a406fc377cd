import { describe, expect, it } from '@jest/globals';

import { evaluateTarget, type TargetRequest } from './evaluate-target.ts';
import { createTargetPolicy } from './policy.ts';

const policy = createTargetPolicy();

const ping = (host: string): TargetRequest => ({ hostKind: 'host', purpose: 'icmp', host });
const tcp = (host: string, port: number): TargetRequest => ({ hostKind: 'host', purpose: 'tcp', host, port });
const http = (host: string): TargetRequest => ({ hostKind: 'url', purpose: 'http', host });
const dns = (host: string): TargetRequest => ({ hostKind: 'name', purpose: 'dns', host });
const resolver = (host: string, port?: number): TargetRequest => ({ hostKind: 'host', purpose: 'dns', host, port });

describe('the early judgement of a target', () => {
  it.each([
    ['a name', ping('Example.COM.'), 'example.com', undefined],
    ['a literal', tcp('8.8.8.8', 443), '8.8.8.8', 443],
    ['a literal in brackets', tcp('[2606:4700::1111]', 443), '2606:4700::1111', 443],
    ['a URL', http('https://EXAMPLE.com:8443/a'), 'https://example.com:8443/a', 8443],
    ['a URL without a port', http('https://example.com'), 'https://example.com/', 443],
    ['the root for a question', dns('.'), '.', undefined],
    ['a top-level domain for a question', dns('ORG.'), 'org', undefined],
    ['a reversed address for a question', dns('8.8.8.8.in-addr.arpa'), '8.8.8.8.in-addr.arpa', undefined],
    ['a name to ask about, whatever port is given with it', { ...dns('example.com'), port: 5353 }, 'example.com', 5353],
    ['an address for a question', dns('8.8.8.8'), '8.8.8.8', undefined],
    ['a resolver', resolver('9.9.9.9', 853), '9.9.9.9', 853],
    ['a name that may resolve to anything', ping('localtest.me'), 'localtest.me', undefined],
  ])('accepts %s in its canonical text', (_reason, request, host, port) => {
    expect(evaluateTarget(request, policy)).toMatchObject({ verdict: 'accepted', host, port });
  });

  it.each([
    ['octal', ping('0177.0.0.1'), 'non_canonical_ip'],
    ['a trailing dot after an address', ping('8.8.8.8.'), 'non_canonical_ip'],
    ['no dot', ping('localhost'), 'dotless'],
    ['a URL where a host belongs', ping('https://example.com/'), 'url'],
    ['a host where a URL belongs', http('example.com'), 'url_syntax'],
    ['credentials', http('http://a:b@example.com/'), 'url_credentials'],
    ['port 0 in a URL', http('http://example.com:0/'), 'url_port'],
    ['an odd form that the policy would refuse too', http('http://2130706433:25/'), 'non_canonical_ip'],
    ['a literal of the other family', { ...ping('8.8.8.8'), family: 6 }, 'family_mismatch'],
  ] as const)('calls malformed: %s', (_reason, request, code) => {
    expect(evaluateTarget(request, policy)).toMatchObject({ verdict: 'malformed', code });
  });

  it.each([
    ['a private literal', ping('10.0.0.1'), 'address_special'],
    ['a private literal in a URL', http('http://[::1]/'), 'address_special'],
    ['metadata', http('http://169.254.169.254/latest/meta-data/'), 'address_special'],
    ['a special-use name', ping('app.localhost'), 'name_special'],
    ['an unknown suffix', ping('nas.fritzbox'), 'name_unknown_suffix'],
    ['a mail port', tcp('example.com', 25), 'port_refused'],
    ['port 0', tcp('example.com', 0), 'port_refused'],
    ['a bad port of a URL', http('http://example.com:22/'), 'port_refused'],
    ['a resolver on another port', resolver('9.9.9.9', 5353), 'port_refused'],
    ['a private resolver', resolver('192.168.0.1', 53), 'address_special'],
    ['a question about a private name', dns('db.internal'), 'name_special'],
    ['a question about a private address', dns('1.0.0.10.in-addr.arpa'), 'name_reversed_address'],
    ['a private address as a question', dns('10.0.0.1'), 'address_special'],
  ])('refuses %s', (_reason, request, code) => {
    expect(evaluateTarget(request, policy)).toMatchObject({ verdict: 'refused', code });
  });

  it('knows the operator’s exceptions', () => {
    const own = createTargetPolicy({ allow: ['127.0.0.0/8'], allowNames: ['localhost'] });

    expect(evaluateTarget(tcp('127.0.0.1', 8080), own)).toMatchObject({ verdict: 'accepted' });
    expect(evaluateTarget(http('http://localhost:8080/'), own)).toMatchObject({ verdict: 'accepted' });
    expect(evaluateTarget(tcp('127.0.0.1', 25), own)).toMatchObject({ verdict: 'refused', code: 'port_refused' });
    expect(evaluateTarget(ping('127.1'), own)).toMatchObject({ verdict: 'malformed' });
    expect(evaluateTarget(ping('[::1]'), own)).toMatchObject({ verdict: 'refused' });
  });

  it('takes an IPv4 literal with family 4 and an IPv6 one with family 6', () => {
    expect(evaluateTarget({ ...ping('8.8.8.8'), family: 4 }, policy)).toMatchObject({ verdict: 'accepted' });
    expect(evaluateTarget({ ...ping('2606:4700::1'), family: 6 }, policy)).toMatchObject({ verdict: 'accepted' });
  });
});
