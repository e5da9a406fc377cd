import type { TargetFix } from '@vantage/client';
import type { JSX } from 'preact';

import { formOf } from './forms.ts';

/** Buttons for the checks that a mistaken target may have meant. */
export function TargetFixes(props: {
  readonly fixes: readonly TargetFix[];
  readonly onChoose: (fix: TargetFix) => void;
}): JSX.Element | null {
  const fixes = props.fixes.flatMap((fix) => {
    const title = formOf(fix.type)?.title;
    if (title === undefined) return [];
    const kind = fix.recordType === undefined ? title : `${title} ${fix.recordType}`;
    return [[fix, `${kind} ${fix.host}${fix.port === undefined ? '' : `, port ${fix.port}`}`]];
  }) as (readonly [TargetFix, string])[];
  if (fixes.length === 0) return null;
  return (
    <p class="fixes">
      {fixes.map(([fix, text]) => (
        <button key={text} type="button" class="quiet" onClick={() => props.onChoose(fix)}>
          {text}
        </button>
      ))}
    </p>
  );
}
