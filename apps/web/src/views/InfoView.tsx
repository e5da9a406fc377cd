import type { JSX } from 'preact';

import { codeWords } from '../check/columns.ts';
import { ProbeChips } from '../check/CheckVerdict.tsx';
import { plural } from '../format.ts';
import { Facts } from '../parts/facts.tsx';
import { Dotted } from '../parts/prose.tsx';
import { Section } from '../parts/section.tsx';
import { toneOf } from '../parts/status.ts';
import { Badge } from '../parts/tone.tsx';
import { groupMembers } from './group.ts';
import { notYet } from './not-yet.ts';
import { resultsOf, type FieldsOf, type ViewProps } from './types.ts';

/** A card for each address with its facts, and for each error without an address, with the probes that report it. */
export function InfoView({ check, rows, nameOf, onChoose }: ViewProps): JSX.Element {
  const answered = resultsOf<'info'>({ rows }).filter(([, { result }]) => result !== 'pending');
  const groups = groupMembers(answered, ([, result]) => cardKey(result));
  return (
    <Section {...headOf(groups)} class="info-view">
      {groups.length === 0 ? <p class="note">{notYet(check, rows)}</p> : null}
      <div class="cards">
        {groups.map((members) => (
          <AddressCard key={cardKey(members[0]![1])} members={members} nameOf={nameOf} onChoose={onChoose} />
        ))}
      </div>
    </Section>
  );
}

type Members = readonly (readonly [string, FieldsOf<'info'>])[];

/** Key of equal cards: the address, and the name and addresses that a probe finds; without an address, the error. */
function cardKey({ ip, hostname, hostnameVerified, addresses, error }: FieldsOf<'info'>): string {
  if (typeof ip !== 'string') return error?.code ?? '';
  return JSON.stringify([ip, hostname?.toLowerCase(), hostnameVerified, addresses?.toSorted()]);
}

function headOf(groups: readonly Members[]): { readonly title: string; readonly note: string | undefined } {
  // Groups of failures have no address.
  const found = groups.filter(([first]) => typeof first![1].ip === 'string');
  const addresses = new Set(found.map(([first]) => first![1].ip));
  if (addresses.size > 1) return { title: `${addresses.size} different addresses`, note: undefined };
  const [same, ...others] = found;
  const note =
    others.length > 0
      ? 'Not all probes found the same'
      : (same?.length ?? 0) > 1
        ? `The same for ${plural(same!.length, 'probe')}`
        : undefined;
  return { title: 'About this address', note };
}

function AddressCard(props: {
  readonly members: Members;
  readonly nameOf: (probe: string) => string;
  readonly onChoose: (probe: string) => void;
}): JSX.Element {
  const { members, nameOf, onChoose } = props;
  const [, result] = members[0]!;
  const { ip, error } = result;
  return (
    <div class="group address">
      <p class="group-head">
        {ip === undefined || ip === null ? (
          <Badge tone={toneOf(result)}>{codeWords(error?.code ?? 'no address')}</Badge>
        ) : (
          <strong class="address-text">{ip}</strong>
        )}
        {members.length > 1 ? <span class="note">{plural(members.length, 'probe')}</span> : null}
      </p>
      <AddressFacts result={result} />
      <ProbeChips probes={members.map(([probe]) => probe)} nameOf={nameOf} onChoose={onChoose} />
      {result.provider === null || result.provider === undefined ? null : (
        <p class="note provider">
          {result.provider}
          {result.dataDate === null || result.dataDate === undefined ? '' : ` · data of ${result.dataDate}`}
        </p>
      )}
    </div>
  );
}

export function AddressFacts({ result }: { readonly result: FieldsOf<'info'> }): JSX.Element {
  const place = [result.city, result.region, result.country].filter((part) => typeof part === 'string' && part !== '');
  const verified = { true: ', verified', false: ', does not lead back', null: '' }[
    String(result.hostnameVerified ?? null)
  ];
  return (
    <Facts
      facts={[
        ['Name', typeof result.hostname === 'string' ? `${result.hostname}${verified ?? ''}` : null],
        ['Network', [result.asn, result.asName].filter((part) => typeof part === 'string').join(' ')],
        ['Provider', result.isp],
        ['Organization', result.org === result.isp ? null : result.org],
        ['Prefix', result.prefix],
        ['Place', [...new Set(place)].join(', ')],
        ['Time zone', typeof result.timezone === 'string' ? <Dotted text={result.timezone} /> : null],
        ['Coordinates', typeof result.latitude === 'number' ? `${result.latitude}, ${result.longitude}` : null],
        ['Addresses', (result.addresses ?? []).length > 1 ? result.addresses!.join(', ') : null],
      ]}
    />
  );
}
