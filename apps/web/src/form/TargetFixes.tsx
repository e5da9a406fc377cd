import { hostFor, type TargetFix } from '@vantage/client';
import type { JSX } from 'preact';

import { formOf } from './forms.ts';

/** Buttons that start the checks which the user may have meant by a mistaken target. */
export function TargetFixes(props: {
  readonly fixes: readonly TargetFix[];
  readonly onChoose: (fix: TargetFix) => void;
}): JSX.Element | null {
  const fixes = props.fixes.flatMap((fix) => {
    const form = formOf(fix.type);
    if (form === undefined) return [];
    const { title, hostKind } = form;
    const kind = fix.recordType === undefined ? title : `${title} ${fix.recordType}`;
    return [[fix, `${kind} ${hostFor(hostKind, fix.host)}${fix.port === undefined ? '' : `, port ${fix.port}`}`]];
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
