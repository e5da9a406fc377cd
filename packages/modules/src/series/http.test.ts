import { describe, expect, it } from '@jest/globals';

import { parseModules } from '../parse-modules.ts';
import type { HttpModule } from '../plan/module.ts';
import { httpReading } from './http.ts';

describe('a module with a limit of the body', () => {
  const parsing = parseModules('modules:\n  m:\n    prober: http\n    http: {body_size_limit: 2000B}\n');
  const module = (parsing.ok ? parsing.usable.get('m') : undefined) as HttpModule;
  const answered = { result: 'success', statusCode: 200, httpVersion: '1.1', error: null } as const;
  const cut = { code: 'http_decode_failed', phase: 'response', source: 'target', message: 'It ends early.' } as const;

  it.each<[string, Parameters<typeof httpReading>[1], boolean]>([
    ['is larger than it', { ...answered, bodyBytes: 2_000, truncated: true }, false],
    ['has exactly its size', { ...answered, bodyBytes: 2_000, truncated: false }, true],
    ['decodes to more than a check decodes', { ...answered, bodyBytes: 1_500, truncated: true }, true],
    ['ends with TLS that has no close_notify', { ...answered, bodyBytes: 12, truncated: true }, true],
    [
      'ends before its coding does',
      { ...answered, result: 'failure', error: cut, bodyBytes: 12, truncated: true },
      true,
    ],
  ])('judges by the bytes as sent: a body that %s', (_what, result, success) => {
    expect(httpReading(module, result)).toMatchObject({ success });
  });
});
