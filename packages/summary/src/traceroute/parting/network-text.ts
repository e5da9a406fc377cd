import { asText } from '../../words.ts';
import { stepText, type Step } from '../trace.ts';

/** Where the paths part: in the network of the common router, between two networks, or `there` if neither is known. */
export function partingNetworkText(at: Step, onward: Step | undefined): string {
  const [own, next] = [networkOf(at), networkOf(onward)];
  if (own === undefined) return next === undefined ? 'there' : `before ${next}`;
  return next === undefined || next === own ? `in ${own}` : `between ${own} and ${next}`;
}

/**
 * Clause with the next router on the paths of working probes; empty if it is not known.
 *
 * @param target the address that the working probes reach, which is no router on the way
 */
export function onwardText(onward: Step | undefined, target: string | null): string {
  if (onward === undefined) return '';
  return onward.routers[0]?.ip === target ? ' to the target' : ` over ${stepText(onward)}`;
}

function networkOf(step: Step | undefined): string | undefined {
  const [router] = step?.routers ?? [];
  return router === undefined ? undefined : asText(router.asn, router.asName);
}
