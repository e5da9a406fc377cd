import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { CopyBar } from '../check/CopyBar.tsx';
import { columnsOf } from '../check/columns.ts';
import { ProbeTable } from '../table/ProbeTable.tsx';
import { ConnectionNote } from '../check/ConnectionNote.tsx';
import { useCheck, type Result, type CheckData, type ConnectionProblem } from '../check/use-check.ts';
import { useSummary } from '../check/use-summary.ts';
import { answeredOf, headlineOf, Verdict } from '../check/Verdict.tsx';
import { CheckForm } from '../form/CheckForm.tsx';
import { ago, clockTime, duration, placeOf } from '../format.ts';
import { ProbeMap } from '../map/ProbeMap.tsx';
import { Announce } from '../parts/announce.tsx';
import { useService } from '../parts/router.tsx';
import { toneOf } from '../parts/tone.tsx';
import { useProbes } from '../parts/use-probes.tsx';
import { recentChecks, remember } from '../recent.ts';
import { TypeView } from '../views/TypeView.tsx';
import { Failed, Gone, Loading } from './no-check.tsx';

/** One check: verdict first, then measurements. Anyone with the link can read it. */
export function CheckPage({ id }: { readonly id: string }): JSX.Element {
  const { client } = useService();
  const state = useCheck(client, id);
  if (state.kind === 'gone') return <Gone />;
  if (state.kind === 'failed') return <Failed message={state.message} />;
  if (state.kind === 'loading') return <Loading connectionProblem={state.connectionProblem} />;
  return <Shown key={id} check={state.check} connectionProblem={state.connectionProblem} />;
}

/** A completed check is shown once its summary and probes are loaded, at the latest after this time. */
const TOGETHER_MS = 800;

/** True once everything is loaded or the time has passed; does not revert. */
function useTogether(isAllThere: boolean): boolean {
  const [isTime, setTime] = useState(false);
  const isShown = useRef(false);
  useEffect(() => {
    const timer = setTimeout(() => setTime(true), TOGETHER_MS);
    return () => clearTimeout(timer);
  }, []);
  isShown.current ||= isAllThere || isTime;
  return isShown.current;
}

function Shown(props: {
  readonly check: CheckData;
  readonly connectionProblem: ConnectionProblem | undefined;
}): JSX.Element {
  const { check, connectionProblem } = props;
  const { client } = useService();
  const list = useProbes();
  const probes = list ?? {};
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const answered = answeredOf(check);
  const isCompleted = check.status === 'completed';
  const summary = useSummary(client, check.testId, answered, isCompleted);
  const headline = headlineOf(check, summary);
  const { port, before } = asked(check);
  const { testId, type, host, createdAt } = check;

  useEffect(() => {
    document.title = `${type} ${host} · Vantage`;
    const verdict = summary?.status === 'completed' ? { verdict: summary.verdict } : {};
    remember({ id: testId, type, host, at: createdAt, ...verdict });
  }, [testId, summary?.verdict, summary?.status]);

  const isShown = useTogether(!isCompleted || (list !== undefined && summary !== undefined));
  if (!isShown) return <Loading />;

  const toggle = (probe: string): void =>
    setOpen((before) => {
      const after = new Set(before);
      if (!after.delete(probe)) after.add(probe);
      return after;
    });
  const choose = (probe: string): void => {
    setOpen((before) => new Set([...before, probe]));
    requestAnimationFrame(() => {
      const row = document.querySelector<HTMLElement>(`[data-probe="${CSS.escape(probe)}"]`);
      row?.scrollIntoView({ block: 'center' });
      row?.querySelector<HTMLElement>('.opener')?.focus({ preventScroll: true });
    });
  };
  const nameOf = (probe: string): string => (Object.hasOwn(probes, probe) ? placeOf(probes[probe]!) : probe);
  const view = { check, summary, nameOf, onChoose: choose };
  const onMap = Object.entries(check.results).map(([probe, result]) => ({
    id: probe,
    name: `${probe}, ${nameOf(probe)}`,
    latitude: probes[probe]?.latitude ?? null,
    longitude: probes[probe]?.longitude ?? null,
    tone: toneOf(result.result),
    label: labelOf(check.type, result),
  }));
  const progress = `${answered} of ${onMap.length} probes have answered.`;
  const hasPlaces = onMap.some(({ latitude }) => latitude !== null);
  return (
    <main class="page">
      <CheckForm key={`${testId} ${String(port)}`} type={type} host={host} before={before} />
      <div class="result-head">
        <h1>
          <span class="type">{type}</span> <span class="target">{host}</span>
        </h1>
        <p class="note" title={clockTime(createdAt)}>
          {ago(createdAt, Date.now())}
          {isCompleted && check.completedAt !== null
            ? ` · took ${duration(Date.parse(check.completedAt) - Date.parse(createdAt))}`
            : ''}
        </p>
        <CopyBar check={check} summary={summary} />
      </div>
      <div class={hasPlaces ? 'top with-map' : 'top'}>
        <section class="card" aria-label="Verdict">
          <Verdict {...view} />
          {connectionProblem === undefined ? null : <ConnectionNote connectionProblem={connectionProblem} />}
          <ProbeIndicators check={check} onChoose={choose} />
        </section>
        {hasPlaces ? <ProbeMap probes={onMap} onChoose={choose} /> : null}
      </div>
      <Announce text={isCompleted ? `Completed. ${headline}` : (connectionProblem?.text ?? progress)} />
      <TypeView {...view} />
      <ProbeTable check={check} probes={probes} open={open} onToggle={toggle} />
    </main>
  );
}

/**
 * Parameters of the request: known in the browser that sent it; otherwise port and record type are taken from the
 * results.
 */
function asked(check: CheckData): { readonly port: unknown; readonly before: Readonly<Record<string, unknown>> } {
  const sent = recentChecks().find(({ id }) => id === check.testId)?.request as Record<string, unknown> | undefined;
  const results = Object.values(check.results);
  const named = (field: string): unknown => results.find((result) => result[field] !== undefined)?.[field];
  if (sent !== undefined) return { port: 'sent', before: sent };
  return { port: named('port'), before: { port: named('port'), recordType: named('recordType') } };
}

/** One indicator per probe: progress and outcome. */
function ProbeIndicators(props: {
  readonly check: CheckData;
  readonly onChoose: (probe: string) => void;
}): JSX.Element {
  const entries = Object.entries(props.check.results).toSorted(([a], [b]) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  return (
    <div class="lamps" aria-hidden="true">
      {entries.map(([probe, result]) => (
        <button
          key={probe}
          type="button"
          tabIndex={-1}
          class={`lamp ${toneOf(result.result)}`}
          title={probe}
          onClick={() => props.onChoose(probe)}
        />
      ))}
    </div>
  );
}

/** The value shown next to a pin. */
function labelOf(type: string, result: Result): string | undefined {
  if (result.result === 'pending') return undefined;
  if (result.result !== 'success') {
    const status = result['statusCode'];
    if (typeof status === 'number') return String(status);
    return columnsOf(type)[0]!.text(result).toLowerCase();
  }
  return typeof result.rt === 'number' ? duration(result.rt) : undefined;
}
