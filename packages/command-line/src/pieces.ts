import { escapeText } from '@vantage/contract';

export type Style = 'plain' | 'good' | 'bad' | 'warning' | 'dim' | 'bold';

/** A styled part of a line. */
export interface Piece {
  readonly text: string;
  readonly style: Style;
}

export type Line = readonly Piece[];

const codes: Readonly<Record<Style, string>> = {
  plain: '',
  good: '32',
  bad: '31',
  warning: '33',
  dim: '2',
  bold: '1',
};

const LONGEST = 2_000;

export function piece(text: string, style: Style = 'plain'): Piece {
  return { text, style };
}

/** Renders a line for a terminal. Control characters of untrusted text are escaped. */
export function lineText(line: Line, colors: boolean): string {
  return line
    .map(({ text, style }) => {
      const clean = escapeText(text, LONGEST);
      return colors && codes[style] !== '' ? `\u001B[${codes[style]}m${clean}\u001B[0m` : clean;
    })
    .join('')
    .trimEnd();
}

/** Pads columns to their widest cell. */
export function table(rows: readonly (readonly Piece[])[]): readonly Line[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, { text }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, text.length);
  }
  return rows.map((row) => row.map(({ text, style }, column) => piece(text.padEnd(widths[column]! + 2), style)));
}
