import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { clockTime, duration } from '../format.ts';
import { Facts, type Fact } from '../parts/facts.tsx';
import { useService } from '../parts/router.tsx';
import { lazyView } from '../parts/view.tsx';
import { codeWords } from '../check/columns.ts';
import type { Result, FailureData } from '../check/use-check.ts';

const probeDetails = lazyView(
  async () => (await import('../views/details/probe-details.tsx')).ProbeDetails,
  () => null,
);

/** Full result of one probe: error, measurements, and raw JSON. */
export function Details({ type, result }: DetailsProps): JSX.Element {
  // Rendered again only if the result has changed.
  return useMemo(() => <Whole type={type} result={result} />, [type, result]);
}

interface DetailsProps {
  readonly type: string;
  readonly result: Result;
}

function Whole({ type, result }: DetailsProps): JSX.Element {
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
      <probeDetails.View type={type} result={result} />
      <Raw result={result} />
    </div>
  );
}

/** The result as JSON, which may be long and is written only while it is visible. */
function Raw({ result }: { readonly result: Result }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="raw" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Result as JSON</summary>
      {isOpen ? <pre tabIndex={0}>{JSON.stringify(result, null, 2)}</pre> : null}
    </details>
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
