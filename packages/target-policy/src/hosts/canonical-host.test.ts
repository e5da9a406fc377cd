import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';

import { describe, expect, it } from '@jest/globals';

import { canonicalizeHost } from './canonical-host.ts';
import { seeded } from '../../test/seeded.ts';

const label63 = 'a'.repeat(63);
const name253 = `${label63}.${label63}.${label63}.${'a'.repeat(57)}.com`;

describe('a host in canonical form', () => {
  it.each([
    ['a name', 'example.com', 'name', 'example.com'],
    ['upper case', 'EXAMPLE.Com', 'name', 'example.com'],
    ['one trailing dot', 'example.com.', 'name', 'example.com'],
    ['underscores', '_dmarc.a_b.example.com', 'name', '_dmarc.a_b.example.com'],
    ['a trailing hyphen of a label', 'a-.example.com', 'name', 'a-.example.com'],
    ['hyphens in third and fourth place', 'r3---sn-4g5e.example.com', 'name', 'r3---sn-4g5e.example.com'],
    ['a number as first label', '1.example.com', 'name', '1.example.com'],
    ['a name that begins like an address', '127.0.0.1.example.com', 'name', '127.0.0.1.example.com'],
    ['a last label that only begins with digits', 'example.1com', 'name', 'example.1com'],
    ['a last label that is hexadecimal without 0x', 'example.beef', 'name', 'example.beef'],
    ['a last label that begins like 0x', 'example.0xyz', 'name', 'example.0xyz'],
    ['an internationalised name', 'bücher.example.com', 'name', 'xn--bcher-kva.example.com'],
    ['an internationalised name in upper case', 'BÜCHER.example.com', 'name', 'xn--bcher-kva.example.com'],
    ['a sharp s as IDNA 2008 has it', 'straße.de', 'name', 'xn--strae-oqa.de'],
    ['an A-label', 'xn--bcher-kva.example.com', 'name', 'xn--bcher-kva.example.com'],
    ['an A-label in upper case', 'XN--BCHER-KVA.example.com', 'name', 'xn--bcher-kva.example.com'],
    ['an emoji', '💩.la', 'name', 'xn--ls8h.la'],
    ['an ideographic full stop', 'example。com', 'name', 'example.com'],
    ['full-width letters', 'ｅｘａｍｐｌｅ.com', 'name', 'example.com'],
    ['the Kelvin sign', '\u212Aelvin.com', 'name', 'kelvin.com'],
    ['253 characters', name253, 'name', name253],
    ['253 characters and a dot', `${name253}.`, 'name', name253],
    ['a dotted quad', '8.8.8.8', 'ipv4', '8.8.8.8'],
    ['an IPv6 address', '2001:DB8:0:0::1', 'ipv6', '2001:db8::1'],
    ['an IPv6 address in brackets', '[2606:4700:4700::1111]', 'ipv6', '2606:4700:4700::1111'],
    ['an IPv6 address with a dotted quad', '[::ffff:127.0.0.1]', 'ipv6', '::ffff:127.0.0.1'],
    ['two texts of one IPv6 address', '::ffff:7f00:1', 'ipv6', '::ffff:127.0.0.1'],
  ])('%s', (_reason, text, kind, expected) => {
    expect(canonicalizeHost(text, 'host')).toEqual({ ok: true, canonical: { kind, text: expected } });
  });

  it.each([
    ['nothing', '', 'empty'],
    ['a blank in front', ' example.com', 'forbidden_character'],
    ['a blank behind', 'example.com ', 'forbidden_character'],
    ['a no-break space', 'example\u00a0.com', 'forbidden_character'],
    ['an ideographic space', '\u3000example.com', 'forbidden_character'],
    ['a tab', 'exam\tple.com', 'forbidden_character'],
    ['a line feed at the end', 'example.com\n', 'forbidden_character'],
    ['a line feed behind an address', '8.8.8.8\n', 'forbidden_character'],
    ['carriage return and header', 'example.com\r\nX: y', 'forbidden_character'],
    ['NUL', 'example.com\0.evil.com', 'forbidden_character'],
    ['DEL', 'example\u007f.com', 'forbidden_character'],
    ['a C1 control', 'example\u0085.com', 'forbidden_character'],
    ['a soft hyphen', 'exam\u00adple.com', 'forbidden_character'],
    ['a soft hyphen in an address', '127.0.0\u00ad.1', 'forbidden_character'],
    ['a zero-width space', 'exam\u200bple.com', 'forbidden_character'],
    ['a zero-width joiner', 'exam\u200dple.com', 'forbidden_character'],
    ['a word joiner', 'exam\u2060ple.com', 'forbidden_character'],
    ['a byte order mark', '\ufeffexample.com', 'forbidden_character'],
    ['a right-to-left override', 'example\u202emoc.com', 'forbidden_character'],
    ['a variation selector', 'example\ufe0f.com', 'forbidden_character'],
    ['a combining grapheme joiner', 'exam\u034fple.com', 'forbidden_character'],
    ['a Hangul filler', 'example\u3164.com', 'forbidden_character'],
    ['a tag character', 'example\u{e0061}.com', 'forbidden_character'],
    ['a lone surrogate', 'example\ud800.com', 'forbidden_character'],
    ['a private-use character', 'example\ue000.com', 'forbidden_character'],
    ['a slash', 'example.com/', 'forbidden_character'],
    ['a path', '127.0.0.1/8', 'forbidden_character'],
    ['a backslash', 'example.com\\.evil.com', 'forbidden_character'],
    ['a question mark', 'example.com?a', 'forbidden_character'],
    ['a fragment', 'example.com#a', 'forbidden_character'],
    ['user information', 'user@example.com', 'forbidden_character'],
    ['percent-encoding', 'ex%61mple.com', 'forbidden_character'],
    ['a percent-encoded address', '%31%32%37.0.0.1', 'forbidden_character'],
    ['percent-encoding next to other letters', 'bü%61.com', 'forbidden_character'],
    ['a wildcard', '*.example.com', 'forbidden_character'],
    ['a comma', '127.0.0.1,8.8.8.8', 'forbidden_character'],
    ['a semicolon', 'example.com;id', 'forbidden_character'],
    ['a quote', 'example.com"', 'forbidden_character'],
    ['a command', '$(id).example.com', 'forbidden_character'],
    ['an ampersand', 'a&b.example.com', 'forbidden_character'],
    ['a scheme', 'http://example.com', 'url'],
    ['a scheme and an address', 'https://[2606:4700::1]:80/', 'url'],
    ['a port', 'example.com:80', 'invalid_ipv6'],
    ['an address and a port', '8.8.8.8:53', 'invalid_ipv6'],
    ['brackets and a port', '[2606:4700::1]:80', 'brackets'],
    ['brackets around a dotted quad', '[127.0.0.1]', 'brackets'],
    ['brackets around a name', '[example.com]', 'brackets'],
    ['brackets around nothing', '[]', 'brackets'],
    ['two pairs of brackets', '[[::1]]', 'brackets'],
    ['an opening bracket alone', '[::1', 'brackets'],
    ['a closing bracket alone', '::1]', 'brackets'],
    ['brackets within', 'a[::1]b', 'brackets'],
    ['IPvFuture', '[v1.fe80::a+en1]', 'invalid_ipv6'],
    ['a zone', 'fe80::1%eth0', 'zone_id'],
    ['a zone in brackets', '[::1%lo]', 'zone_id'],
    ['a percent-encoded zone', '[fe80::1%25eth0]', 'zone_id'],
    ['a zone of a public address', '2606:4700::1%1', 'zone_id'],
    ['two runs of zeros', '::1::', 'invalid_ipv6'],
    ['an octal quad in an IPv6 address', '::ffff:0177.0.0.1', 'invalid_ipv6'],
    ['full-width colons', '：：１', 'invalid_idna'],
    ['a trailing dot after an IPv6 address', '::1.', 'invalid_ipv6'],
    ['octal', '0177.0.0.1', 'non_canonical_ip'],
    ['octal that is public', '010.8.8.8', 'non_canonical_ip'],
    ['hexadecimal', '0x7f.0.0.1', 'non_canonical_ip'],
    ['hexadecimal in the last place', '127.0.0.0x1', 'non_canonical_ip'],
    ['upper-case hexadecimal', '0X7F.0X0.0X0.0X1', 'non_canonical_ip'],
    ['one hexadecimal number', '0x7f000001', 'non_canonical_ip'],
    ['0x alone', 'example.0x', 'non_canonical_ip'],
    ['a 32-bit number', '2130706433', 'non_canonical_ip'],
    ['a 32-bit number that is public', '134744072', 'non_canonical_ip'],
    ['an octal 32-bit number', '017700000001', 'non_canonical_ip'],
    ['a number that overflows', '4294967297', 'non_canonical_ip'],
    ['two parts', '127.1', 'non_canonical_ip'],
    ['three parts', '127.0.1', 'non_canonical_ip'],
    ['five parts', '1.2.3.4.5', 'non_canonical_ip'],
    ['an octet above 255', '256.256.256.256', 'non_canonical_ip'],
    ['a leading zero', '8.8.8.08', 'non_canonical_ip'],
    ['a trailing dot after an address', '8.8.8.8.', 'non_canonical_ip'],
    ['a trailing dot after a number', '2130706433.', 'non_canonical_ip'],
    ['a name that ends in a number', 'example.com.1', 'non_canonical_ip'],
    ['one digit', '0', 'non_canonical_ip'],
    ['circled digits', '①②⑦.⓪.⓪.①', 'non_canonical_ip'],
    ['full-width digits', '１２７.０.０.１', 'non_canonical_ip'],
    ['full-width digits of a public address', '８.８.８.８', 'non_canonical_ip'],
    ['full-width dots', '127．0．0．1', 'non_canonical_ip'],
    ['ideographic dots', '127。0。0。1', 'non_canonical_ip'],
    ['half-width ideographic dots', '127｡0｡0｡1', 'non_canonical_ip'],
    ['one full-width digit', '12７.0.0.1', 'non_canonical_ip'],
    ['mathematical digits', '𝟏𝟐𝟕.𝟎.𝟎.𝟏', 'non_canonical_ip'],
    ['superscript digits', '¹²⁷.0.0.1', 'non_canonical_ip'],
    ['full-width hexadecimal', '０ｘ７ｆ.1', 'non_canonical_ip'],
    ['a short form in full-width digits', '１.2.3', 'non_canonical_ip'],
    ['a full-width slash', 'example.com／path', 'invalid_idna'],
    ['a full-width at sign', 'user＠example.com', 'invalid_idna'],
    ['a fraction slash that maps to nothing good', 'a℀b.com', 'invalid_idna'],
    ['a digit with a full stop', '⒈example.com', 'invalid_idna'],
    ['Arabic digits without Arabic letters', '١٢٧.com', 'invalid_idna'],
    ['an A-label of nothing', 'xn--.com', 'invalid_idna'],
    ['an A-label that does not decode', 'xn--0.com', 'invalid_idna'],
    ['an A-label of ASCII alone', 'xn--abc-.com', 'invalid_idna'],
    ['an A-label that decodes to what it is not encoded from', 'xn--a-0hc.com', 'invalid_idna'],
    ['an A-label with other letters in it', 'xn--ß.de', 'invalid_idna'],
    ['the root', '.', 'empty_label'],
    ['two trailing dots', 'example.com..', 'empty_label'],
    ['two dots within', 'example..com', 'empty_label'],
    ['a dot in front', '.example.com', 'empty_label'],
    ['an ideographic dot in front', '。example.com', 'empty_label'],
    ['a label of 64 characters', `${label63}a.com`, 'label_too_long'],
    ['254 characters', `${name253.slice(0, -4)}a.com`, 'too_long'],
    ['a million characters', 'a.'.repeat(500_000), 'too_long'],
    ['a leading hyphen', '-oProxyCommand.example.com', 'leading_hyphen'],
    ['a leading hyphen of a later label', 'www.-example.com', 'leading_hyphen'],
    ['no dot', 'localhost', 'dotless'],
    ['a top-level domain', 'com', 'dotless'],
    ['no dot but a trailing one', 'localhost.', 'dotless'],
    ['an internationalised name without a dot', 'рф', 'dotless'],
  ])('refuses %s', (_reason, text, code) => {
    expect(canonicalizeHost(text, 'host')).toMatchObject({ ok: false, code });
  });

  it.each([
    ['not a host', 'a blank'],
    ['192.0.2.1/24', '“/”'],
    ['a\u200b.example', 'the character U+200B'],
    ['a\u{e0061}.example', 'the character U+E0061'],
    ['A_b*ü.example', '“*”'],
  ])('names the character: %s', (text, name) => {
    expect(canonicalizeHost(text, 'host')).toMatchObject({
      message: `The host contains ${name}, which no host name has.`,
    });
  });

  it('lets an operator name the names without a dot that it takes', () => {
    expect(canonicalizeHost('localhost', 'host', ['localhost'])).toMatchObject({ ok: true });
    expect(canonicalizeHost('localhost6', 'host', ['localhost'])).toMatchObject({ ok: false, code: 'dotless' });
  });
});

describe('a name to ask about', () => {
  it.each([
    ['the root', '.', '.'],
    ['a top-level domain', 'com', 'com'],
    ['a top-level domain with a dot', 'com.', 'com'],
    ['an internationalised top-level domain', 'рф', 'xn--p1ai'],
    ['a reversed IPv4 address', '8.8.8.8.in-addr.arpa', '8.8.8.8.in-addr.arpa'],
    ['a reversed IPv6 prefix', '8.B.D.0.1.0.0.2.ip6.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa'],
    ['service labels', '_sip._udp.example.com', '_sip._udp.example.com'],
    ['a label that looks like IDNA and is none', 'xn--0.com', 'xn--0.com'],
  ])('may be %s', (_reason, text, expected) => {
    expect(canonicalizeHost(text, 'name')).toEqual({ ok: true, canonical: { kind: 'name', text: expected } });
  });

  it.each([
    ['two dots', '..', 'empty_label'],
    ['nothing', '', 'empty'],
    ['a number', '127.1', 'non_canonical_ip'],
    ['a trailing dot after an address', '8.8.8.8.', 'non_canonical_ip'],
    ['circled digits', '①.①.①.①', 'non_canonical_ip'],
    ['a control character', 'a\u0000.com', 'forbidden_character'],
    ['a leading hyphen', '-a.com', 'leading_hyphen'],
  ])('may not be %s', (_reason, text, code) => {
    expect(canonicalizeHost(text, 'name')).toMatchObject({ ok: false, code });
  });
});

describe('any text', () => {
  const pieces = [
    ...Array.from('abcxyz0179.:-_%[]/\\@#?'),

    '127',
    '0x7f',
    'xn--',
    'com',
    '。',
    '１',
    '①',
    'ü',
    '💩',
    '\u00ad',
    '\u200d',
    '\ud800',
    '\0',
    '\n',
    ' ',
    '::',
    'ß',
    'localhost',
    '.arpa',
    '255',
    '\u0661',
    '／',
  ];

  it('never throws, and what it gives is its own canonical form', () => {
    const random = seeded(3);
    const wrong: string[] = [];
    let taken = 0;
    for (let round = 0; round < 30_000; round += 1) {
      const text = Array.from({ length: 1 + random(12) }, () => pieces[random(pieces.length)]).join('');
      for (const kind of ['host', 'name'] as const) {
        const result = canonicalizeHost(text, kind);
        if (!result.ok) continue;
        taken += 1;
        const { canonical } = result;
        const family = { name: 0, ipv4: 4, ipv6: 6 }[canonical.kind];
        const letters = canonical.kind === 'ipv6' ? /^[0-9a-f:.]+$/ : /^[a-z0-9._-]+$/;

        if (isIP(canonical.text) !== family || !letters.test(canonical.text)) wrong.push(text);
        if (!isDeepStrictEqual(canonicalizeHost(canonical.text, kind), result)) wrong.push(text);
      }
    }
    expect(wrong).toEqual([]);
    expect(taken).toBeGreaterThan(1_000);
  });

  it('never becomes an address for WHATWG URL when it is a name here, nor another name', () => {
    const random = seeded(5);
    const wrong: string[] = [];
    for (let round = 0; round < 20_000; round += 1) {
      const text = Array.from({ length: 1 + random(8) }, () => pieces[random(pieces.length)]).join('');
      const result = canonicalizeHost(text, 'host');
      if (!result.ok || result.canonical.kind === 'ipv6') continue;
      if (URL.parse(`http://${result.canonical.text}/`)?.hostname !== result.canonical.text) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });
});
