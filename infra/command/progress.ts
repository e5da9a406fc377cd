import type { WriteStream } from 'node:tty';

/** A line at the bottom of a terminal with the current step of a long command and its elapsed time. */
export interface Progress {
  /** @param part such as `picture 12 of 200` */
  readonly step: (part: string) => void;
  /** Writes a line of output above the progress line. */
  readonly print: (line: string) => void;
  /** Clears the progress line. */
  readonly stop: () => void;
}

export interface ProgressOptions {
  /** Duration of the command, milliseconds, if known. */
  readonly totalMs?: number;
  readonly terminal?: Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;
  readonly output?: Pick<WriteStream, 'write'>;
  readonly everyMs?: number;
}

const CLEAR = '\u001B[2K\r';

/** Draws nothing if stderr is not a terminal. */
export function openProgress(
  name: string,
  { totalMs, terminal = process.stderr, output = process.stdout, everyMs = 1_000 }: ProgressOptions = {},
): Progress {
  const print = (line: string): void => void output.write(`${line}\n`);
  if (terminal.isTTY !== true) return { step: () => undefined, print, stop: () => undefined };
  const startedAt = performance.now();
  const of = totalMs === undefined ? '' : ` of ${clock(totalMs)}`;
  let part = '';
  let isDrawn = true;
  const draw = (): void => {
    const text = `${name}${part === '' ? '' : `: ${part}`} · ${clock(performance.now() - startedAt)}${of}`;
    // The cursor returns to the first column, so that other output replaces the line.
    terminal.write(`${CLEAR}${text.slice(0, widthOf(terminal) - 1)}\r`);
  };
  const timer = setInterval(draw, everyMs).unref();
  draw();
  return {
    step: (now) => {
      part = now;
      draw();
    },
    print: (line) => {
      if (isDrawn) terminal.write(CLEAR);
      print(line);
      if (isDrawn) draw();
    },
    stop: () => {
      isDrawn = false;
      clearInterval(timer);
      terminal.write(CLEAR);
    },
  };
}

/** Width of a terminal in columns; 80 for those without a width, or with 0. */
function widthOf({ columns = 0 }: { readonly columns?: number }): number {
  return columns > 0 ? columns : 80;
}

/** Minutes and seconds, such as `1:05`. */
function clock(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
