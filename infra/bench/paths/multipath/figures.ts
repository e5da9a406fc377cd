import type { Figure } from '../../goals.ts';
import type { Links, Truth } from './truth.ts';

/** One search by one probe. */
export interface Run {
  readonly packets: number;
  readonly links: Links;
  readonly truth: Truth;
}

const CONFIDENCE = 0.95;
/** Shapes miss a goal by chance with a probability of 1 in 1,000. */
const SIGMAS = 3.1;

export function figuresOfShape(shape: string, runsOf: (tool: 'ours' | 'scamper') => readonly Run[]): readonly Figure[] {
  const [ours, theirs] = [runsOf('ours'), runsOf('scamper')];
  const error = SIGMAS * Math.sqrt((CONFIDENCE * (1 - CONFIDENCE)) / ours.length);
  return [
    {
      name: `${shape}: every link found`,
      value: percentComplete(ours),
      unit: '%',
      atLeast: 100 * (CONFIDENCE - error),
      comparison: `of ${ours.length} runs; scamper ${percentComplete(theirs).toFixed(1)} %`,
    },
    {
      name: `${shape}: links that do not exist`,
      value: invented(ours),
      unit: '',
      atMost: 0,
      comparison: `scamper ${invented(theirs)}`,
    },
    {
      name: `${shape}: packets, scamper = 1`,
      value: packets(ours) / packets(theirs),
      unit: '×',
      atMost: 1,
      comparison: `${packets(ours).toFixed(1)}, scamper ${packets(theirs).toFixed(1)}`,
    },
  ];
}

/** Over all shapes: enough runs to estimate the rate. */
export function figureOfAll(ours: readonly Run[], theirs: readonly Run[]): Figure {
  const comparison = `of ${ours.length} runs; scamper ${percentComplete(theirs).toFixed(1)} %`;
  const value = percentComplete(ours);
  return { name: 'all shapes: every link found', value, unit: '%', atLeast: 100 * CONFIDENCE, comparison };
}

function percentComplete(runs: readonly Run[]): number {
  const complete = runs.filter(({ links, truth }) => [...truth.provable].every((link) => links.has(link)));
  return (100 * complete.length) / runs.length;
}

function invented(runs: readonly Run[]): number {
  return runs.flatMap(({ links, truth }) => [...links].filter((link) => !truth.links.has(link))).length;
}

function packets(runs: readonly Run[]): number {
  return runs.reduce((sum, run) => sum + run.packets, 0) / runs.length;
}
