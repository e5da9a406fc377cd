import type { JSX } from 'preact';

import { duration, percent } from '../format.ts';
import { Section } from '../parts/section.tsx';
import { useFirst } from '../parts/use-first.tsx';
import { ScaleAxis } from './Axis.tsx';
import { scaleTo, type Scale } from './scale.ts';
import { slotsFor } from './packet-slots.ts';
import { resultsOf, type FieldsOf, type ViewProps } from './types.ts';

type Packet = NonNullable<FieldsOf<'ping'>['packets']>[number];

/** Packets in sending order, and their distribution on a scale that all rows share. */
export function PingView({ rows, isAll, onChoose }: ViewProps): JSX.Element {
  const results = resultsOf<'ping'>({ rows });
  const [shown, rest] = useFirst(results, isAll);
  const packets = results.flatMap(([, result]) => result.packets ?? []);
  const rtts = packets.flatMap(({ rtt }) => rtt ?? []);
  const scale = scaleTo(rtts);
  // No packet was sent and no probe is still measuring, for example because the name does not resolve.
  if (packets.length === 0 && results.every(([, { result }]) => result !== 'pending')) return <></>;
  return (
    <Section title="Round-trip times" note={<Legend />} class="ping-view">
      <div class="strips">
        {shown.map(([probe, result]) => (
          <div key={probe} class="strip-row">
            <button type="button" class="row-name" onClick={() => onChoose(probe)}>
              {probe}
            </button>
            <Strip packets={result.packets ?? []} expected={result.pingCount ?? 0} />
            <Distribution packets={result.packets ?? []} average={result.rttAvg ?? null} scale={scale} />
            <span class="row-value">
              {duration(result.rttAvg)}
              {(result.loss ?? 0) > 0 ? <em>{percent(result.loss!)} lost</em> : null}
            </span>
          </div>
        ))}
        <div class="strip-row axis-row">
          <span />
          <span class="axis-name">by packet</span>
          {rtts.length === 0 ? null : <ScaleAxis scale={scale} />}
        </div>
      </div>
      {rest}
    </Section>
  );
}

function Legend(): JSX.Element {
  return (
    <span class="legend" aria-hidden="true">
      <span>
        <i class="key-dot" /> reply
      </span>
      <span>
        <i class="key-mean" /> average
      </span>
      <span>
        <i class="key-lost" /> lost
      </span>
    </span>
  );
}

/** One bar per packet, each row with its own scale: shows jitter and loss. */
function Strip(props: { readonly packets: readonly Packet[]; readonly expected: number }): JSX.Element {
  const { packets, expected } = props;
  const first = packets.filter(({ duplicate }) => !duplicate);
  const count = slotsFor(first, expected);
  const slowest = Math.max(...first.map(({ rtt }) => rtt ?? 0));
  return (
    <svg class="strip" aria-hidden="true" width="100%" height="28">
      {first.map(({ seq, rtt, icmp }) => {
        const width = 100 / count;
        const height = rtt === null || slowest === 0 ? 100 : Math.max(8, (rtt / slowest) * 100);
        return (
          <rect
            key={seq}
            class={rtt === null ? 'lost' : 'reply'}
            x={`${(seq - 1) * width + width * 0.24}%`}
            width={`${width * 0.52}%`}
            y={`${100 - height}%`}
            height={`${height}%`}
            rx="1.5"
          >
            <title>{`Packet ${seq}: ${rtt === null ? lossText(icmp) : duration(rtt)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

function lossText(icmp: Packet['icmp']): string {
  if (icmp === undefined) return 'lost';
  return `ICMP type ${icmp.type} code ${icmp.code} from ${icmp.from ?? 'a private address'}`;
}

function Distribution(props: {
  readonly packets: readonly Packet[];
  readonly average: number | null;
  readonly scale: Scale;
}): JSX.Element {
  const { packets, average, scale } = props;
  const rtts = packets.map(({ rtt }) => rtt).filter((rtt) => rtt !== null);
  const [least, most] = [Math.min(...rtts), Math.max(...rtts)];
  return (
    <svg class="distribution" aria-hidden="true" width="100%" height="28">
      <line class="base" x1="0" x2="100%" y1="50%" y2="50%" />
      {rtts.length === 0 ? null : (
        <line class="range" x1={`${scale.percent(least)}%`} x2={`${scale.percent(most)}%`} y1="50%" y2="50%" />
      )}
      {packets.map(({ seq, rtt }, index) =>
        rtt === null ? null : (
          <circle key={index} class="reply" cx={`${scale.percent(rtt)}%`} cy="50%" r="4.5">
            <title>{`Packet ${seq}: ${duration(rtt)}`}</title>
          </circle>
        ),
      )}
      {average === null ? null : (
        <line class="mean" x1={`${scale.percent(average)}%`} x2={`${scale.percent(average)}%`} y1="4" y2="24" />
      )}
    </svg>
  );
}
