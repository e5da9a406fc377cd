import { lineText, piece, table, type Line, type Style } from '@vantage/command-line';
import type { Comparison } from '@vantage/contract';

const styles: Readonly<Record<Comparison['result'], Style>> = { same: 'good', unsure: 'warning', different: 'bad' };

/** The result and its sentence, then the differences of each probe that has some. */
export function comparisonLines({ result, sentence, probes }: Comparison, colors: boolean): readonly string[] {
  const rows = Object.entries(probes).flatMap(([probe, { differences }]) =>
    differences.map(({ text, certain }, index) => [
      piece(index === 0 ? probe : '', 'bold'),
      piece(certain ? 'differs' : 'unsure', certain ? 'bad' : 'warning'),
      piece(text),
    ]),
  );
  const lines: readonly Line[] = [
    [piece(result, styles[result]), piece('  '), piece(sentence, 'bold')],
    ...(rows.length === 0 ? [] : [[], ...table(rows)]),
  ];
  return lines.map((line) => lineText(line, colors));
}
