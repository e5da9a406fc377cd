import { describe, expect, it } from '@jest/globals';

import { lineText, piece, table } from '@vantage/command-line';
import { openScreen } from './live-lines.ts';

function output(terminal: object): { readonly written: () => string; readonly write: (text: string) => boolean } {
  let written = '';
  return {
    ...terminal,
    written: () => written,
    write: (text) => {
      written += text;
      return true;
    },
  };
}

describe('lines on a terminal', () => {
  it('are written over those before', () => {
    const screen = { ...output({ isTTY: true, columns: 80, rows: 24 }) };
    const { show, print } = openScreen(screen, false);

    show(['one', 'two']);
    show(['three', 'four']);
    print(['done']);

    expect(screen.written()).toBe('one\ntwo\n\u001B[2A\u001B[0Jthree\nfour\n\u001B[2A\u001B[0Jdone\n');
  });

  it('are not shown on one that cannot move its cursor, which prints the permanent ones', () => {
    const screen = output({ isTTY: true, columns: 80, rows: 24 });
    const { show, print } = openScreen(screen, true);

    show(['one']);
    print(['done']);

    expect(screen.written()).toBe('done\n');
  });

  it('are cut where they would wrap, by what is seen of them', () => {
    const screen = output({ isTTY: true, columns: 6, rows: 24 });

    openScreen(screen, false).show(['\u001B[32mabc\u001B[0mdefgh']);

    expect(screen.written()).toBe('\u001B[32mabc\u001B[0mde\n');
  });

  it('are cut earlier where characters take two columns', () => {
    const screen = output({ isTTY: true, columns: 6, rows: 24 });

    openScreen(screen, false).show(['東京、日本', 'a東京', '\u001B[32m😀😀😀\u001B[0m']);

    expect(screen.written()).toBe('東京\na東京\n\u001B[32m😀😀\u001B[0m\n');
  });

  it('are no more than there is room for', () => {
    const screen = output({ isTTY: true, columns: 80, rows: 3 });

    openScreen(screen, false).show(['1', '2', '3', '4']);

    expect(screen.written()).toBe('1\n2\n');
  });

  it('are there on a terminal that does not know its size', () => {
    const screen = output({ isTTY: true, columns: 0, rows: 0 });

    openScreen(screen, false).show(['one', 'two']);

    expect(screen.written()).toBe('one\ntwo\n');
  });
});

describe('lines elsewhere', () => {
  it('are those that stay', () => {
    const file = output({});
    const { show, print } = openScreen(file, false);

    show(['one']);
    print(['done']);

    expect(file.written()).toBe('done\n');
  });
});

describe('the text of a line', () => {
  it('has colours where they are wanted', () => {
    expect(lineText([piece('ok', 'good'), piece(' then')], true)).toBe('\u001B[32mok\u001B[0m then');
    expect(lineText([piece('ok', 'good'), piece(' then')], false)).toBe('ok then');
  });

  it('shows a stranger’s commands to the terminal instead of giving them', () => {
    const shown = lineText([piece('a\u001B[2Jb\u0007\r\u202E')], false);

    expect(shown).toBe(String.raw`a\u{1b}[2Jb\u{7}\u{d}\u{202e}`);
  });

  it('is in columns', () => {
    const rows = table([
      [piece('a'), piece('b')],
      [piece('long'), piece('c')],
    ]);

    expect(rows.map((line) => lineText(line, false))).toEqual(['a     b', 'long  c']);
  });
});
