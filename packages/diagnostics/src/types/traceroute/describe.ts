import type { ResultFieldsOf } from '@vantage/contract';

import type { Description } from '../../shared/description.ts';
import { count, ms, told } from '../../shared/result-text.ts';
import type { traceroute } from './contract.ts';
import { multipathLines } from './describe-multipath.ts';
import { replyTexts, unansweredRounds } from './reply-texts.ts';
import type { HopStats } from './options/round-options.ts';

export const description: Description<typeof traceroute> = {
  line: ({ hops, reached, rt, pathMtu, loop, stopReason, mtuBlackHole, fullSize, protocol, echo, ...others }) => [
    told(hops, ({ length }) => count(length, 'hop')),
    told(others.rounds, (sent) => count(sent, 'round')),
    told(others.rounds === undefined ? null : silenceOf(unansweredRounds({ hops, ...others }))),
    told(others.roundsEnded, () => 'ended because no client followed it'),
    reached === true ? told(rt, ms) : undefined,
    told(
      others.state,
      (state) =>
        `${told(others.port, (port) => `port ${port}`) ?? 'its port'} is ${state}${state === 'closed' ? ' (RST)' : ''}`,
    ),
    reached === false && (echo?.received ?? 0) > 0
      ? `the target answers ${protocol === 'icmp' ? 'other ' : ''}echo requests`
      : undefined,
    (others.ordinary?.received ?? 0) > 0 ? 'the target answers ordinary pings' : undefined,
    told(pathMtu, (mtu) => `MTU ${mtu}${mtu < LARGEST ? '' : ' or more'}`),
    told(mtuBlackHole, (bytes) => `echo requests from ${bytes} bytes on get no answer`),
    told(spacedLoss(others.spaced)),
    told(fullSizeOf({ fullSize, protocol, mtuBlackHole })),
    told(loop, ({ start, length }) =>
      length === 1 ? `one router answers for every hop from ${start} on` : `goes in a circle from hop ${start}`,
    ),
    told(stopWords.get(stopReason ?? 'completed')),
  ],
  details: ({ hops = [], multipath, dscp }) => [
    ...(hops.some(({ stats }) => stats !== undefined) ? [roundsHead] : []),
    ...hops.map(({ hop, ip, hostname, asn, asName, latency, private: isPrivate, icmp, stats, ...headers }) => {
      const who = ip ?? (isPrivate ? '(private)' : '*');
      const more = [
        told(hostname),
        told(icmp, ({ mark, from }) =>
          from === undefined || from === ip ? mark : `${mark} by ${from ?? '(private)'}`,
        ),
        told(asn, (number) => `${number} ${asName ?? ''}`.trimEnd()),
        ...replyTexts(headers, dscp),
      ].filter((part) => part !== undefined);
      const figures = stats === undefined ? (told(latency, ms) ?? '').padEnd(10) : roundsText(stats);
      return [`${String(hop).padStart(2)}  ${figures}`, who, ...more].join('  ');
    }),
    ...(multipath === undefined ? [] : multipathLines(multipath)),
  ],
};

type Sizes = Undefinable<Pick<ResultFieldsOf<typeof traceroute>, 'fullSize' | 'protocol' | 'mtuBlackHole'>>;
type Undefinable<T> = { readonly [K in keyof T]?: T[K] | undefined };

/**
 * Text if packets of the trace's protocol vanish in full size, or arrive although large echo requests vanish. Null if
 * both arrive, and without a result about full size.
 */
function fullSizeOf({ fullSize, protocol = 'icmp', mtuBlackHole }: Sizes): string | null {
  if (fullSize === undefined || (fullSize.arrives && typeof mtuBlackHole !== 'number')) return null;
  const packets = protocol === 'tcp' ? 'SYNs' : `${protocol.toUpperCase()} packets`;
  return `${packets} of ${fullSize.bytes} bytes ${fullSize.arrives ? 'arrive' : 'vanish'}`;
}

/** Text about loss in the packet groups after the trace (`sendSpaced`); null without loss, and if none were sent. */
function spacedLoss(spaced: ResultFieldsOf<typeof traceroute>['spaced']): string | null {
  if (spaced === undefined || spaced.received >= spaced.sent) return null;
  return `${spaced.sent - spaced.received} of ${spaced.sent} packets in groups without an answer`;
}

/** Text about unanswered rounds at the end; null below two, because one such round is ordinary loss. */
function silenceOf(unanswered: number): string | null {
  return unanswered < 2 ? null : `no answer in the last ${unanswered} rounds`;
}

/** Size of the largest packets that are sent, bytes: the path may carry more. */
const LARGEST = 1_500;

/** Titles of the figures: loss, sent packets, mean, minimum and maximum time, standard deviation and jitter. */
const roundsHead = ['   ', 'Loss%'.padStart(6), ...['Snt', 'Avg', 'Best', 'Wrst', 'StDev', 'Jttr'].map(column)].join(
  ' ',
);

function roundsText({ sent, loss, rttAvg, rttMin, rttMax, rttStdDev, jitter }: HopStats): string {
  const times = [rttAvg, rttMin, rttMax, rttStdDev, jitter].map((time) => column(time?.toFixed(1) ?? '-'));
  const lost = (loss === null ? '-' : `${(loss * 100).toFixed(1)}%`).padStart(6);
  return [lost, column(String(sent)), ...times].join(' ');
}

function column(text: string): string {
  return text.padStart(6);
}

/** Stop reasons that the line shows neither as its failure nor as its loop. */
const stopWords: ReadonlyMap<string, string> = new Map([
  ['hop_limit', 'stopped at the hop limit'],
  ['gap_limit', 'no later hop answered'],
  ['deadline', 'ended before it was complete'],
]);
