import { redisKeys } from '@vantage/contract';
import { classifyAddress } from '@vantage/target-policy';

import { addressFamily, writeOffer } from '../../probes/offers.ts';
import type { AgentCommandDependencies } from './agent-commands.ts';
import type { Offering } from '../arguments/arguments.ts';
import type { AdminResult } from '../output.ts';

/** Offers addresses of a probe to the other probes, or withdraws the offer. */
export async function offer(
  { redis, records }: AgentCommandDependencies,
  { id, addresses }: Offering,
): Promise<AdminResult> {
  if (!(await records.list()).some((record) => record.id === id)) {
    return { said: [`There is no probe ${id}.`], warnings: [], done: false };
  }
  await writeOffer(redis, id, addresses);
  const seen = await redis.hget(redisKeys.agentKey(id), 'address');
  const said =
    addresses.length === 0
      ? `Probe ${id} offers no address to other probes.`
      : `Probe ${id} offers ${addresses.join(' and ')} to other probes. GET /probes shows it to everyone.`;
  return { said: [said], warnings: addresses.flatMap((address) => doubtsOf(address, seen)), done: true };
}

function doubtsOf(address: string, seen: string | null): readonly string[] {
  const isElsewhere = seen !== null && addressFamily(seen) === addressFamily(address) && seen !== address;
  const { refused, rule } = classifyAddress(address);
  return [
    ...(isElsewhere ? [`the agent connects from ${seen}, not from ${address}: is that an address of the probe?`] : []),
    ...(refused
      ? [`${address} is in ${rule.cidr} (${rule.name}): probes measure it only if TARGET_ALLOW has it.`]
      : []),
  ];
}
