import { describe, expect, it } from '@jest/globals';

import { escapeText, isShowable, parseEscaped } from './index.ts';

describe('isShowable', () => {
  it.each(['Frankfurt 1', 'Hétzner – 東京', 'می‌خواهم', '👩\u200D💻'])('is true for %s', (text) => {
    expect(isShowable(text)).toBe(true);
  });

  it.each(['a\u001B[31mb', 'a\nb', 'a\u202Eb', 'a\u2066b', 'a\u2028b', 'a\u0000b', 'a\uD800b', '  ', '\u200B', ''])(
    'is false for %j',
    (text) => {
      expect(isShowable(text)).toBe(false);
    },
  );
});

describe('escapeText', () => {
  it.each([
    ['plain text stays', 'Hétzner Online GmbH – 東京 🙂', 'Hétzner Online GmbH – 東京 🙂'],
    ['control characters are escaped', 'a\u0000b\u001b[31m\r\n\u007f', 'a\\u{0}b\\u{1b}[31m\\u{d}\\u{a}\\u{7f}'],
    ['bidirectional overrides are escaped', 'x\u202Eexe.txt\u2066', 'x\\u{202e}exe.txt\\u{2066}'],
    ['invisible characters are escaped', 'a\u200Bb\u00ADc\uFEFF', 'a\\u{200b}b\\u{ad}c\\u{feff}'],
    ['line separators are escaped', 'a\u2028b\u2029', 'a\\u{2028}b\\u{2029}'],
    ['lone surrogates are escaped', 'a\uD800b\uDC00', 'a\\u{d800}b\\u{dc00}'],
    ['markup is text', '<script>alert(1)</script>', '<script>alert(1)</script>'],
  ])('%s', (_reason, given, shown) => {
    expect(escapeText(given)).toBe(shown);
  });

  it('bounds the length by code points and shows that it cut', () => {
    const shown = escapeText('🙂'.repeat(300), 10);

    expect(Array.from(shown)).toHaveLength(10);
    expect(shown).toBe(`${'🙂'.repeat(9)}…`);
  });

  it('does not cut a text that just fits', () => {
    expect(escapeText('0123456789', 10)).toBe('0123456789');
  });

  it('counts what an escape adds', () => {
    expect(escapeText('\u0000'.repeat(100), 20)).toBe(String.raw`\u{0}\u{0}\u{0}\u{0…`);
  });
});

describe('parseEscaped', () => {
  it.each([
    ['escapes of JSON', '{"a":["\\u001b[31m","\\n"]}', { a: ['…', '…'] }],
    ['characters as they are', '["x\u202Eexe.txt"]', ['x\\u{202e…']],
    ['a lone surrogate', '["a long text \\ud800"]', ['a long text …']],
    ['what was escaped before', '["\\\\u{1b}[31m"]', ['\\u{1b}[31m']],
    ['no need', '{"a":"東京 🙂","b":1,"c":null}', { a: '東京 🙂', b: 1, c: null }],
    ['a pair of escapes that is one character', '["\\ud83d\\ude42"]', ['🙂']],
  ])('escapes the strings of a document with %s, none longer than it was', (_what, json, parsed) => {
    expect(parseEscaped(json)).toEqual(parsed);
  });

  it('throws if it is no JSON', () => {
    expect(() => parseEscaped('{"a":"\\u00')).toThrow(SyntaxError);
  });
});
