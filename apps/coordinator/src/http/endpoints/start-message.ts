import type { Creation } from '../../checks/checks.ts';

type Created = Extract<Creation, { readonly created: true }>;

/** How many probes run a new check, and how many of the chosen ones cannot. */
export function startMessage(type: string, { probes, offline }: Pick<Created, 'probes' | 'offline'>): string {
  const absent = offline === 0 ? '' : `; ${count(offline)} ${offline === 1 ? 'is' : 'are'} not available`;
  return `The ${type} check runs from ${count(probes.length - offline)}${absent}.`;
}

function count(probes: number): string {
  if (probes < 2) return probes === 1 ? 'one probe' : 'no probe';
  return `${probes} probes`;
}
