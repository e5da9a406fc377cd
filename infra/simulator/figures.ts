import type { Figure } from '../bench/goals.ts';
import { kinds, type Complaint, type Kind } from './verify/complaint.ts';
import type { CaseRun } from './run-cases.ts';

export interface VerifiedCase {
  readonly run: CaseRun;
  readonly complaints: readonly Complaint[];
}

const names: Readonly<Record<Kind, string>> = {
  accusation: 'accusations where nothing is wrong',
  missed: 'findings missed where something is wrong',
  place: 'findings that name another place',
  verdict: 'wrong verdicts',
  reached: 'traces that are wrong about reaching the target',
  stop: 'wrong stop reasons',
  hop: 'hops with wrong or missing routers',
  link: 'links that no packet used',
  rtt: 'round-trip times below the truth',
  loss: 'wrong counts of lost packets',
  mtu: 'wrong path MTUs',
  ping: 'wrong pings',
};

/** Numbers of compared results, and of complaints by kind: the goal of each kind is 0. */
export function figuresOf(verified: readonly VerifiedCase[], seconds: number): readonly Figure[] {
  const scenarios = new Set(verified.map(({ run }) => run.of.scenario.name)).size;
  const checks = verified.reduce((sum, { run }) => sum + run.shares.length, 0);
  const packets = verified.reduce(
    (sum, { run }) => sum + run.shares.reduce((own, { passages }) => own + passages.length, 0),
    0,
  );
  const count = (of: Kind): number =>
    verified.reduce((sum, { complaints }) => sum + complaints.filter(({ kind }) => kind === of).length, 0);
  return [
    { name: 'scenarios', value: scenarios, unit: 'scenarios' },
    { name: 'cases', value: verified.length, unit: 'cases' },
    { name: 'checks', value: checks, unit: 'checks' },
    { name: 'packets', value: packets, unit: 'packets' },
    { name: 'time', value: seconds, unit: 's' },
    ...kinds.map((kind) => ({ name: names[kind], value: count(kind), unit: 'found', atMost: 0 })),
  ];
}
