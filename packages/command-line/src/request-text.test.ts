import { describe, expect, it } from '@jest/globals';

import { parseCheckArguments } from './check-arguments.ts';
import { requestText } from './request-text.ts';

describe('the request of a check', () => {
  it('is the command that asks it, without the defaults', () => {
    expect(requestText({ type: 'ping', host: 'example.com', request: {} })).toBe('ping example.com');
    expect(requestText({ type: 'tcp', host: '2001:db8::1', request: { port: 443, options: { attempts: 5 } } })).toBe(
      'tcp 2001:db8::1 --port 443 --attempts 5',
    );
  });

  it('has switches of both kinds', () => {
    const options = { followRedirects: false, insecureSSL: true };

    expect(requestText({ type: 'http', host: 'https://example.com/', request: { options } })).toBe(
      'http https://example.com/ --no-follow-redirects --insecure-ssl',
    );
  });

  it('names what the service does not repeat', () => {
    expect(
      requestText({ type: 'http', host: 'https://example.com/', request: { withheld: ['headers', 'rules'] } }),
    ).toBe('http https://example.com/  (not shown: headers, rules)');
  });

  it('names the two probes that measure each other', () => {
    const check = { type: 'traceroute', host: 'fra-1 ↔ nyc-1', between: ['fra-1', 'nyc-1'], request: {} };

    expect(requestText(check)).toBe('traceroute --between fra-1,nyc-1');
  });

  it('is not known of an older check', () => {
    expect(requestText({ type: 'ping', host: 'example.com' })).toBeUndefined();
  });

  it('is quoted for a shell', () => {
    const url = "https://example.com/?a=1&b=it's";

    expect(requestText({ type: 'http', host: url, request: {} })).toBe(`http 'https://example.com/?a=1&b=it'\\''s'`);
  });

  it('is read back as it was asked', () => {
    const asked = { port: 443, options: { attempts: 5, family: 6 } };
    const words = requestText({ type: 'tcp', host: 'example.com', request: asked })!.split(' ').slice(1);

    const { host, fields, options, faults } = parseCheckArguments('tcp', words, {});

    expect({ host, fields, options, faults }).toEqual({
      host: 'example.com',
      fields: { port: 443 },
      options: asked.options,
      faults: [],
    });
  });
});
