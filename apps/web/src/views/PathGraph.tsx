import type { PathNode, Paths } from '@vantage/contract';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { useGrowing } from '../parts/use-growing.ts';
import { Edges, Nodes, type Drawing } from './graph-shares.tsx';
import { layOutPaths } from './layout-paths.ts';
import { NETWORK_COLOURS, networksOf } from './networks.ts';
import { targetTexts } from './target-text.ts';

/** Window width in pixels below which the graph is compact, without names of routers that a single probe has seen. */
const NARROW = 760;
/** Width in pixels that the graph has on the widest page. */
const WIDEST = 1140;
const TOP = 26;

interface PathGraphProps {
  readonly paths: Paths;
  readonly host: string;
  /** The probes of a check between two. */
  readonly between: readonly string[] | undefined;
  readonly onChoose: (probe: string) => void;
}

/** Routers as dots coloured by network; line width shows the number of probes on a link. */
export function PathGraph({ paths, host, between, onChoose }: PathGraphProps): JSX.Element {
  const shown = useMemo(() => withoutTails(paths), [paths]);
  const layout = useMemo(() => layOutPaths(shown), [shown]);
  const networks = useMemo(() => networksOf(paths), [paths]);
  const [highlighted, highlight] = useState<PathNode>();
  const count = useGrowing(Math.max(layout.nodes.size, shown.edges.length), PARTS_A_SHARE);
  const isNarrow = innerWidth < NARROW;
  const { side, rowHeight, columnWidth, width, height } = sizesOf(layout, isNarrow);
  const drawing = useMemo((): Drawing => {
    const broken = paths.ends.filter(({ reason }) => reason === 'silent' || reason === 'refused' || reason === 'loop');
    return {
      at: ({ column, row }) => [side + column * columnWidth, TOP + row * rowHeight],
      layout,
      colours: new Map(networks.map(({ asn, colour }) => [asn, colour])),
      breaks: new Set(broken.map(({ node }) => node)),
      targetText: targetTexts(paths.nodes, host, between),
      isNarrow,
      letters: Math.floor(columnWidth / 6),
    };
  }, [paths, layout, host, between, isNarrow, columnWidth]);
  return (
    <>
      <div
        class="scroll graph"
        tabIndex={0}
        role="group"
        aria-label="The paths as a graph; the rows of the probes below say the same hop by hop"
      >
        <svg
          class={highlighted === undefined ? 'paths' : 'paths has-look'}
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          aria-hidden="true"
        >
          {sharesOf(shown.edges, count).map((edges, index) => (
            <Edges key={`edges ${index}`} edges={edges} drawing={drawing} highlighted={highlighted} />
          ))}
          {sharesOf([...layout.nodes.values()], count).map((nodes, index) => (
            <Nodes
              key={`nodes ${index}`}
              nodes={nodes}
              drawing={drawing}
              highlighted={highlighted}
              highlight={highlight}
              onChoose={onChoose}
            />
          ))}
        </svg>
      </div>
      {paths.nodes.some(({ balances }) => balances) ? (
        <p class="note">
          A diamond balances over several ways, filled by flow, hollow packet by packet. Red links left packets
          unanswered.
        </p>
      ) : null}
      <Legend networks={networks} />
    </>
  );
}

interface Sizes {
  /** Room at both sides for the names of probes and of the target. */
  readonly side: number;
  readonly rowHeight: number;
  readonly columnWidth: number;
  readonly width: number;
  readonly height: number;
}

/** Sizes in pixels: columns become wider where the page has room for them. */
function sizesOf({ columns, rows }: ReturnType<typeof layOutPaths>, isNarrow: boolean): Sizes {
  const side = isNarrow ? 82 : 140;
  const rowHeight = isNarrow ? 40 : 48;
  const steps = Math.max(1, columns - 1);
  const room = (Math.min(WIDEST, innerWidth - 90) - 2 * side) / steps;
  const columnWidth = isNarrow ? 66 : Math.max(92, Math.min(132, room));
  const width = side * 2 + steps * columnWidth;
  const height = TOP * 2 + (rows - 1) * rowHeight + 18;
  return { side, rowHeight, columnWidth, width, height };
}

/** The colours of the networks on the paths. */
function Legend({ networks }: { readonly networks: ReturnType<typeof networksOf> }): JSX.Element | null {
  if (networks.length === 0) return null;
  return (
    <ul class="networks" aria-label="Networks on the paths">
      {networks.slice(0, NETWORK_COLOURS).map(({ asn, name, colour }) => (
        <li key={asn} class={`net-${colour}`}>
          <i aria-hidden="true" /> <strong>{asn}</strong> {name}
        </li>
      ))}
      {networks.length > NETWORK_COLOURS ? (
        <li class={`net-${NETWORK_COLOURS}`}>
          <i aria-hidden="true" /> {networks.length - NETWORK_COLOURS} others
        </li>
      ) : null}
    </ul>
  );
}

/** Number of nodes, and of links, per batch: a batch is drawn in one frame and rendered as one component. */
const PARTS_A_SHARE = 24;

/** Splits the first `count` parts into groups, each of which is rendered as one component. */
function sharesOf<T>(all: readonly T[], count: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(Math.min(all.length, count) / PARTS_A_SHARE) }, (_, index) =>
    all.slice(index * PARTS_A_SHARE, (index + 1) * PARTS_A_SHARE),
  );
}

/** Removes silent nodes without outgoing links. */
function withoutTails(paths: Paths): Paths {
  const goesOn = new Set(paths.edges.map(({ from }) => from));
  const tails = new Set(paths.nodes.filter(({ kind, id }) => kind === 'silent' && !goesOn.has(id)).map(({ id }) => id));
  return {
    ...paths,
    nodes: paths.nodes.filter(({ id }) => !tails.has(id)),
    edges: paths.edges.filter(({ to }) => !tails.has(to)),
  };
}
