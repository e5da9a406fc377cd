import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { useGrowing } from '../parts/use-growing.ts';
import { layOutPaths, type PathNode, type Paths, type PlacedNode } from './layout-paths.ts';
import { NETWORK_COLOURS, networksOf } from './networks.ts';
import { about, Break, NodeShape, NodeText } from './path-nodes.tsx';

/** Window width below which names of routers seen by a single probe are hidden. */
const NARROW = 760;
/** Maximum width of the page. */
const WIDEST = 1140;
const TOP = 26;

interface PathGraphProps {
  readonly paths: Paths;
  readonly host: string;
  readonly onChoose: (probe: string) => void;
}

/** Routers as dots coloured by network; line width shows the number of probes on a link. */
export function PathGraph({ paths, host, onChoose }: PathGraphProps): JSX.Element {
  const shown = useMemo(() => withoutTails(paths), [paths]);
  const layout = useMemo(() => layOutPaths(shown), [shown]);
  const networks = useMemo(() => networksOf(paths), [paths]);
  const [looked, lookAt] = useState<PathNode>();
  const count = useGrowing(layout.nodes.size, NODES_A_FRAME);
  const colours = new Map(networks.map(({ asn, colour }) => [asn, colour]));
  const broken = paths.ends.filter(({ reason }) => reason === 'silent' || reason === 'refused' || reason === 'loop');
  const breaks = new Set(broken.map(({ node }) => node));
  const isNarrow = innerWidth < NARROW;
  // Room for the names of probes and of the target.
  const side = isNarrow ? 82 : 140;
  const rowHeight = isNarrow ? 40 : 48;
  const steps = Math.max(1, layout.columns - 1);
  const room = (Math.min(WIDEST, innerWidth - 90) - 2 * side) / steps;
  const columnWidth = isNarrow ? 66 : Math.max(92, Math.min(132, room));
  const width = side * 2 + steps * columnWidth;
  const height = TOP * 2 + (layout.rows - 1) * rowHeight + 18;
  const at = ({ column, row }: PlacedNode): readonly [number, number] => [
    side + column * columnWidth,
    TOP + row * rowHeight,
  ];
  const isLit = (probes: readonly string[]): boolean =>
    looked === undefined || probes.some((probe) => looked.probes.includes(probe));
  return (
    <>
      <div
        class="scroll graph late"
        style={{ containIntrinsicBlockSize: `auto ${height}px` }}
        tabIndex={0}
        role="group"
        aria-label="The paths as a graph; the rows of the probes below say the same hop by hop"
      >
        <svg class={looked === undefined ? 'paths' : 'paths has-look'} width={width} height={height} aria-hidden="true">
          {shown.edges.map((edge) => {
            const [x1, y1] = at(layout.nodes.get(edge.from)!);
            const [x2, y2] = at(layout.nodes.get(edge.to)!);
            const bend = Math.max(24, Math.abs(x2 - x1) / 2);
            return (
              <path
                key={`${edge.from} ${edge.to}`}
                class={`edge ${isLit(edge.probes) ? '' : 'is-dim'} ${edge.inferred === true ? 'is-inferred' : ''} ${isLossy(edge) ? 'is-lossy' : ''}`}
                d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
                stroke-width={1.5 + Math.min(6, Math.sqrt(edge.probes.length) - 1) * 1.5}
              >
                {edge.sent === undefined ? null : (
                  <title>
                    {edge.received} of {edge.sent} packets answered
                  </title>
                )}
              </path>
            );
          })}
          {[...layout.nodes.values()].slice(0, count).map((placed) => {
            const [x, y] = at(placed);
            const { node } = placed;
            return (
              <g
                key={node.id}
                class={`node ${node.kind} ${isLit(node.probes) ? '' : 'is-dim'} net-${colours.get(node.asn ?? '') ?? NETWORK_COLOURS}`}
                transform={`translate(${x} ${y})`}
                onPointerEnter={() => lookAt(node)}
                onPointerLeave={() => lookAt(undefined)}
                onClick={() => {
                  if (node.probes.length === 1) onChoose(node.probes[0]!);
                }}
              >
                <title>{about(node)}</title>
                <circle class="reach" r="16" />
                <NodeShape node={node} />
                <NodeText node={node} host={host} isNarrow={isNarrow} letters={Math.floor(columnWidth / 6)} />
                {breaks.has(node.id) ? <Break /> : null}
              </g>
            );
          })}
        </svg>
      </div>
      {paths.nodes.some(({ balances }) => balances) ? (
        <p class="note">
          A diamond balances over several ways, filled by flow, hollow packet by packet. Red links left packets
          unanswered.
        </p>
      ) : null}
      {networks.length === 0 ? null : (
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
      )}
    </>
  );
}

/** With links that packets took: some that were to end behind it got no answer. */
function isLossy({ sent, received = 0 }: Paths['edges'][number]): boolean {
  return sent !== undefined && received < sent;
}

/** Nodes that are drawn in one frame. */
const NODES_A_FRAME = 120;

/** A path that ends without an answer gets a break mark instead of nodes for the silence beyond. */
function withoutTails(paths: Paths): Paths {
  const goesOn = new Set(paths.edges.map(({ from }) => from));
  const tails = new Set(paths.nodes.filter(({ kind, id }) => kind === 'silent' && !goesOn.has(id)).map(({ id }) => id));
  return {
    ...paths,
    nodes: paths.nodes.filter(({ id }) => !tails.has(id)),
    edges: paths.edges.filter(({ to }) => !tails.has(to)),
  };
}
