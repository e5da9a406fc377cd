import { describe, expect, it } from '@jest/globals';

import {
  BARE_NOTIFICATION,
  MAX_INLINE_RESULT_LENGTH,
  decodeNotification,
  encodeNotification,
} from './inline-result.ts';

const check = 'AbCdEfGhIjKlMnOpQrSt_-';

describe('the inline result of a notification', () => {
  it('is read as it was written', () => {
    const inline = { check, data: '{"result":"success","said":"two\\nlines\n and more"}' };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    expect(decodeNotification(encodeNotification(inline))).toEqual({ ...inline, traceparent: undefined });
    expect(decodeNotification(encodeNotification({ ...inline, traceparent }))).toEqual({ ...inline, traceparent });
  });

  it('is omitted if it is too large', () => {
    const fits = `{${' '.repeat(MAX_INLINE_RESULT_LENGTH - 2)}}`;

    expect(decodeNotification(encodeNotification({ check, data: fits }))?.data).toBe(fits);
    expect(encodeNotification({ check, data: `${fits} ` })).toBe(BARE_NOTIFICATION);
  });

  it.each([
    ['a notification without a result', BARE_NOTIFICATION],
    ['nothing', ''],
    ['another word', `partial ${check} - {}`],
    ['a check that is none', `final ../../probes - {}`],
    ['a trace that is none', `final ${check} a b {}`],
    ['what is no object', `final ${check} - []`],
    ['far too much', `final ${check} - {${' '.repeat(3 * MAX_INLINE_RESULT_LENGTH)}}`],
  ])('is not read from %s', (_what, notification) => {
    expect(decodeNotification(notification)).toBeUndefined();
  });
});
