import type { PathNode, Paths } from '@vantage/contract';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import type { PathLayout, PlacedNode } from './layout-paths.ts';
import { NETWORK_COLOURS } from './networks.ts';
import { about, Break, NodeShape, NodeText } from './path-nodes.tsx';

/** Properties shared by all parts of a graph; a new object renders every part again. */
export interface Drawing {
  readonly at: (placed: PlacedNode) => readonly [number, number];
  readonly layout: PathLayout;
  readonly colours: ReadonlyMap<string, number>;
  /** Ids of the nodes beyond which a path is broken. */
  readonly breaks: ReadonlySet<string>;
  readonly targetText: (node: PathNode) => readonly string[];
  readonly isNarrow: boolean;
  /** Number of characters that fit between two columns. */
  readonly letters: number;
}

interface ShareProps {
  readonly drawing: Drawing;
  /** The node under the pointer, whose paths are highlighted. */
  readonly highlighted: PathNode | undefined;
}

/**
 * A batch of the graph’s edges, memoised: it renders again only if the drawing or the hovered node changes, not when
 * another batch is added.
 */
export function Edges(props: ShareProps & { readonly edges: readonly Paths['edges'][number][] }): JSX.Element {
  const { edges, drawing, highlighted } = props;
  return useMemo(
    () => (
      <g>
        {edges.map((edge) => {
          const [x1, y1] = drawing.at(drawing.layout.nodes.get(edge.from)!);
          const [x2, y2] = drawing.at(drawing.layout.nodes.get(edge.to)!);
          const bend = Math.max(24, Math.abs(x2 - x1) / 2);
          return (
            <path
              key={`${edge.from} ${edge.to}`}
              class={`edge ${isLit(edge.probes, highlighted) ? '' : 'is-dim'} ${edge.inferred === true ? 'is-inferred' : ''} ${isLossy(edge) ? 'is-lossy' : ''}`}
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
      </g>
    ),
    [drawing, highlighted, edges.length],
  );
}

interface NodesProps extends ShareProps {
  readonly nodes: readonly PlacedNode[];
  readonly highlight: (node: PathNode | undefined) => void;
  readonly onChoose: (probe: string) => void;
}

/** A batch of the graph’s nodes, memoised like `Edges`. */
export function Nodes(props: NodesProps): JSX.Element {
  const { nodes, drawing, highlighted, highlight, onChoose } = props;
  return useMemo(
    () => (
      <g>
        {nodes.map((placed) => {
          const [x, y] = drawing.at(placed);
          const { node } = placed;
          return (
            <g
              key={node.id}
              class={`node ${node.kind} ${isLit(node.probes, highlighted) ? '' : 'is-dim'} net-${drawing.colours.get(node.asn ?? '') ?? NETWORK_COLOURS}`}
              transform={`translate(${x} ${y})`}
              onPointerEnter={() => highlight(node)}
              onPointerLeave={() => highlight(undefined)}
              onClick={() => {
                if (node.probes.length === 1) onChoose(node.probes[0]!);
              }}
            >
              <title>{about(node)}</title>
              <circle class="reach" r="16" />
              <NodeShape node={node} />
              <NodeText node={node} {...drawing} />
              {drawing.breaks.has(node.id) ? <Break /> : null}
            </g>
          );
        })}
      </g>
    ),
    [drawing, highlighted, nodes.length],
  );
}

function isLit(probes: readonly string[], highlighted: PathNode | undefined): boolean {
  return highlighted === undefined || probes.some((probe) => highlighted.probes.includes(probe));
}

/**
 * True if some of the packets that were to expire at the end of the link got no answer. Links have counts with `flows:
 * "all"` only.
 */
function isLossy({ sent, received = 0 }: Paths['edges'][number]): boolean {
  return sent !== undefined && received < sent;
}
