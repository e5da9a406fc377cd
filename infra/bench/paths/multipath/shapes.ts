import { router, routers, type Router, type Split, type Stage } from '../../../simulator/scenario.ts';

export const kinds = ['by flow', 'first router', 'by packet'] as const;
export type ShapeKind = (typeof kinds)[number];

/** A path with a network between its first routers and its last two. */
export interface Shape {
  readonly name: string;
  /** Shapes of one kind look alike to a search for most of its packets, so that it has to treat them alike. */
  readonly kind: ShapeKind;
  readonly path: readonly Stage[];
}

const split = (by: Split['by'], ...branches: readonly (readonly Stage[])[]): Split => ({ by, branches });
const equal = (by: Split['by'], ways: number, length: number): Split =>
  split(by, ...Array.from({ length: ways }, () => routers(length)));
const shape = (name: string, ...stages: readonly (Router | Split)[]): Shape => ({
  name,
  kind: name.startsWith('by packet') ? 'by packet' : 'by flow',
  path: [router(), router(), ...stages, ...routers(2)],
});
const atFirst = (name: string, ...stages: readonly Split[]): Shape => ({
  name: `${name} behind the first router`,
  kind: 'first router',
  path: [router(), ...stages, ...routers(2)],
});

/** Shapes to be found: 1 to 16 paths, of different lengths, nested, crossed, in sequence, balanced per packet. */
export const shapes: readonly Shape[] = [
  shape('no balancer', router()),
  ...[2, 3, 4, 6, 8, 12, 16].map((ways) => shape(`${ways} ways`, equal('flow', ways, 1))),
  ...[2, 16].map((ways) => atFirst(`${ways} ways`, equal('flow', ways, 1))),
  atFirst('nested', split('flow', [router(), equal('flow', 2, 1)], routers(2))),
  atFirst('crossed', equal('flow', 2, 1), equal('flow', 2, 1)),
  ...[2, 4, 8, 16].map((ways) => shape(`${ways} long ways`, equal('flow', ways, 3))),
  shape('unequal by 1', split('flow', routers(1), routers(2))),
  shape('unequal by 3', split('flow', routers(1), routers(4))),
  shape('nested', split('flow', [router(), equal('flow', 2, 1)], routers(2))),
  shape('nested late', split('flow', [...routers(2), equal('flow', 2, 1)], routers(3))),
  shape('nested twice', split('flow', [router(), equal('flow', 2, 2)], [router(), equal('flow', 2, 2)])),
  shape('crossed', equal('flow', 2, 1), equal('flow', 2, 1)),
  shape('two in a row', equal('flow', 2, 1), router(), equal('flow', 2, 1)),
  shape('by packet, 2 ways', equal('packet', 2, 1)),
  shape('by packet, 4 ways', equal('packet', 4, 1)),
  shape('by packet, 8 ways', equal('packet', 8, 1)),
  shape('by packet, 2 long ways', equal('packet', 2, 2)),
  shape('by packet, on each way', split('flow', ...[0, 1].map(() => [router(), equal('packet', 2, 1)]))),
  shape('by packet, unequal', split('packet', routers(1), routers(2))),
];
