import type { JSX } from 'preact';

import { clockTime, duration } from '../format.ts';
import { Facts, type Fact } from '../parts/facts.tsx';
import { useService } from '../parts/router.tsx';
import { ProbeDetails } from '../views/probe-details.tsx';
import { codeWords } from '../check/columns.ts';
import type { Result, FailureData } from '../check/use-check.ts';

/** Full result of one probe: error, measurements, and raw JSON. */
export function Details(props: { readonly type: string; readonly host: string; readonly result: Result }): JSX.Element {
  const { type, result } = props;
  const facts: readonly Fact[] = [
    ['Address', result.resolvedIp],
    ['Time', typeof result.rt === 'number' ? duration(result.rt) : null],
    ['Started', clockText(result['startedAt'])],
    ['Finished', clockText(result['finishedAt'])],
  ];
  return (
    <div class="details">
      {result.error === null || result.error === undefined ? null : <FailureNote failure={result.error} />}
      {result.result === 'pending' ? <p class="note">This probe is still measuring.</p> : null}
      <Facts facts={facts} />
      <ProbeDetails type={type} result={result} />
      <details class="raw">
        <summary>Result as JSON</summary>
        <pre tabIndex={0}>{JSON.stringify(result, null, 2)}</pre>
      </details>
    </div>
  );
}

function FailureNote({ failure }: { readonly failure: FailureData }): JSX.Element {
  const { path } = useService();
  return (
    <div class="failure">
      <p>
        <strong>{codeWords(failure.code)}</strong> while in phase {failure.phase}; cause: {failure.source}.{' '}
        <a href={path('/docs#failures')}>
          <code>{failure.code}</code>
        </a>
      </p>
      <p>{failure.message}</p>
    </div>
  );
}

function clockText(value: unknown): string | null {
  return typeof value === 'string' ? clockTime(value) : null;
}
