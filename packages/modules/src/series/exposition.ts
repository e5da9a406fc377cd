import { families, type FamilyName, type Sample } from './families.ts';

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Formats samples as text for Prometheus: families by name, the samples of each in the given order. */
export function exposition(samples: readonly Sample[]): string {
  const byFamily = Map.groupBy(samples, ({ family }) => family);
  const names = [...byFamily.keys()].toSorted();
  return names.map((name) => familyText(name, byFamily.get(name)!)).join('');
}

function familyText(name: FamilyName, samples: readonly Sample[]): string {
  const type = samples.some(({ suffix }) => suffix !== undefined) ? 'summary' : 'gauge';
  const lines = samples.map(
    ({ suffix = '', labels, value }) => `${name}${suffix}${labelText(labels)} ${numberText(value)}\n`,
  );
  return `# HELP ${name} ${families[name]}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}="${escaped(value)}"`);
  return `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('"', String.raw`\"`);
}

function numberText(value: number): string {
  return Number.isNaN(value) ? 'NaN' : String(value);
}
