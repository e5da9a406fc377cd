import type { JSX } from 'preact';

import { ProbeChips } from '../check/CheckVerdict.tsx';
import { duration, plural } from '../format.ts';
import { Dotted } from '../parts/prose.tsx';
import { Section } from '../parts/section.tsx';
import { toneOf } from '../parts/status.ts';
import { Badge } from '../parts/tone.tsx';
import { answerKey, visibleRecords, titleOf } from './dns-answer.ts';
import { groupMembers } from './group.ts';
import { notYet } from './not-yet.ts';
import { resultsOf, type FieldsOf, type ViewProps } from './types.ts';

/** Probes grouped by equal answers. */
export function DnsView({ check, rows, nameOf, onChoose }: ViewProps): JSX.Element {
  const answered = resultsOf<'dns'>({ rows }).filter(([, { result }]) => result !== 'pending');
  const groups = groupMembers(answered, ([, result]) => answerKey(result));
  // Without a response code there is no answer.
  const [same, ...others] = groups.filter(([first]) => typeof first![1].rcode === 'string');
  return (
    <Section
      title={others.length > 0 ? 'Different answers' : 'Answer'}
      note={
        others.length === 0 && (same?.length ?? 0) > 1 && same![0]![1].truncated !== true
          ? `The same for ${plural(same!.length, 'probe')}`
          : undefined
      }
      class="dns-view"
    >
      {groups.length === 0 ? <p class="note">{notYet(check, rows)}</p> : null}
      <div class="cards">
        {groups.map((members) => (
          <div key={answerKey(members[0]![1])} class="group">
            <p class="group-head">
              <Badge tone={toneOf(members[0]![1])}>{titleOf(members[0]![1])}</Badge>
              <span class="note">{plural(members.length, 'probe')}</span>
            </p>
            <Records records={visibleRecords(members[0]![1])} />
            {members[0]![1].truncated === true ? <p class="note">Not all records are shown.</p> : null}
            <p class="note">
              {fastest(members.map(([, result]) => result))}
              {members[0]![1].dnssec?.verdict === 'validated' ? ' · validated by the resolver (DNSSEC)' : ''}
            </p>
            <ProbeChips probes={members.map(([probe]) => probe)} nameOf={nameOf} onChoose={onChoose} />
          </div>
        ))}
      </div>
    </Section>
  );
}

function fastest(results: readonly FieldsOf<'dns'>[]): string {
  const times = results.map(({ rt }) => rt).filter((rt) => typeof rt === 'number');
  if (times.length === 0) return 'No time was measured';
  const [least, most] = [Math.min(...times), Math.max(...times)];
  return duration(least) === duration(most) ? `in ${duration(least)}` : `in ${duration(least)} to ${duration(most)}`;
}

export function Records(props: {
  readonly records: readonly {
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly data: string;
  }[];
}): JSX.Element | null {
  if (props.records.length === 0) return null;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="DNS records">
      <table class="records">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col" class="number">
              TTL
            </th>
            <th scope="col">Data</th>
          </tr>
        </thead>
        <tbody>
          {props.records.map(({ name, type, ttl, data }, index) => (
            <tr key={index}>
              <td>
                <Dotted text={name} />
              </td>
              <td>{type}</td>
              <td class="number">{ttl}</td>
              <td class="data">
                <Dotted text={data} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
