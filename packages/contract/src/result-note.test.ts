import { describe, expect, it } from '@jest/globals';

import { BARE_HINT, MAX_NOTE_LENGTH, readResultNote, writeResultNote } from './result-note.ts';

const check = 'AbCdEfGhIjKlMnOpQrSt_-';

describe('the result that goes along with a hint', () => {
  it('is read as it was written', () => {
    const note = { check, data: '{"result":"success","said":"two\\nlines\n and more"}' };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    expect(readResultNote(writeResultNote(note))).toEqual({ ...note, traceparent: undefined });
    expect(readResultNote(writeResultNote({ ...note, traceparent }))).toEqual({ ...note, traceparent });
  });

  it('stays behind where it is large', () => {
    const fits = `{${' '.repeat(MAX_NOTE_LENGTH - 2)}}`;

    expect(readResultNote(writeResultNote({ check, data: fits }))?.data).toBe(fits);
    expect(writeResultNote({ check, data: `${fits} ` })).toBe(BARE_HINT);
  });

  it.each([
    ['a bare hint', BARE_HINT],
    ['nothing', ''],
    ['another word', `partial ${check} - {}`],
    ['a check that is none', `final ../../probes - {}`],
    ['a trace that is none', `final ${check} a b {}`],
    ['what is no object', `final ${check} - []`],
    ['far too much', `final ${check} - {${' '.repeat(3 * MAX_NOTE_LENGTH)}}`],
  ])('is not read from %s', (_what, hint) => {
    expect(readResultNote(hint)).toBeUndefined();
  });
});
