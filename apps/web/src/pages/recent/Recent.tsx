import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { nameOfCheck } from '../../check/name.ts';
import { Age } from '../../clock/Age.tsx';
import { serviceNow } from '../../clock/service-clock.ts';
import { formOf } from '../../form/forms.ts';
import { queryOf, valuesOf } from '../../form/values.ts';
import { ago } from '../../format.ts';
import { Icon } from '../../parts/icons.tsx';
import { Link } from '../../parts/router.tsx';
import { forget, forgetAll, onOtherTab, recentChecks, type RecentCheck } from '../../recent.ts';
import { requestOfRecent, earlierOf } from './earlier-check.ts';
import { useVerdicts } from './use-verdicts.ts';

/** Maximum number of rows. */
const FIRST = 8;

/** The checks of this browser: find one, open it, compare it with the one before, run it again, forget it. */
export function Recent(): JSX.Element {
  const [checks, setChecks] = useState(recentChecks);
  const [sought, seek] = useState('');
  useEffect(() => onOtherTab(() => setChecks(recentChecks())), []);
  useVerdicts(checks.slice(0, FIRST), () => setChecks(recentChecks()));
  const words = sought.trim().toLowerCase();
  const found = checks.filter((check) => words === '' || textOf(check).includes(words));
  return (
    <section class="card recent" aria-labelledby="recent-title">
      <header class="card-head">
        <h2 id="recent-title">Your recent checks</h2>
        {checks.length <= FIRST ? null : (
          <input
            type="search"
            aria-label="Find a recent check"
            placeholder="Find"
            value={sought}
            onInput={(event) => seek(event.currentTarget.value)}
          />
        )}
        {checks.length === 0 ? null : (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              forgetAll();
              setChecks([]);
            }}
          >
            Forget all
          </button>
        )}
      </header>
      {checks.length === 0 ? (
        <p class="note">The checks that you start or open are listed here. The list stays in this browser.</p>
      ) : (
        <ul>
          {found.slice(0, FIRST).map((check) => (
            <RecentRow
              key={check.id}
              check={check}
              earlier={earlierOf(check, checks)}
              onForget={() => {
                forget(check.id);
                setChecks(recentChecks());
              }}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function RecentRow(props: {
  readonly check: RecentCheck;
  readonly earlier: RecentCheck | undefined;
  readonly onForget: () => void;
}): JSX.Element {
  const { earlier } = props;
  const { id, type, host, at, verdict } = props.check;
  const { kind, target, details } = nameOfCheck(type, host, requestOfRecent(props.check));
  const form = formOf(type);
  return (
    <li>
      <Link to={`/c/${id}`}>
        <span class={`verdict-dot ${verdict ?? ''}`} aria-hidden="true" />
        <span class="type">{kind}</span>
        <span class="target">
          {target}
          {details === '' ? null : <span class="note"> {details}</span>}
        </span>
        {verdict === undefined ? null : <span class="note">{verdict}</span>}
        <span class="note when">
          <Age of={at} />
        </span>
      </Link>
      {earlier === undefined ? null : (
        <Link
          to={`/c/${earlier.id}/compare/${id}`}
          class="quiet"
          label={`Compare: ${kind} ${target} with the check before, ${ago(earlier.at, serviceNow())}`}
        >
          Compare
        </Link>
      )}
      {form === undefined ? null : (
        <Link
          to={`/${queryOf(type, host, valuesOf(form, requestOfRecent(props.check)))}`}
          class="quiet"
          label={`Again: ${kind} ${target}`}
        >
          Again
        </Link>
      )}
      <button type="button" class="quiet" aria-label={`Forget ${kind} ${target}`} onClick={props.onForget}>
        <Icon name="cross" />
      </button>
    </li>
  );
}

function textOf(check: RecentCheck): string {
  const { kind, target, details } = nameOfCheck(check.type, check.host, requestOfRecent(check));
  return [kind, target, details, check.verdict].join(' ').toLowerCase();
}
