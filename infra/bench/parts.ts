import type { Progress } from '../command/progress.ts';
import type { Figure } from './goals.ts';

export interface Part {
  /** Printed when the part begins. */
  readonly title: string;
  /** Yields each figure as soon as it is measured. */
  readonly measure: (progress: Progress) => AsyncIterable<Figure> | Iterable<Figure>;
}

/**
 * Measures parts one after another. If one fails, its error is printed, the figures of all parts are kept, also those
 * that it has yielded, and the last figure makes the benchmark fail.
 *
 * @param only the name of one part
 */
export async function measureParts(
  parts: Readonly<Record<string, Part>>,
  progress: Progress,
  only?: string,
): Promise<readonly Figure[]> {
  if (only !== undefined && !Object.hasOwn(parts, only)) {
    throw new Error(`unknown part "${only}"; expected one of ${Object.keys(parts).join(', ')}`);
  }
  const chosen = Object.entries(parts).filter(([name]) => only === undefined || name === only);
  const figures: Figure[] = [];
  const failures: string[] = [];
  for (const [index, [name, { title, measure }]] of chosen.entries()) {
    progress.print(`${index + 1} of ${chosen.length}: ${title}`);
    try {
      for await (const figure of measure(progress)) figures.push(figure);
    } catch (error) {
      const failure = `${name}: ${error instanceof Error ? error.message : String(error)}`;
      failures.push(failure);
      progress.print(`failed: ${failure}`);
    }
  }
  if (failures.length === 0) return figures;
  return [
    ...figures,
    { name: 'parts that failed', value: failures.length, unit: '', atMost: 0, comparison: failures.join('; ') },
  ];
}
