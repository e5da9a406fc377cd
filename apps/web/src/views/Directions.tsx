import type { JSX } from 'preact';

import { duration, plural } from '../format.ts';
import type { FieldsOf } from './types.ts';

type Trace = FieldsOf<'traceroute'>;
type Hop = NonNullable<Trace['hops']>[number];

interface DirectionsProps {
  readonly between: readonly string[];
  readonly results: readonly (readonly [probe: string, result: Trace])[];
}

/**
 * Both directions of a check between two probes. The second one is read from its end: if both take the same path, each
 * row has one router, with its addresses on either side.
 */
export function Directions({ between, results }: DirectionsProps): JSX.Element | null {
  const [first, second] = between as [string, string];
  const of = (probe: string): Trace | undefined => results.find(([id]) => id === probe)?.[1];
  const [there, back] = [of(first), of(second)];
  if (there === undefined || back === undefined) return null;
  const left = routersOf(there);
  const right = routersOf(back).toReversed();
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [left[index], right[index]]);
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Both directions">
      <table class="directions">
        <thead>
          <tr>
            <th scope="col">
              {first} → {second}
              <span class="note">{lengthOf(there)}</span>
            </th>
            <th scope="col">
              {first} ← {second}
              <span class="note">{lengthOf(back)}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((hop, column) => (
                <td key={column}>{hop === undefined ? '' : <HopCell hop={hop} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Hops before the other probe; all if no hop has its address. */
function routersOf({ hops = [], resolvedIp }: Trace): readonly Hop[] {
  const end = hops.findIndex(({ ip }) => ip !== null && ip === resolvedIp);
  return end === -1 ? hops : hops.slice(0, end);
}

function lengthOf({ hops = [], resolvedIp, result, error }: Trace): string {
  const end = hops.find(({ ip }) => ip !== null && ip === resolvedIp);
  if (end !== undefined) return `${plural(end.hop, 'hop')}, ${duration(end.latency)}`;
  if (result === 'pending') return 'under way';
  return error?.message ?? 'not reached';
}

function HopCell({ hop }: { readonly hop: Hop }): JSX.Element {
  const { ip, hostname, asn, asName, latency } = hop;
  const network = asn === null ? null : `${asn} ${asName ?? ''}`.trim();
  const more = [network, latency === null ? null : duration(latency)].filter((text) => text !== null);
  return (
    <>
      <span class="note">{hop.hop}</span>{' '}
      {ip === null ? (hop.private ? 'a private address' : 'no answer') : (hostname ?? ip)}
      <span class="note">{[...(hostname === null || hostname === undefined ? [] : [ip]), ...more].join(' · ')}</span>
    </>
  );
}
