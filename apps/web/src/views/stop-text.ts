import type { FieldsOf } from './types.ts';

/** Why a trace did not end at the target, with further facts; null if it did, or if the reason is unknown. */
export function stopText({
  stopReason,
  fullTtl,
  reached,
  protocol,
  echo,
  loop,
}: FieldsOf<'traceroute'>): string | null {
  const isOneRouter = stopReason === 'loop' && loop?.length === 1;
  const why = isOneRouter
    ? 'One router answers for all hops from its own on.'
    : stopWords.get(stopReason ?? 'completed');
  if (why === undefined) return null;
  const rtts = fullTtl?.rtts ?? [];
  const answered = rtts.filter((rtt) => rtt !== null);
  const isEchoed = (echo?.received ?? 0) > 0;
  return [
    why,
    ...(rtts.length === 0 ? [] : [`The target itself answered ${answered.length} of ${rtts.length} packets.`]),
    ...(isEchoed && reached === false ? [`It answers ${protocol === 'icmp' ? 'other ' : ''}echo requests.`] : []),
  ].join(' ');
}

const stopWords: ReadonlyMap<string, string> = new Map([
  ['hop_limit', 'The trace was to show no further hop.'],
  ['gap_limit', 'No later hop answered.'],
  ['unreachable', 'An ICMP error ended the path.'],
  ['loop', 'The packets go round in a circle.'],
  ['deadline', 'The trace was ended before it was complete.'],
]);
