import { describe, expect, it } from '@jest/globals';

import { evaluatePort } from './evaluate-port.ts';

describe('the port of a target', () => {
  it.each([
    ['the web', 'http', 80],
    ['the web over TLS', 'http', 443],
    ['the usual other port of the web', 'http', 8080],
    ['a high port', 'http', 65_535],
    ['SSH', 'tcp', 22],
    ['mail submission', 'tcp', 587],
    ['a database', 'tcp', 6379],
    ['DNS', 'udp', 53],
    ['a reflector, with its protocol payload', 'udp', 19],
    ['memcached, with its protocol payload', 'udp', 11_211],
    ['a resolver', 'dns', 53],
    ['a resolver over TLS', 'dns', 853],
    ['a resolver over HTTPS', 'dns', 443],
    ['a resolver where none is named', 'dns', undefined],
    ['nothing to ping', 'icmp', undefined],
    ['a traceroute’s port', 'icmp', 25],
    ['nothing to look up', 'info', undefined],
  ] as const)('may be %s', (_reason, purpose, port) => {
    expect(evaluatePort(purpose, port)).toBeUndefined();
  });

  it.each([
    ['port 0', 'http', 0],
    ['port 0', 'tcp', 0],
    ['port 0', 'udp', 0],
    ['port 0', 'dns', 0],
    ['port 0', 'icmp', 0],
    ['a port above 65535', 'tcp', 65_536],
    ['a negative port', 'tcp', -1],
    ['half a port', 'tcp', 80.5],
    ['no number', 'tcp', Number.NaN],
    ['no port at all', 'tcp', undefined],
    ['no port at all', 'udp', undefined],
    ['no port at all', 'http', undefined],
    ['SMTP', 'tcp', 25],
    ['SMTP', 'http', 25],
    ['SSH (WHATWG bad port)', 'http', 22],
    ['SIP (WHATWG bad port)', 'http', 5060],
    ['IRC (WHATWG bad port)', 'http', 6667],
    ['the last WHATWG bad port', 'http', 10_080],
    ['MySQL', 'http', 3306],
    ['PostgreSQL', 'http', 5432],
    ['Redis', 'http', 6379],
    ['memcached', 'http', 11_211],
    ['MongoDB', 'http', 27_017],
    ['a resolver on a separate port', 'dns', 5353],
  ] as const)('may not be %s for %s', (_reason, purpose, port) => {
    expect(evaluatePort(purpose, port)).toMatchObject({ code: 'port_refused' });
  });
});
