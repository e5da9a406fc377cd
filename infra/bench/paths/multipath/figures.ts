import type { Figure } from '../../goals.ts';
import type { Shape, ShapeKind } from './shapes.ts';
import type { Links, Truth } from './truth.ts';

export const TOOLS = ['ours', 'scamper', 'scamper -c 99'] as const;
export type Tool = (typeof TOOLS)[number];

/** One search by one probe. */
export interface SearchRun {
  readonly shape: Shape;
  readonly tool: Tool;
  readonly packets: number;
  readonly links: Links;
  readonly truth: Truth;
}

const PEERS = ['scamper', 'scamper -c 99'] as const;
const CONFIDENCE = 0.95;
/** Tolerance of a goal in standard errors: a shape fails it by chance in 1 of 1,000 cases. */
const SIGMAS = 3.1;

/** Figures over all shapes together: enough runs to estimate the rate. */
export function figuresOfAll(runs: readonly SearchRun[]): readonly Figure[] {
  const ours = of(runs, 'ours');
  const peers = PEERS.map((tool) => `${tool} ${percentComplete(of(runs, tool)).toFixed(1)} %`);
  const comparison = `of ${ours.length} runs; ${peers.join(', ')}`;
  const value = percentComplete(ours);
  return [
    { name: 'all shapes: every link found', value, unit: '%', atLeast: 100 * CONFIDENCE, comparison },
    ...PEERS.map((tool) => packetsFigure('all shapes', runs, tool, null)),
  ];
}

/**
 * Figures of the shapes of one kind. A search cannot tell these shapes apart until it is complete, so it needs as many
 * packets for each. The number of packets of a program that misses links of one shape, or reports links that do not
 * exist, is therefore no goal for the others.
 */
export function figuresOfKind(kind: ShapeKind, all: readonly SearchRun[]): readonly Figure[] {
  const runs = all.filter(({ shape }) => shape.kind === kind);
  const names = [...new Set(runs.map(({ shape }) => shape.name))];
  return names.flatMap((name) => {
    const own = runs.filter(({ shape }) => shape.name === name);
    return [
      ...linkFigures(name, own),
      ...PEERS.map((tool) => packetsFigure(name, own, tool, omissionOf(of(runs, tool), names))),
    ];
  });
}

function linkFigures(shape: string, runs: readonly SearchRun[]): readonly Figure[] {
  const ours = of(runs, 'ours');
  const peers = (figure: (runs: readonly SearchRun[]) => string): string =>
    PEERS.map((tool) => `${tool} ${figure(of(runs, tool))}`).join(', ');
  return [
    {
      name: `${shape}: every link found`,
      value: percentComplete(ours),
      unit: '%',
      atLeast: 100 * leastShare(ours.length),
      comparison: `of ${ours.length} runs; ${peers((own) => `${percentComplete(own).toFixed(1)} %`)}`,
    },
    {
      name: `${shape}: links that do not exist`,
      value: invented(ours),
      unit: '',
      atMost: 0,
      comparison: peers((own) => String(invented(own))),
    },
  ];
}

function packetsFigure(shape: string, runs: readonly SearchRun[], peer: Tool, omission: string | null): Figure {
  const [ours, theirs] = [of(runs, 'ours'), of(runs, peer)];
  const counts = `${packets(ours).toFixed(1)}, ${packets(theirs).toFixed(1)}`;
  return {
    name: `${shape}: packets, ${peer} = 1`,
    value: packets(ours) / packets(theirs),
    unit: '×',
    ...(omission === null ? { atMost: 1, comparison: counts } : { comparison: `${counts}; no goal: ${omission}` }),
  };
}

/** Why a program's number of packets is no goal for the shapes of one kind; null if it is one. */
function omissionOf(runs: readonly SearchRun[], names: readonly string[]): string | null {
  const wrong = invented(runs);
  if (wrong > names.length) return `it reports ${wrong} links that do not exist in ${runs.length} runs of this kind`;
  const missed = names.find((name) => {
    const own = runs.filter(({ shape }) => shape.name === name);
    return percentComplete(own) < 100 * leastShare(own.length);
  });
  return missed === undefined ? null : `it misses links of “${missed}”, which it cannot tell from this shape`;
}

/** The lowest share of complete runs that chance explains. */
function leastShare(runs: number): number {
  return CONFIDENCE - SIGMAS * Math.sqrt((CONFIDENCE * (1 - CONFIDENCE)) / runs);
}

function of(runs: readonly SearchRun[], tool: Tool): readonly SearchRun[] {
  return runs.filter((run) => run.tool === tool);
}

function percentComplete(runs: readonly SearchRun[]): number {
  const complete = runs.filter(({ links, truth }) => [...truth.provable].every((link) => links.has(link)));
  return (100 * complete.length) / runs.length;
}

function invented(runs: readonly SearchRun[]): number {
  return runs.flatMap(({ links, truth }) => [...links].filter((link) => !truth.links.has(link))).length;
}

function packets(runs: readonly SearchRun[]): number {
  return runs.reduce((sum, run) => sum + run.packets, 0) / runs.length;
}
