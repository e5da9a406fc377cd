import type { Sample } from '../../chance.ts';
import type { Step } from '../trace.ts';

/** Keys of the routers of a step; for those with withheld addresses, by their index among the responders of the hop. */
export function placesIn({ hop, routers, isPrivate, responders }: Step): readonly string[] {
  return isPrivate ? responders.map((index) => `${hop} ${index}`) : routers.map(({ ip }) => ip);
}

export function sampleOf(steps: readonly Step[]): Sample {
  return steps.reduce((sum, { sent, lost }) => ({ sent: sum.sent + sent, lost: sum.lost + lost }), {
    sent: 0,
    lost: 0,
  });
}
