import type { SparseResultOf } from '../../probe-result.ts';

type Traceroute = SparseResultOf<'traceroute'>;

/** ` of 1,400 bytes with DSCP 46`, if the request chose these: other packets may pass hops that drop such packets. */
export function chosenText({ size, dscp = 0 }: Traceroute): string {
  const bytes = size === undefined ? '' : ` of ${size.toLocaleString('en')} bytes`;
  return `${bytes}${dscp === 0 ? '' : ` with DSCP ${dscp}`}`;
}

/** Sentence that a trace which ends in silence sent packets of a requested size or DSCP; empty for ordinary packets. */
export function chosenNote(result: Traceroute): string {
  const chosen = chosenText(result);
  return chosen === '' ? '' : ` Packets${chosen} were sent, as asked for: others may get farther.`;
}
