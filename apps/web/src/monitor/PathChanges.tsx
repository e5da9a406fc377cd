import type { Monitor } from '@vantage/contract';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { clockTime, plural } from '../format.ts';
import { Link } from '../parts/router.tsx';
import { Section } from '../parts/section.tsx';

type PathChange = Monitor['pathChanges'][number];
type Move = PathChange['changes'][number];

/** Entries shown without expanding the list. */
const FIRST_CHANGES = 5;
/** Probes of a change that are named. */
const NAMED_PROBES = 5;

const kinds: Readonly<Record<Move['change'], string>> = { path: 'path', ways: 'load balancer', hop: 'single hops' };

/** The last changes of the path of a traceroute, newest first; nothing for other checks. */
export function PathChanges({ monitor }: { readonly monitor: Monitor }): JSX.Element | null {
  const [isAll, setAll] = useState(false);
  const { check, pathChanges } = monitor as Pick<Monitor, 'check'> & Partial<Pick<Monitor, 'pathChanges'>>;
  // A coordinator of an earlier release lists none.
  if (check['type'] !== 'traceroute' || pathChanges === undefined) return null;
  const shown = isAll ? pathChanges : pathChanges.slice(0, FIRST_CHANGES);
  return (
    <Section
      title="Path changes"
      class="path-changes"
      note={pathChanges.length === 0 ? 'None so far' : 'Newest first. Two checks can be compared while both are kept.'}
    >
      {pathChanges.length === 0 ? null : (
        <ul>
          {shown.map((change) => (
            <Entry key={change.tick} change={change} />
          ))}
        </ul>
      )}
      {shown.length === pathChanges.length ? null : (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          All {pathChanges.length} path changes
        </button>
      )}
    </Section>
  );
}

function Entry({ change }: { readonly change: PathChange }): JSX.Element {
  const { at, checkId, probes, changes } = change;
  const others = probes.filter((probe) => !changes.some((one) => one.probes.includes(probe)));
  return (
    <li>
      <time dateTime={at}>{clockTime(at)}</time>
      <ul>
        {changes.map((move) => (
          <li key={move.probes[0]}>
            <MoveText move={move} />
            {!move.kept || checkId === null ? null : (
              <Link
                to={`/c/${move.before}/compare/${checkId}`}
                label={`Compare the checks before and after, ${clockTime(at)}, ${namesOf(move.probes)}`}
              >
                Compare
              </Link>
            )}
          </li>
        ))}
        {others.length === 0 ? null : (
          <li>
            <p class="note">Other changes from {namesOf(others)}</p>
          </li>
        )}
      </ul>
    </li>
  );
}

function MoveText({ move }: { readonly move: Move }): JSX.Element {
  const { probes, change, text, networksGone, networksNew } = move;
  const networks = [
    ...(networksGone.length === 0 ? [] : [`no longer over ${networksGone.join(', ')}`]),
    ...(networksNew.length === 0 ? [] : [`newly over ${networksNew.join(', ')}`]),
  ];
  return (
    <div>
      <p>{`${text.charAt(0).toUpperCase()}${text.slice(1)}.`}</p>
      <p class="note">
        {kinds[change]} · from {namesOf(probes)}
        {networks.length === 0 ? '' : ` · ${networks.join(', ')}`}
      </p>
    </div>
  );
}

function namesOf(probes: readonly string[]): string {
  const rest = probes.length - NAMED_PROBES;
  const named = probes.slice(0, NAMED_PROBES).join(', ');
  return rest > 0 ? `${named} and ${plural(rest, 'other probe')}` : named;
}
