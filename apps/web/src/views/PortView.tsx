import type { JSX } from 'preact';

import { codeWords } from '../check/columns.ts';
import { ProbeChips } from '../check/CheckVerdict.tsx';
import { duration, plural } from '../format.ts';
import { Section } from '../parts/section.tsx';
import { toneOf } from '../parts/status.ts';
import { Badge, ToneMark, type Tone } from '../parts/tone.tsx';
import { groupMembers } from './group.ts';
import { notYet } from './not-yet.ts';
import { resultsOf, type FieldsOf, type ViewProps } from './types.ts';

type PortResult = FieldsOf<'tcp'> | FieldsOf<'udp'>;

const stateTones: Readonly<Record<string, Tone>> = {
  open: 'good',
  closed: 'bad',
  filtered: 'warn',
  unreachable: 'bad',
  'open|filtered': 'mute',
};

const stateWords: Readonly<Record<string, string>> = {
  open: 'Open',
  closed: 'Closed',
  filtered: 'Filtered',
  unreachable: 'Unreachable',
  'open|filtered': 'Open or filtered',
};

/** Probes grouped by the state of the port or the error, with the attempts of the first twelve of each group. */
export function PortView({ check, rows: all, nameOf, onChoose }: ViewProps): JSX.Element {
  const rows = resultsOf<'tcp' | 'udp'>({ rows: all }) as readonly (readonly [string, PortResult])[];
  const answered = rows.filter(([, { result }]) => result !== 'pending');
  const groups = groupMembers(answered, ([, result]) => result.state ?? result.error?.code ?? 'none').toSorted(
    ([a], [b]) => rank(a![1]) - rank(b![1]),
  );
  const port = answered.find(([, result]) => result.port !== undefined)?.[1].port;
  return (
    <Section title={port === undefined ? 'The port' : `Port ${port}`} note={check.type.toUpperCase()} class="port-view">
      {groups.length === 0 ? <p class="note">{notYet(check, all)}</p> : null}
      <div class="cards">
        {groups.map((members) => {
          const [, first] = members[0]!;
          const tone = stateTones[first.state ?? ''] ?? toneOf(first);
          const word = stateWords[first.state ?? ''] ?? codeWords(first.error?.code ?? 'no answer');
          return (
            <div key={word} class="group">
              <p class="group-head">
                <Badge tone={tone}>{word}</Badge>
                <span class="note">{plural(members.length, 'probe')}</span>
              </p>
              <ul class="attempts">
                {members.slice(0, 12).map(([probe, result]) => (
                  <li key={probe}>
                    <button type="button" class="row-name" onClick={() => onChoose(probe)}>
                      {probe}
                    </button>
                    <Attempts result={result} />
                  </li>
                ))}
              </ul>
              {members.length > 12 ? (
                <ProbeChips probes={members.slice(12).map(([probe]) => probe)} nameOf={nameOf} onChoose={onChoose} />
              ) : null}
            </div>
          );
        })}
      </div>
    </Section>
  );
}

/**
 * Groups in which the port is open come after the others, as rows with success do, and last those without an attempt.
 */
function rank({ state, attempts = [] }: PortResult): number {
  return attempts.length === 0 ? 2 : Number(state === 'open');
}

export function Attempts({ result }: { readonly result: PortResult }): JSX.Element {
  return (
    <span class="attempt-list">
      {(result.attempts ?? []).map(({ rt, error }, index) => {
        const tone = rt !== null ? 'good' : error?.code === 'timed_out' ? 'warn' : 'bad';
        const text = rt !== null ? duration(rt) : codeWords(error?.code ?? 'no answer');
        return (
          <span key={index} class="attempt">
            <ToneMark tone={tone} />
            {text}
          </span>
        );
      })}
    </span>
  );
}
