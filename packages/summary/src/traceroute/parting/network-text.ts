import { asText } from '../../words.ts';
import { stepText, type Step } from '../trace.ts';

/** The network of the common router, or between which networks the paths part. */
export function partingNetworkText(at: Step, onward: Step | undefined): string {
  const [own, next] = [networkOf(at), networkOf(onward)];
  if (own === undefined) return next === undefined ? 'there' : `before ${next}`;
  return next === undefined || next === own ? `in ${own}` : `between ${own} and ${next}`;
}

export function onwardText(onward: Step | undefined): string {
  return onward === undefined ? '' : ` over ${stepText(onward)}`;
}

function networkOf(step: Step | undefined): string | undefined {
  const [router] = step?.routers ?? [];
  return router === undefined ? undefined : asText(router.asn, router.asName);
}
