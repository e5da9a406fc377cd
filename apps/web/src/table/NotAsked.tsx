import type { Probes } from '@vantage/contract';
import type { JSX } from 'preact';

import { requestFieldsOf, type RequestFields } from '../check/request.ts';
import type { CheckData } from '../check/use-check.ts';
import { formOf } from '../form/forms.ts';
import { queryOf, valuesOf } from '../form/values.ts';
import { placeOf, plural } from '../format.ts';
import { Link } from '../parts/router.tsx';

/** Largest number of probes that the link selects. */
const MOST = 100;

/** The probes that are not offline and did not run the check, and a link to the form with them selected. */
export function NotAsked(props: {
  readonly check: CheckData;
  readonly probes: Probes;
  readonly asked: RequestFields;
}): JSX.Element | null {
  const { check, probes, asked } = props;
  const others = Object.entries(probes).filter(
    ([id, { status }]) => status !== 'offline' && !Object.hasOwn(check.results, id),
  );
  if (others.length === 0) return null;
  const form = formOf(check.type);
  const { locations: _locations, limit: _limit, ...rest } = requestFieldsOf(asked);
  const ids = others.slice(0, MOST).map(([id]) => id);
  return (
    <details class="not-asked">
      <summary>{others.length === 1 ? '1 probe was' : `${others.length} probes were`} not asked</summary>
      <p class="note">{others.map(([id, probe]) => `${id} (${placeOf(probe)})`).join(', ')}</p>
      {form === undefined || check.between !== undefined ? null : (
        <p>
          <Link to={`/${queryOf(check.type, check.host, valuesOf(form, { ...rest, probes: ids, limit: ids.length }))}`}>
            Check from {plural(ids.length, 'other probe')}
          </Link>
        </p>
      )}
    </details>
  );
}
