import { describe, expect, it } from '@jest/globals';

import { jsonText } from './json-text.ts';

describe('an answer as JSON', () => {
  const text = 'ü日😀\n \u001B[31m \u007F \u009B31m \u202E \u2028 \u{E0001}';

  it('says what the service said', () => {
    expect(JSON.parse(jsonText({ [text]: [text, null, 1] }))).toEqual({ [text]: [text, null, 1] });
  });

  it('has nothing that a terminal would obey, and leaves letters as they are', () => {
    expect(jsonText({ a: text })).toBe(
      '{\n  "a": "ü日😀\\n \\u001b[31m \\u007f \\u009b31m \\u202e \\u2028 \\udb40\\udc01"\n}',
    );
  });
});
