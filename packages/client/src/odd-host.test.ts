import { describe, expect, it } from '@jest/globals';

import { targetMistake } from './target-mistake.ts';

const types = ['ping', 'http', 'dns', 'tcp', 'udp', 'traceroute', 'info'];
const facts = {
  ping: { type: 'ping', hostKind: 'host', hasPort: false, types },
  info: { type: 'info', hostKind: 'host', hasPort: false, types },
  http: { type: 'http', hostKind: 'url', hasPort: false, types },
  dns: { type: 'dns', hostKind: 'name', hasPort: false, types },
  tcp: { type: 'tcp', hostKind: 'host', hasPort: true, types },
} as const;

const ping = (host: string): object => ({ type: 'ping', host });
const tcp = (host: string, port: number): object => ({ type: 'tcp', host, port });
const mx = (host: string): object => ({ type: 'dns', host, recordType: 'MX' });
const http = (host: string): object => ({ type: 'http', host });

describe('a host that no check accepts', () => {
  it.each<[keyof typeof facts, string, RegExp, readonly object[]]>([
    ['info', 'AS3320', /^AS3320 is a network .* As a location it selects/, []],
    ['ping', 'user:pass@a.example', /user name or password/, [ping('a.example')]],
    ['ping', 'user@a.example:22', /user name or password/, [tcp('a.example', 22)]],
    ['tcp', 'user@a.example:22', /user name or password/, [tcp('a.example', 22)]],
    ['http', 'user:pass@a.example/b', /user name or password/, [http('https://a.example/b')]],
    ['http', 'http://u:p@a.example:8080/b@c', /user name or password/, [http('http://a.example:8080/b@c')]],
    ['ping', 'https://u:p@a.example/', /user name or password/, [ping('a.example'), http('https://a.example/')]],
    ['ping', 'user@', /user name or password/, []],
    ['ping', 'mailto:me@a.example', /not mailto\.$/, [mx('a.example'), ping('a.example')]],
    ['http', 'MAILTO:me@a.example?subject=x', /not mailto\.$/, [mx('a.example'), http('https://a.example')]],
    ['dns', 'mailto:me@a.example', /not mailto\.$/, [mx('a.example')]],
    ['ping', 'sip:me@a.example', /not sip\.$/, [ping('a.example')]],
    ['ping', 'javascript:alert(1)', /not javascript\.$/, []],
    ['http', 'data:text/html,x', /not data\.$/, []],
    ['ping', 'http://', /^The URL has no host\.$/, []],
    ['http', 'https://', /^The URL has no host\.$/, []],
    ['http', 'https:///a', /^The URL has no host\.$/, []],
    ['tcp', 'https://:80/', /^The URL has no host\.$/, []],
    ['ping', '<b>x</b>', /^“<” is part of no host name/, []],
    ['ping', '<a.example>', /^“<” is part of no host name/, [ping('a.example')]],
    ['ping', '"a.example"', /^“"” is part of no host name/, [ping('a.example')]],
    ['ping', '‘192.0.2.1’', /^“‘” is part of no host name/, [ping('192.0.2.1')]],
    ['ping', '“a.example:443”', /^““” is part of no host name/, [tcp('a.example', 443)]],
    ['ping', 'a.example,', /^“,” is part of no host name/, [ping('a.example')]],
    ['ping', 'a.example;b.example', /^“;” is part of no host name/, [ping('a.example')]],
    ['http', '(https://a.example/b)', /^“\(” is part of no host name/, []],
    ['ping', '127.1', /four decimal numbers/, [ping('127.0.0.1')]],
    ['ping', '0x7f000001', /four decimal numbers/, [ping('127.0.0.1')]],
    ['ping', '2130706433', /four decimal numbers/, [ping('127.0.0.1')]],
    ['ping', '192.0.2.1.', /four decimal numbers/, [ping('192.0.2.1')]],
    ['ping', '010.0.0.1', /octal/, [ping('8.0.0.1'), ping('10.0.0.1')]],
    ['ping', '192.0.2.300', /from 0 to 255/, []],
    ['ping', '443', /four decimal numbers/, []],
    ['http', 'http://127.1:8080/a', /four decimal numbers/, [http('http://127.0.0.1:8080/a')]],
    ['tcp', '127.1:80', /four decimal numbers/, [tcp('127.0.0.1', 80)]],
    ['tcp', 'a.example:abc', /^“abc” is no port/, [{ type: 'tcp', host: 'a.example' }]],
    ['tcp', 'a.example:70000', /^“70000” is no port/, [{ type: 'tcp', host: 'a.example' }]],
    ['tcp', 'a.example:', /^“” is no port/, [{ type: 'tcp', host: 'a.example' }]],
    ['http', 'https://a.example:0/b', /^“0” is no port/, [http('https://a.example/b')]],
    ['http', 'user@2001:db8::1/b', /user name or password/, [http('https://[2001:db8::1]/b')]],
    ['ping', 'fe80::1%eth0', /^fe80::1%eth0 is an address on one link/, []],
    ['http', 'http://[fe80::1%25en0]:8080/', /^fe80::1%en0 is an address on one link/, []],
    ['ping', '2001:db8::1%eth0', /^“%eth0” names an interface/, [ping('2001:db8::1')]],
    ['ping', '[2001:db8::1%12]', /^“%12” names an interface/, [ping('2001:db8::1')]],
    ['info', '2001:db8::1%', /^“%” names an interface/, [{ type: 'info', host: '2001:db8::1' }]],
    ['tcp', '[2001:db8::1%eth0]:443', /^“%eth0” names an interface/, [tcp('2001:db8::1', 443)]],
    ['ping', '[2001:db8::1%eth0]:443', /^“%eth0” names an interface/, [tcp('2001:db8::1', 443)]],
    ['http', '2001:db8::1%eth0', /^“%eth0” names an interface/, [http('https://[2001:db8::1]')]],
    ['http', 'http://[2001:db8::1%25en0]:81/b%25', /^“%en0” names/, [http('http://[2001:db8::1]:81/b%25')]],
    ['ping', 'http://[2001:db8::1%25en0]/', /^“%en0” names/, [ping('2001:db8::1'), http('http://[2001:db8::1]/')]],
    ['http', 'https:/a.example/b', /“:\/\/” has to follow https/, [http('https://a.example/b')]],
    ['ping', 'http//a.example', /“:\/\/” has to follow http/, [ping('a.example'), http('http://a.example')]],
  ])('is named and mended: %s %s', (type, text, message, fixes) => {
    expect(targetMistake(text, facts[type])).toEqual({ message: expect.stringMatching(message), fixes });
  });

  it.each<[keyof typeof facts, string]>([
    ['ping', '192.0.2.1'],
    ['ping', 'as.example'],
    ['tcp', '192.0.2.1:443'],
    ['tcp', 'http:80'],
    ['ping', '0.example'],
    ['ping', 'xn--bcher-kva.example'],
    ['ping', 'bücher.example'],
    ['ping', '2001:db8::1'],
    ['ping', '::ffff:192.0.2.1'],
    ['dns', '*.a.example'],
    ['dns', '_dmarc.a.example'],
    ['dns', '1.2.0.192.in-addr.arpa'],
    ['http', 'https://a.example/b@c,d;e=(f)?"g"'],
    ['http', 'https://[2001:db8::1]:8443/'],
  ])('is none of these: %s %s', (type, text) => {
    expect(targetMistake(text, facts[type])).toBeUndefined();
  });
});
