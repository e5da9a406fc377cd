import type { Paths } from '@vantage/contract';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import { duration } from '../format.ts';
import { Section } from '../parts/section.tsx';
import { ProbeChips } from '../check/CheckVerdict.tsx';
import { ToneMark } from '../parts/tone.tsx';
import { useFirst } from '../parts/use-first.tsx';
import { pathsOf } from './layout-paths.ts';
import { PathGraph } from './PathGraph.tsx';
import { probesMissingPaths } from './missing-paths.ts';
import { lazyView } from '../parts/view.tsx';
import { reachedText } from './reached-text.ts';
import { resultsOf, type ViewProps } from './types.ts';

/** Loaded on demand, because few checks are between two probes. */
const directions = lazyView(
  async () => (await import('./Directions.tsx')).Directions,
  () => null,
);

/** The paths of the probes as one graph, and their ends; first both directions of a check between two probes. */
export function TracerouteView({ check, rows, isAll, summary, nameOf, onChoose }: ViewProps): JSX.Element {
  const results = resultsOf<'traceroute'>({ rows });
  // New paths are passed to the graph all at once, not a few per frame: otherwise each step would lay out the whole
  // graph again.
  const [drawn, rest] = useFirst(rows, isAll, rows.length);
  const all = summary?.paths;
  const ids = rows.map(([id]) => id).join(' ');
  const paths = useMemo(() => all && pathsOf(all, new Set(ids.split(' '))), [all, ids]);
  const drawnPaths = useMemo(() => paths && pathsOf(paths, new Set(drawn.map(([id]) => id))), [paths, drawn.length]);
  return (
    <Section
      title={check.between === undefined ? 'Paths' : 'Both ways'}
      note={`${reachedText(results, check.between === undefined ? 'the target' : 'the other')}${rest === null ? '' : `; the paths of ${drawn.length} are drawn`}`}
      class="paths-view"
    >
      {paths === undefined || drawnPaths === undefined || paths.nodes.length === 0 ? (
        <p class="note">The paths are drawn when the first probes have answered.</p>
      ) : (
        <>
          {check.between === undefined ? null : <directions.View between={check.between} results={results} />}
          <PathGraph paths={drawnPaths} host={check.host} between={check.between} onChoose={onChoose} />
          {rest}
          <MissingPaths probes={probesMissingPaths(results)} nameOf={nameOf} onChoose={onChoose} />
          <Ends paths={paths} nameOf={nameOf} onChoose={onChoose} />
        </>
      )}
    </Section>
  );
}

/** Names the probes whose search ran out of packets or time: the graph may lack some of their paths. */
function MissingPaths({ probes, ...chips }: Parameters<typeof ProbeChips>[0]): JSX.Element | null {
  if (probes.length === 0) return null;
  return (
    <p class="note">
      Packets or time did not suffice to find all paths; some may be missing from{' '}
      <ProbeChips probes={probes} {...chips} />
    </p>
  );
}

const endWords: Readonly<Record<string, string>> = {
  silent: 'Nothing answers beyond',
  refused: 'Packets go no further than',
  loop: 'Packets go round in a circle at',
  cut: 'The trace goes no further than',
  pending: 'On the way at',
};

function Ends(props: {
  readonly paths: Paths;
  readonly nameOf: (probe: string) => string;
  readonly onChoose: (probe: string) => void;
}): JSX.Element | null {
  const { paths, nameOf, onChoose } = props;
  const ends = paths.ends.filter(({ reason }) => reason !== 'reached');
  if (ends.length === 0) return null;
  return (
    <ul class="findings">
      {ends.map(({ node, reason, probes }) => (
        <li key={`${node} ${reason}`}>
          <ToneMark tone={reason === 'pending' || reason === 'cut' ? 'wait' : 'bad'} />
          <div>
            {endWords[reason]} {nodeWords(paths, node)}{' '}
            <ProbeChips probes={probes} nameOf={nameOf} onChoose={onChoose} />
          </div>
        </li>
      ))}
    </ul>
  );
}

function nodeWords(paths: Paths, id: string): string {
  const node = paths.nodes.find((other) => other.id === id);
  if (node === undefined) return id;
  if (node.kind === 'probe') return `the probe ${node.id.replace(/^probe:/, '')} itself`;
  const network = node.asn === null ? '' : `, ${node.asn} ${node.asName ?? ''}`.trimEnd();
  const time = node.rttMin === null ? '' : `, ${duration(node.rttMin)}`;
  return `${node.hostname ?? node.ip ?? 'a router that is not shown'} (hop ${node.hopMin}${network}${time})`;
}
