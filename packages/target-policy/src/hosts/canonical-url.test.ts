import { describe, expect, it } from '@jest/globals';

import { canonicalizeUrl } from './canonical-url.ts';
import { seeded } from '../../test/seeded.ts';

describe('an http URL in canonical form', () => {
  it.each([
    ['a bare origin', 'http://example.com', 'http://example.com/', 'example.com', 80],
    ['https', 'https://example.com/', 'https://example.com/', 'example.com', 443],
    ['upper case', 'HTTPS://EXAMPLE.com/A', 'https://example.com/A', 'example.com', 443],
    ['the default port, written', 'https://example.com:443/', 'https://example.com/', 'example.com', 443],
    ['the other default port', 'http://example.com:443/', 'http://example.com:443/', 'example.com', 443],
    ['an explicit port', 'http://example.com:8080/', 'http://example.com:8080/', 'example.com', 8080],
    ['an empty port', 'http://example.com:/', 'http://example.com/', 'example.com', 80],
    ['a query without a path', 'http://example.com?a=b', 'http://example.com/?a=b', 'example.com', 80],
    ['a fragment', 'http://example.com/#/route', 'http://example.com/#/route', 'example.com', 80],
    ['an at sign in the path', 'http://example.com/@user', 'http://example.com/@user', 'example.com', 80],
    ['a backslash in the query', 'http://example.com/?\\d', 'http://example.com/?\\d', 'example.com', 80],
    ['a colon in the path', 'http://example.com/a:b', 'http://example.com/a:b', 'example.com', 80],
    ['letters to encode', 'http://example.com/ü', 'http://example.com/%C3%BC', 'example.com', 80],
    ['dot segments', 'http://example.com/a/../b', 'http://example.com/b', 'example.com', 80],
    [
      'an internationalised host',
      'https://bücher.example.com/',
      'https://xn--bcher-kva.example.com/',
      'xn--bcher-kva.example.com',
      443,
    ],
    ['a trailing dot of the host', 'https://example.com./', 'https://example.com/', 'example.com', 443],
    ['a dotted quad', 'http://8.8.8.8/', 'http://8.8.8.8/', '8.8.8.8', 80],
    ['an IPv6 address', 'http://[2606:4700:0::1]:8080/', 'http://[2606:4700::1]:8080/', '2606:4700::1', 8080],
    ['an IPv4-mapped address', 'http://[::ffff:127.0.0.1]/', 'http://[::ffff:7f00:1]/', '::ffff:127.0.0.1', 80],
  ])('%s', (_reason, text, url, host, port) => {
    const result = canonicalizeUrl(text);

    expect(result).toMatchObject({ ok: true, url, host: { text: host }, port });
    expect(canonicalizeUrl(url)).toEqual(result);
  });

  it.each([
    ['no scheme', 'example.com', 'url_syntax'],
    ['a scheme-relative URL', '//example.com/', 'url_syntax'],
    ['a file', 'file:///etc/passwd', 'url_syntax'],
    ['ftp', 'ftp://example.com/', 'url_syntax'],
    ['javascript', 'javascript:alert(1)', 'url_syntax'],
    ['data', 'data:text/html,x', 'url_syntax'],
    ['view-source', 'view-source:http://example.com/', 'url_syntax'],
    ['one slash', 'http:/example.com/', 'url_syntax'],
    ['no slash', 'http:example.com', 'url_syntax'],
    ['no host', 'http:///example.com', 'empty'],
    ['nothing after the slashes', 'http://', 'empty'],
    ['a port alone', 'http://:80/', 'empty'],
    ['backslashes for slashes', 'http:\\\\example.com\\', 'url_character'],
    ['a backslash behind the host', 'http://example.com\\@127.0.0.1/', 'url_character'],
    ['a backslash in the path', 'http://example.com/a\\b', 'url_character'],
    ['a tab within the host', 'http://127.0.\t0.1/', 'url_character'],
    ['a line feed within the scheme', 'ht\ntp://example.com/', 'url_character'],
    ['a line feed in the path', 'http://example.com/a\nb', 'url_character'],
    ['a blank in front', ' http://example.com/', 'url_character'],
    ['a blank in the path', 'http://example.com/a b', 'url_character'],
    ['a NUL', 'http://example.com\0/', 'url_character'],
    ['a lone surrogate', 'http://example.com/\ud800', 'url_character'],
    ['user and password', 'http://user:pw@example.com/', 'url_credentials'],
    ['a user', 'http://user@example.com/', 'url_credentials'],
    ['an empty user', 'http://@example.com/', 'url_credentials'],
    ['a host that is the user', 'http://example.com@127.0.0.1/', 'url_credentials'],
    ['a host and port that are the user', 'http://example.com:80@127.0.0.1/', 'url_credentials'],
    ['two at signs', 'http://a@b@127.0.0.1/', 'url_credentials'],
    ['an encoded at sign', 'http://example.com%40127.0.0.1/', 'forbidden_character'],
    ['an encoded dot', 'http://127%2e0.0.1/', 'forbidden_character'],
    ['a full-width encoded digit', 'http://%EF%BC%91.1.1.1/', 'forbidden_character'],
    ['port 0', 'http://example.com:0/', 'url_port'],
    ['port 65536', 'http://example.com:65536/', 'url_port'],
    ['a port with a leading zero', 'http://example.com:080/', 'url_port'],
    ['a port with a sign', 'http://example.com:+80/', 'url_port'],
    ['a port of letters', 'http://example.com:http/', 'url_port'],
    ['a port in other digits', 'http://example.com:８０/', 'url_port'],
    ['two ports', 'http://example.com:80:80/', 'brackets'],
    ['an IPv6 address without brackets', 'http://::1/', 'brackets'],
    ['an IPv6 address without brackets and a port', 'http://2606:4700::1:80/', 'brackets'],
    ['text behind the brackets', 'http://[::1]evil.com/', 'brackets'],
    ['text before the brackets', 'http://evil.com[::1]/', 'brackets'],
    ['an open bracket', 'http://[::1/', 'brackets'],
    ['a zone', 'http://[fe80::1%25eth0]/', 'zone_id'],
    ['octal', 'http://0177.0.0.1/', 'non_canonical_ip'],
    ['hexadecimal', 'http://0x7f.1/', 'non_canonical_ip'],
    ['a 32-bit number', 'http://2130706433/', 'non_canonical_ip'],
    ['a short form', 'http://127.1/', 'non_canonical_ip'],
    ['a trailing dot after an address', 'http://127.0.0.1./', 'non_canonical_ip'],
    ['circled digits', 'http://①②⑦.⓪.⓪.①/', 'non_canonical_ip'],
    ['full-width dots', 'http://127。0。0。1/', 'non_canonical_ip'],
    ['a soft hyphen', 'http://exam\u00adple.com/', 'forbidden_character'],
    ['a broken A-label', 'http://xn--0.com/', 'invalid_idna'],
    ['a host without a dot', 'http://localhost/', 'dotless'],
    ['2,049 characters', `http://example.com/${'a'.repeat(2_030)}`, 'url_too_long'],
    ['2,049 characters once encoded', `http://example.com/${'ü'.repeat(400)}`, 'url_too_long'],
  ])('refuses %s', (_reason, text, code) => {
    expect(canonicalizeUrl(text)).toMatchObject({ ok: false, code });
  });

  it('takes 2,048 characters', () => {
    expect(canonicalizeUrl(`http://example.com/${'a'.repeat(2_029)}`)).toMatchObject({ ok: true });
  });

  it('means the same host and port to WHATWG URL, whatever the text', () => {
    const random = seeded(13);
    const pieces = [
      'http://',
      'https://',
      '/',
      '\\',
      '@',
      ':',
      '80',
      '[',
      ']',
      '::1',
      'a.com',
      '127.1',
      '8.8.8.8',
      '?',
      '#',
      '%2e',
      '.',
      '①',
      ' ',
      '\t',
      'xn--',
    ];
    const wrong: string[] = [];
    let taken = 0;
    for (let round = 0; round < 30_000; round += 1) {
      const text = `http://${Array.from({ length: 1 + random(6) }, () => pieces[random(pieces.length)]).join('')}`;
      const result = canonicalizeUrl(text);
      if (!result.ok) continue;
      taken += 1;
      const seen = new URL(text);
      const port = result.port === 80 ? '' : String(result.port);
      if (seen.hostname.replace(/\.$/, '') !== new URL(result.url).hostname || seen.port !== port) wrong.push(text);
      if (seen.username !== '' || seen.password !== '') wrong.push(text);
    }
    expect(wrong).toEqual([]);
    expect(taken).toBeGreaterThan(100);
  });
});
