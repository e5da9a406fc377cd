import { describe, expect, it } from '@jest/globals';

import { targetMistake } from './target-mistake.ts';

const types = ['ping', 'http', 'dns', 'tcp', 'udp', 'traceroute', 'info'];
const facts = {
  ping: { type: 'ping', hostKind: 'host', hasPort: false, types },
  http: { type: 'http', hostKind: 'url', hasPort: false, types },
  traceroute: { type: 'traceroute', hostKind: 'host', hasPort: false, types },
  dns: { type: 'dns', hostKind: 'name', hasPort: false, types },
  tcp: { type: 'tcp', hostKind: 'host', hasPort: true, types },
} as const;

describe('a mistake in a target', () => {
  it.each([
    ['a network', 'ping', '192.0.2.1/24', /is a network/, [{ type: 'ping', host: '192.0.2.1' }]],
    ['an IPv6 network', 'tcp', '2001:db8::/32', /is a network/, [{ type: 'tcp', host: '2001:db8::' }]],
    ['words', 'ping', 'not a host', /no blanks/, []],
    ['a command', 'http', 'ping example.com', /no blanks/, [{ type: 'ping', host: 'example.com' }]],
    ['a command with a count', 'http', 'ping a.example 4', /no blanks/, [{ type: 'ping', host: 'a.example' }]],
    ['curl', 'ping', 'curl -I http://a.example', /no blanks/, [{ type: 'http', host: 'http://a.example' }]],
    ['a command with a port', 'ping', 'udp a.example 53', /no blanks/, [{ type: 'udp', host: 'a.example', port: 53 }]],
    ['a port behind a blank', 'ping', 'example.com 25', /no blanks/, [{ type: 'tcp', host: 'example.com', port: 25 }]],
    ['options', 'ping', '-c 4 a.example', /no blanks/, [{ type: 'ping', host: 'a.example' }]],
    ['a command with options', 'http', 'ping a.example -c 4', /no blanks/, [{ type: 'ping', host: 'a.example' }]],
    ['a port for nc', 'ping', 'nc -w 3 a.example 25', /no blanks/, [{ type: 'tcp', host: 'a.example', port: 25 }]],
    [
      'a port in a command',
      'ping',
      's_client a.example:25',
      /no blanks/,
      [{ type: 'tcp', host: 'a.example', port: 25 }],
    ],
    [
      'a port in a command that has none',
      ...(['ping', 'ping example.com:443'] as const),
      /^A ping check has no port/,
      [
        { type: 'tcp', host: 'example.com', port: 443 },
        { type: 'ping', host: 'example.com' },
      ],
    ],
    ['a port for curl', 'ping', 'curl a.example:8080', /no blanks/, [{ type: 'http', host: 'a.example:8080' }]],
    [
      'a command with a URL',
      ...(['ping', 'ping http://192.0.2.1:8080/'] as const),
      /no blanks/,
      [
        { type: 'http', host: 'http://192.0.2.1:8080/' },
        { type: 'ping', host: '192.0.2.1' },
      ],
    ],
    [
      'a command with another scheme',
      ...(['ping', 'ping ssh://a.example/'] as const),
      /no blanks/,
      [
        { type: 'tcp', host: 'a.example', port: 22 },
        { type: 'ping', host: 'a.example' },
      ],
    ],
    ['an IPv6 address', 'http', 'mtr 2001:db8::1', /no blanks/, [{ type: 'traceroute', host: '2001:db8::1' }]],
    ['a record type', 'dns', 'mx a.example', /no blanks/, [{ type: 'dns', host: 'a.example', recordType: 'MX' }]],
    [
      'a record type elsewhere',
      'ping',
      'MX a.example',
      /no blanks/,
      [{ type: 'dns', host: 'a.example', recordType: 'MX' }],
    ],
    [
      'a record type that an address does not have',
      ...(['dns', '192.0.2.1 MX'] as const),
      /no blanks/,
      [
        { type: 'dns', host: '192.0.2.1', recordType: 'PTR' },
        { type: 'info', host: '192.0.2.1' },
      ],
    ],
    [
      'an address in a command for names',
      ...(['ping', 'dig 2001:db8::1'] as const),
      /no blanks/,
      [
        { type: 'dns', host: '2001:db8::1', recordType: 'PTR' },
        { type: 'info', host: '2001:db8::1' },
      ],
    ],
    [
      'a list',
      ...(['traceroute', '192.0.2.1, "b.example"; [2001:db8::1],'] as const),
      /no blanks/,
      [
        { type: 'traceroute', host: '192.0.2.1' },
        { type: 'traceroute', host: 'b.example' },
        { type: 'traceroute', host: '2001:db8::1' },
      ],
    ],
    [
      'digits of another width',
      'ping',
      '１９２.０.２。１',
      /looks like 192\.0\.2\.1/,
      [{ type: 'ping', host: '192.0.2.1' }],
    ],
    [
      'digits of another width in a URL',
      ...(['http', 'http://１９２．０．２．１:8080/a'] as const),
      /looks like 192\.0\.2\.1:8080/,
      [{ type: 'http', host: 'http://192.0.2.1:8080/a' }],
    ],
    [
      'the port of http in a path',
      ...(['ping', 'example.com:80/a'] as const),
      /“\/a” is part of a URL/,
      [
        { type: 'ping', host: 'example.com' },
        { type: 'http', host: 'http://example.com:80/a' },
      ],
    ],
    ['a sentence', 'ping', 'is a.example a host', /no blanks/, [{ type: 'ping', host: 'a.example' }]],
    [
      'dig with a server',
      ...(['ping', 'dig +short @192.0.2.53 a.example txt'] as const),
      /no blanks/,
      [{ type: 'dns', host: 'a.example', recordType: 'TXT' }],
    ],
    [
      'another scheme, of a short name',
      ...(['http', 'ftp://x'] as const),
      /not ftp/,
      [
        { type: 'tcp', host: 'x', port: 21 },
        { type: 'http', host: 'https://x' },
      ],
    ],
    [
      'another scheme with user and port',
      ...(['ping', 'SSH://me@example.com:2222/'] as const),
      /not ssh/,
      [
        { type: 'tcp', host: 'example.com', port: 2222 },
        { type: 'ping', host: 'example.com' },
      ],
    ],
    ['a scheme without a port', 'dns', 'mystery://a.example', /not mystery/, [{ type: 'dns', host: 'a.example' }]],
    ['a scheme alone', 'ping', 'ftp://', /not ftp/, []],
    [
      'a port where there is none',
      ...(['ping', 'example.com:443'] as const),
      /A ping check has no port/,
      [
        { type: 'tcp', host: 'example.com', port: 443 },
        { type: 'ping', host: 'example.com' },
      ],
    ],
    [
      'the port of a trace, which is an option',
      ...(['traceroute', 'example.com:443'] as const),
      /A traceroute check takes the port of its packets as an option/,
      [
        { type: 'tcp', host: 'example.com', port: 443 },
        { type: 'traceroute', host: 'example.com' },
      ],
    ],
    [
      'a path',
      ...(['tcp', 'example.com/a?b'] as const),
      /“\/a\?b” is part of a URL/,
      [
        { type: 'tcp', host: 'example.com' },
        { type: 'http', host: 'https://example.com/a?b' },
      ],
    ],
    [
      'a path that a host has not',
      ...(['ping', 'https://example.com/a?b#c'] as const),
      /“\/a\?b#c” is part of a URL/,
      [
        { type: 'http', host: 'https://example.com/a?b#c' },
        { type: 'ping', host: 'example.com' },
      ],
    ],
    [
      'a port in a URL for a ping',
      ...(['ping', 'http://[2001:db8::1]:8080/'] as const),
      /A ping check has no port/,
      [
        { type: 'http', host: 'http://[2001:db8::1]:8080/' },
        { type: 'tcp', host: '2001:db8::1', port: 8080 },
        { type: 'ping', host: '2001:db8::1' },
      ],
    ],
    [
      'a path in a URL for a port',
      ...(['tcp', 'https://example.com/?a'] as const),
      /“\/\?a” is part of a URL/,
      [
        { type: 'http', host: 'https://example.com/?a' },
        { type: 'tcp', host: 'example.com', port: 443 },
      ],
    ],
  ] as const)('is named and mended: %s', (_reason, type, text, message, fixes) => {
    expect(targetMistake(text, facts[type])).toEqual({ message: expect.stringMatching(message), fixes });
  });

  it.each([
    ['ping', 'example.com'],
    ['ping', ' example.com '],
    ['ping', '2001:db8::1'],
    ['ping', 'https://example.com/'],
    ['dns', 'https://example.com#a'],
    ['tcp', 'http://example.com:8080/'],
    ['ping', 'https://exa mple'.replace(' ', '_')],
    ['tcp', 'example.com:443'],
    ['tcp', '[2001:db8::1]:443'],
    ['http', 'example.com/a/24'],
    ['http', 'https://example.com/a b'.replace(' ', '%20')],
    ['dns', '.'],
    ['ping', ''],
  ] as const)('is not what the service can judge: %s %s', (type, text) => {
    expect(targetMistake(text, facts[type])).toBeUndefined();
  });
});
