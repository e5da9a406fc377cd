import { writeMetricsAddress } from '../../probes/metrics-addresses.ts';
import type { MetricsChange } from '../arguments/arguments.ts';
import type { AdminResult } from '../output.ts';
import type { AgentCommandDependencies } from './agent-commands.ts';

/** Sets the address at which Prometheus finds the metrics of an agent, or withdraws it. */
export async function setMetricsAddress(
  { redis, records }: AgentCommandDependencies,
  { id, address }: MetricsChange,
): Promise<AdminResult> {
  if (!(await records.list()).some((record) => record.id === id)) {
    return { said: [`There is no probe ${id}.`], warnings: [], done: false };
  }
  await writeMetricsAddress(redis, id, address);
  const said =
    address === undefined
      ? `GET /sd/agents does not have the agent of ${id}.`
      : `GET /sd/agents has the agent of ${id} at ${address}.`;
  return { said: [said], warnings: [], done: true };
}
