import { writeFileSync } from 'node:fs';

/** One figure of a benchmark; with `atMost` or `atLeast` it is a goal. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Value of a bare program with the same work at its core, measured in the same run. */
  readonly floor?: number;
  /** Text next to the value, most often the value of a peer or a lower bound in the same run. */
  readonly comparison?: string;
}

/** Prints every figure, then one line per goal, and writes all to a file on request. Returns the exit status. */
export function report(figures: readonly Figure[], jsonFile: string | undefined): number {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const { name, value, unit, floor, comparison } of figures) {
    const notes = [floor === undefined ? [] : `floor ${rounded(floor)}`, comparison ?? []].flat().join('; ');
    print(`${name}: ${rounded(value)} ${unit}${notes === '' ? '' : ` (${notes})`}`);
  }
  print('');
  const goals = figures.filter(({ atMost, atLeast }) => atMost !== undefined || atLeast !== undefined);
  for (const goal of goals) {
    const verdict = holds(goal) ? 'holds' : 'falls short';
    print(`goal ${goal.name}: ${rounded(goal.value)} ${goal.unit} (goal ${wanted(goal)}) ${verdict}${reach(goal)}`);
  }
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify({ figures }, undefined, 2)}\n`);
  return goals.every(holds) ? 0 : 1;
}

function holds({ value, atMost = Infinity, atLeast = -Infinity }: Figure): boolean {
  return value <= atMost && value >= atLeast;
}

/** For a missed goal: its floor, and whether the floor misses the goal too. */
function reach(goal: Figure): string {
  if (holds(goal) || goal.floor === undefined) return '';
  const floor = `floor ${rounded(goal.floor)} ${goal.unit}`.trimEnd();
  return holds({ ...goal, value: goal.floor }) ? `: ${floor}` : `: ${floor}, short too`;
}

function wanted({ atMost, atLeast }: Figure): string {
  return [atMost === undefined ? [] : `≤ ${rounded(atMost)}`, atLeast === undefined ? [] : `≥ ${rounded(atLeast)}`]
    .flat()
    .join(', ');
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
