import type { Probes } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { requestOf } from '../check/request.ts';
import type { ConnectionProblem } from '../connection/connection-problem.ts';
import { ProbeIndicators } from '../check/ProbeIndicators.tsx';
import { ProbeTable } from '../table/ProbeTable.tsx';
import { ConnectionNote } from '../connection/ConnectionNote.tsx';
import { nameOfCheck } from '../check/name.ts';
import { useCheck, type CheckData } from '../check/use-check.ts';
import { useSummary } from '../check/use-summary.ts';
import { finishedOf, headlineOf, CheckVerdict } from '../check/CheckVerdict.tsx';
import { FilterBar } from '../filter/FilterBar.tsx';
import { FEW_ROWS } from '../filter/groups.ts';
import { probeOf, rowsOf } from '../filter/rows.ts';
import { NO_FILTER } from '../filter/view-state.ts';
import { useViewState } from '../filter/use-view-state.ts';
import { CheckForm } from '../form/CheckForm.tsx';
import { placeOf } from '../format.ts';
import { ProbeMap } from '../map/ProbeMap.tsx';
import { Announce } from '../parts/announce.tsx';
import { Kept, useGrowing, usePrinting } from '../parts/use-growing.ts';
import { useService } from '../parts/router.tsx';
import { useProbes } from '../parts/use-probes.tsx';
import { remember } from '../recent.ts';
import { isTypeViewLoaded, loadTypeView, loadTypeViews, TypeView } from '../views/TypeView.tsx';
import type { ViewProps } from '../views/types.ts';
import { mapProbesOf } from './map-probes.ts';
import { Failed, Gone, Loading } from './no-check.tsx';
import { ResultHead } from './ResultHead.tsx';

/** One check: verdict first, then measurements. */
export function CheckPage({ id }: { readonly id: string }): JSX.Element {
  const { client } = useService();
  const state = useCheck(client, id);
  // The views of all types are loaded while the check is requested, because its type is not known yet.
  useEffect(() => void loadTypeViews(), []);
  if (state.kind === 'gone') return <Gone reason={state.reason} />;
  if (state.kind === 'failed') return <Failed message={state.message} />;
  if (state.kind === 'loading') return <Loading connectionProblem={state.connectionProblem} />;
  return <Shown key={id} check={state.check} connectionProblem={state.connectionProblem} />;
}

/** Longest wait for summary, probes and the code of the view before a completed check is displayed. */
const TOGETHER_MS = 800;

/** True once everything is loaded or `TOGETHER_MS` have passed; never becomes false again. */
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

/** Loads the view of a type; true once it is loaded or could not be loaded. */
function useTypeView(type: string): boolean {
  const [isLoaded, setLoaded] = useState(() => isTypeViewLoaded(type));
  useEffect(() => void loadTypeView(type).then(() => setLoaded(true)), [type]);
  return isLoaded;
}

function Shown(props: {
  readonly check: CheckData;
  readonly connectionProblem: ConnectionProblem | undefined;
}): JSX.Element {
  const { check } = props;
  const { client } = useService();
  const list = useProbes();
  const probes = list ?? {};
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const finished = finishedOf(check);
  const isCompleted = check.status === 'completed';
  const { summary, problem } = useSummary(client, check.testId, finished, isCompleted);
  const connectionProblem = props.connectionProblem ?? problem;
  const asked = requestOf(check);
  const { kind, target, details } = nameOfCheck(check.type, check.host, asked);
  const { testId, type, host, createdAt } = check;

  useEffect(() => {
    document.title = `${kind} ${target}${details === '' ? '' : ` (${details})`} · Vantage`;
    const verdict = summary?.status === 'completed' ? { verdict: summary.verdict } : {};
    remember({ id: testId, type, host, at: createdAt, asked, ...verdict });
  }, [testId, summary?.verdict, summary?.status, kind, target, details]);

  const isViewLoaded = useTypeView(type);
  const isShown = useTogether(!isCompleted || (list !== undefined && summary !== undefined && isViewLoaded));
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
  const nameOf = (probe: string): string => {
    const known = probeOf(probes, probe);
    return known === undefined ? probe : placeOf(known);
  };
  const view = { check, summary, nameOf, onChoose: choose };
  const progress = `${finished} of ${Object.keys(check.results).length} probes have finished.`;
  const trouble = connectionProblem?.text;
  const announced = isCompleted ? `Completed. ${headlineOf(check, summary)} ${trouble ?? ''}` : (trouble ?? progress);
  return (
    <main class="page">
      <CheckForm key={`${testId} ${target}`} type={type} host={host} before={asked} />
      <ResultHead check={check} summary={summary} />
      <Rows {...view} probes={probes} open={open} onToggle={toggle} connectionProblem={connectionProblem} />
      <Announce text={announced} />
    </main>
  );
}

/**
 * Frames in which a long page is drawn: the verdict, the pins of the map, the filter, three for the view of the type,
 * whose rows grow meanwhile, and the table.
 */
const PARTS = 7;

/** All parts that show the probes, with the filter that they share. */
function Rows(
  props: Omit<ViewProps, 'rows' | 'isAll'> & {
    readonly probes: Probes;
    readonly open: ReadonlySet<string>;
    readonly onToggle: (probe: string) => void;
    readonly connectionProblem: ConnectionProblem | undefined;
  },
): JSX.Element {
  const { check, probes, connectionProblem, onChoose } = props;
  const isStopped =
    check.status !== 'completed' && connectionProblem !== undefined && connectionProblem.retryAt === undefined;
  const [view, change] = useViewState();
  const isAll = usePrinting() || view.isAll;
  const rows = useMemo(() => rowsOf(check, probes, view), [check, probes, view]);
  const group = view.group ?? (Object.keys(check.results).length > FEW_ROWS ? 'outcome' : 'none');
  const onMap = useMemo(() => mapProbesOf(props, new Set(rows.map(([id]) => id))), [props, rows]);
  const hasPlaces = onMap.some(({ latitude }) => latitude !== null);
  // One part per frame: drawing many probes at once would block the page.
  const isLong = Object.keys(check.results).length > FEW_ROWS;
  const parts = useGrowing(PARTS, isLong ? 1 : PARTS);
  return (
    <>
      <div class={hasPlaces ? 'top with-map' : 'top'}>
        <section class="card" aria-label="Verdict">
          <Kept of={[props]}>
            <CheckVerdict {...props} isStopped={isStopped} />
          </Kept>
          {connectionProblem === undefined ? null : <ConnectionNote connectionProblem={connectionProblem} />}
          <Kept of={[props]}>
            <ProbeIndicators check={check} onChoose={onChoose} />
          </Kept>
        </section>
        {hasPlaces ? (
          <Kept of={[onMap, parts < 2]}>
            <ProbeMap probes={parts < 2 ? [] : onMap} onChoose={onChoose} />
          </Kept>
        ) : null}
      </div>
      {parts < 3 ? null : <FilterBar check={check} view={view} group={group} count={rows.length} onChange={change} />}
      {parts < 4 || rows.length === 0 ? null : (
        <Kept of={[props, rows, isAll]}>
          <TypeView {...props} rows={rows} isAll={isAll} />
        </Kept>
      )}
      {parts < PARTS ? null : (
        <ProbeTable
          {...props}
          rows={rows}
          group={group}
          order={view.order}
          isAll={isAll}
          onSort={(order) => change({ order })}
          onAll={() => change({ isAll: true })}
          onUnfilter={() => change(NO_FILTER)}
        />
      )}
    </>
  );
}
