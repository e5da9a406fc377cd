import { replyTexts } from '@vantage/diagnostics/reply-texts';
import type { JSX } from 'preact';

import { duration } from '../format.ts';
import { scaleTo } from './scale.ts';
import { stopText } from './stop-text.ts';
import type { FieldsOf } from './types.ts';

type Hop = NonNullable<FieldsOf<'traceroute'>['hops']>[number];

export function StopNote(result: FieldsOf<'traceroute'>): JSX.Element | null {
  const text = stopText(result);
  return text === null ? null : <p class="note">{text}</p>;
}

interface HopTableProps {
  readonly hops: readonly Hop[];
  /** DSCP that was requested; undefined if none was. */
  readonly dscp: number | undefined;
}

/**
 * Hops of a path with the time of each packet, and a bar for the median; of a trace in rounds, the figures of each hop
 * over the rounds.
 */
export function HopTable({ hops, dscp }: HopTableProps): JSX.Element | null {
  if (hops.length === 0) return null;
  if (hops.some(({ stats }) => stats !== undefined)) return <RoundTable hops={hops} dscp={dscp} />;
  const scale = scaleTo(hops.map(({ latency }) => latency ?? 0));
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Hops">
      <table class="hops">
        <thead>
          <tr>
            <th scope="col" class="number">
              Hop
            </th>
            <th scope="col">Router</th>
            <th scope="col">Network</th>
            <th scope="col" class="number">
              Median
            </th>
            <th scope="col">
              <span class="unseen">Time as a bar</span>
            </th>
            <th scope="col">Packets</th>
          </tr>
        </thead>
        <tbody>
          {hops.map((hop) => (
            <tr key={hop.hop} class={hop.ip === null ? 'silent' : ''}>
              <td class="number">{hop.hop}</td>
              <RouterCells hop={hop} dscp={dscp} />
              <td class="number">{duration(hop.latency)}</td>
              <td class="bar">
                <svg width="100%" height="8" aria-hidden="true">
                  <rect width={`${scale.percent(hop.latency ?? 0)}%`} height="8" rx="2" />
                </svg>
              </td>
              <td>
                {hop.rtts.map((rtt) => (rtt === null ? '✕' : rtt.toFixed(rtt < 0.995 ? 2 : 1))).join('  ')}
                {hop.icmp === null ? '' : `  ${hop.icmp.mark}${senderOf(hop)}`}
                {hop.mpls.length === 0 ? null : (
                  <span class="note">MPLS {hop.mpls.map(({ label }) => label).join(', ')}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Figures of each hop over the rounds. */
function RoundTable({ hops, dscp }: HopTableProps): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Hops over the rounds">
      <table class="hops rounds">
        <thead>
          <tr>
            {['Hop', 'Router', 'Network', 'Loss', 'Sent', 'Average', 'Best', 'Worst', 'StDev', 'Jitter'].map((name) => (
              <th key={name} scope="col" class={name === 'Router' || name === 'Network' ? '' : 'number'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {hops.map((hop) => (
            <tr key={hop.hop} class={hop.ip === null ? 'silent' : ''}>
              <td class="number">{hop.hop}</td>
              <RouterCells hop={hop} dscp={dscp} />
              {figuresOf(hop).map((text, index) => (
                <td key={index} class="number">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function figuresOf({ stats }: Hop): readonly string[] {
  if (stats === undefined) return Array<string>(7).fill('');
  const { sent, loss, rttAvg, rttMin, rttMax, rttStdDev, jitter } = stats;
  const times = [rttAvg, rttMin, rttMax, rttStdDev, jitter].map((time) => duration(time));
  return [loss === null ? '' : `${(loss * 100).toFixed(1)} %`, String(sent), ...times];
}

function RouterCells({ hop, dscp }: { readonly hop: Hop; readonly dscp: number | undefined }): JSX.Element {
  const headers = replyTexts(hop, dscp);
  return (
    <>
      <td>
        {routerOf(hop)}
        {hop.hostname === null ? null : <span class="note">{hop.hostname}</span>}
        {hop.responders.length > 1 ? <span class="note">and {hop.responders.length - 1} more</span> : null}
        {headers.length === 0 ? null : <span class="note">{headers.join(' · ')}</span>}
      </td>
      <td>
        {hop.asn === null ? '' : hop.asn} <span class="note">{hop.asName}</span>
      </td>
    </>
  );
}

function routerOf({ ip, private: isPrivate }: Hop): string {
  if (ip !== null) return ip;
  return isPrivate ? 'private address' : 'no answer';
}

/** ` by ` and the sender of the ICMP error, if it is not the router of the hop; otherwise empty. */
function senderOf({ ip, icmp }: Hop): string {
  const from = icmp?.from;
  if (from === undefined || from === ip) return '';
  return ` by ${from ?? 'a private address'}`;
}
