import type { JSX } from 'preact';

import { lazyView, type LazyView } from '../parts/view.tsx';
import { measurementsOf, probeIn } from '../check/measurements.ts';
import type { Result } from '../check/use-check.ts';
import type { ViewProps } from './types.ts';

const view = (load: () => Promise<(props: ViewProps) => JSX.Element>): LazyView<ViewProps> =>
  lazyView(load, () => null);

const port = view(async () => (await import('./PortView.tsx')).PortView);
const views: Readonly<Record<string, LazyView<ViewProps>>> = {
  ping: view(async () => (await import('./PingView.tsx')).PingView),
  http: view(async () => (await import('./HttpView.tsx')).HttpView),
  dns: view(async () => (await import('./DnsView.tsx')).DnsView),
  tcp: port,
  udp: port,
  traceroute: view(async () => (await import('./TracerouteView.tsx')).TracerouteView),
  info: view(async () => (await import('./InfoView.tsx')).InfoView),
};

/** View of a check type; unknown types have the table only. */
export function TypeView(props: ViewProps): JSX.Element | null {
  const view = viewOf(props.check.type);
  // The key discards the state of a view when the type changes.
  return view === undefined ? null : <view.View key={props.check.type} {...overFamilies(props)} />;
}

/**
 * The properties with the rows to draw. Charts have a row for each measurement; in a completed check, the rows that
 * show nothing come last. The graph of a traceroute has the paths of both families.
 */
function overFamilies(props: ViewProps): ViewProps {
  const { check, rows, nameOf, onChoose } = props;
  const all = check.type === 'traceroute' ? rows : measurementsOf(rows);
  const measuredFirst = check.status === 'completed' ? all.toSorted(([, a], [, b]) => rank(a) - rank(b)) : all;
  if (all.length === rows.length) return { ...props, rows: measuredFirst };
  return {
    ...props,
    rows: measuredFirst,
    nameOf: (id) => nameOf(probeIn(id)),
    onChoose: (id) => onChoose(probeIn(id)),
  };
}

/** Without any of these fields, a result has nothing to show in charts, graph and cards. */
const SHOWN = ['packets', 'timings', 'hops', 'attempts', 'rcode', 'ip'];

/**
 * 0 for a result with something to show, else 1. The outcome does not tell: a probe that has timed out may have
 * measured something or nothing.
 */
function rank(result: Result): number {
  return SHOWN.some((name) => Object.keys(result[name] ?? {}).length > 0) ? 0 : 1;
}

/** Resolves when the view can be drawn at once, or its code cannot be loaded now. */
export async function loadTypeView(type: string): Promise<void> {
  await viewOf(type)?.load();
}

export function isTypeViewLoaded(type: string): boolean {
  return viewOf(type)?.isLoaded() ?? true;
}

/** Loads the views of all types. */
export async function loadTypeViews(): Promise<void> {
  await Promise.all(Object.keys(views).map(loadTypeView));
}

function viewOf(type: string): LazyView<ViewProps> | undefined {
  return Object.hasOwn(views, type) ? views[type] : undefined;
}
