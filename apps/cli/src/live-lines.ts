import type { WriteStream } from 'node:tty';

/** Where lines go: a terminal, whose lines can be written anew, or anything else. */
export interface Screen {
  /** Shows these lines in place of those shown last. Only a terminal does so; elsewhere nothing happens. */
  readonly show: (lines: readonly string[]) => void;
  /** Writes lines that stay, above what is shown. */
  readonly print: (lines: readonly string[]) => void;
  /** Takes away what is shown. */
  readonly clear: () => void;
}

type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'rows'>>;

const ESCAPE = '\u001B[';

export function openScreen(output: Output): Screen {
  let shown = 0;
  const back = (): string => (shown === 0 ? '' : `${ESCAPE}${shown}A${ESCAPE}0J`);
  const isTerminal = output.isTTY === true;

  const clear = (): void => {
    if (shown > 0) output.write(back());
    shown = 0;
  };
  return {
    show: (lines) => {
      if (!isTerminal) return;
      // A line that wraps, or one above the top, could not be written anew.
      const fitting = lines.slice(0, Math.max(1, (output.rows ?? 24) - 1));
      output.write(back() + fitting.map((line) => `${cut(line, output.columns ?? 80)}\n`).join(''));
      shown = fitting.length;
    },
    print: (lines) => {
      clear();
      if (lines.length > 0) output.write(`${lines.join('\n')}\n`);
    },
    clear,
  };
}

/** By what is seen: colours take no room. */
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

/** What takes two columns (Unicode Standard Annex 11, wide and fullwidth), roughly: rather too much than too little. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE6F\uFF00-\uFFE6]|[^\0-\uFFFF]/u;
