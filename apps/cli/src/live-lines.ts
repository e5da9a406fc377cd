import type { WriteStream } from 'node:tty';

/** Output for lines: a terminal, which can overwrite them, or any other stream. */
export interface Screen {
  /** Replaces the live lines. No effect unless the output is a terminal that can move its cursor. */
  readonly show: (lines: readonly string[]) => void;
  /** Removes the live lines and writes permanent ones. */
  readonly print: (lines: readonly string[]) => void;
  /** Removes the live lines. */
  readonly clear: () => void;
}

type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'rows'>>;

const ESCAPE = '\u001B[';

/** @param isDumb true for a terminal that cannot move its cursor (`TERM=dumb`) */
export function openScreen(output: Output, isDumb: boolean): Screen {
  let shown = 0;
  const back = (): string => (shown === 0 ? '' : `${ESCAPE}${shown}A${ESCAPE}0J`);
  const isTerminal = output.isTTY === true && !isDumb;

  const clear = (): void => {
    if (shown > 0) output.write(back());
    shown = 0;
  };
  return {
    show: (lines) => {
      if (!isTerminal) return;
      // Lines that wrap or scroll out of view could not be overwritten.
      // A terminal of unknown size, such as a serial line, reports 0.
      const [rows, columns] = [output.rows || 24, output.columns || 80];
      const fitting = lines.slice(0, Math.max(1, rows - 1));
      output.write(back() + fitting.map((line) => `${cut(line, columns)}\n`).join(''));
      shown = fitting.length;
    },
    print: (lines) => {
      clear();
      if (lines.length > 0) output.write(`${lines.join('\n')}\n`);
    },
    clear,
  };
}

/** Truncates by visible width: colour sequences have none. */
function cut(line: string, width: number): string {
  let seen = 0;
  let kept = '';
  // oxlint-disable-next-line no-control-regex -- the escape character begins a colour
  for (const part of line.split(/(\u001B\[\d+m)/)) {
    if (part.startsWith(ESCAPE)) {
      kept += part;
      continue;
    }
    for (const character of part) {
      seen += WIDE.test(character) ? 2 : 1;
      if (seen < width) kept += character;
    }
  }
  return kept;
}

/** Characters of two columns (Unicode Standard Annex 11, wide and fullwidth), approximated. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE6F\uFF00-\uFFE6]|[^\0-\uFFFF]/u;
