import type { Description } from '../../shared/description.ts';
import { count, ms, told } from '../../shared/result-text.ts';
import type { traceroute } from './contract.ts';

export const description: Description<typeof traceroute> = {
  line: ({ hops, reached, rt, pathMtu, loop, stopReason, mtuBlackHole, protocol, echo }) => [
    told(hops, ({ length }) => count(length, 'hop')),
    reached === true ? told(rt, ms) : undefined,
    reached === false && (echo?.received ?? 0) > 0
      ? `the target answers ${protocol === 'icmp' ? 'other ' : ''}echo requests`
      : undefined,
    told(pathMtu, (mtu) => `MTU ${mtu}`),
    told(mtuBlackHole, (bytes) => `packets from ${bytes} bytes on vanish`),
    told(loop, ({ start }) => `goes in a circle from hop ${start}`),
    told(stopWords.get(stopReason ?? 'completed')),
  ],
  details: ({ hops = [] }) =>
    hops.map(({ hop, ip, hostname, asn, asName, latency, private: isPrivate, icmp }) => {
      const who = ip ?? (isPrivate ? '(private)' : '*');
      const more = [
        told(hostname),
        told(icmp, ({ mark, from }) =>
          from === undefined || from === ip ? mark : `${mark} by ${from ?? '(private)'}`,
        ),
        told(asn, (number) => `${number} ${asName ?? ''}`.trimEnd()),
      ].filter((part) => part !== undefined);
      return [`${String(hop).padStart(2)}  ${told(latency, ms) ?? ''}`.padEnd(14), who, ...more].join('  ');
    }),
};

/** Stop reasons that neither the error nor the loop shows. */
const stopWords: ReadonlyMap<string, string> = new Map([
  ['hop_limit', 'stopped at the hop limit'],
  ['gap_limit', 'no later hop answered'],
  ['deadline', 'ended before it was complete'],
]);
