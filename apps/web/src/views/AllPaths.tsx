import type { JSX } from 'preact';

import { duration, plural } from '../format.ts';
import type { FieldsOf } from './types.ts';

type Multipath = NonNullable<FieldsOf<'traceroute'>['multipath']>;
type Node = Multipath['nodes'][number];

/** The result of a search for all paths from one probe: links, balancers, and the paths of the flows. */
export function AllPaths({ multipath }: { readonly multipath: Multipath }): JSX.Element {
  const { nodes, paths, complete, packets } = multipath;
  const balancers = nodes.filter(({ balances }) => balances !== null);
  const shared = Map.groupBy(
    paths.filter(({ length }) => length > 0),
    (path) => path.map((index) => (index === null ? '?' : nameOfNode(nodes[index]))).join(' → '),
  );
  return (
    <>
      <h3>All paths</h3>
      <p class="note">
        {plural(packets, 'packet')}, {plural(paths.length, 'flow')}
        {complete ? '.' : '; packets or time did not suffice, paths may be missing.'}
        {balancers.length === 0 ? ' No balancer was found.' : ''}
      </p>
      {balancers.length === 0 ? null : (
        <ul class="redirects">
          {balancers.map((node) => (
            <li key={nodes.indexOf(node)}>
              <strong>{nameOfNode(node)}</strong> (hop {node.hop}) balances{' '}
              {node.balances === 'unknown' ? 'in a way that is not known' : `by ${node.balances}`}
            </li>
          ))}
        </ul>
      )}
      <LinkTable multipath={multipath} />
      <details class="raw">
        <summary>Paths of the flows</summary>
        <ul class="redirects">
          {[...shared].map(([text, own]) => (
            <li key={text}>
              <strong>{plural(own.length, 'flow')}</strong> {text}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

/** The links by hop, with the number of packets over each and the round-trip times to its far end. */
function LinkTable({ multipath }: { readonly multipath: Multipath }): JSX.Element {
  const { nodes, links } = multipath;
  const sorted = links.toSorted((a, b) => hopOf(nodes[a.to]) - hopOf(nodes[b.to]));
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Links">
      <table class="hops">
        <thead>
          <tr>
            {['Hop', 'From', 'To', 'Flows', 'Answered', 'Best', 'Average'].map((name) => (
              <th key={name} scope="col" class={name === 'From' || name === 'To' ? '' : 'number'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ from, to, flows, sent, received, rttMin, rttAvg }) => (
            <tr key={`${from} ${to}`} class={received === 0 ? 'silent' : ''}>
              <td class="number">{hopOf(nodes[to])}</td>
              <td>{from === null ? 'the probe' : nameOfNode(nodes[from])}</td>
              <td>
                {nameOfNode(nodes[to])}
                {nodes[to]?.broken === true ? <span class="note">nothing comes back from beyond</span> : null}
              </td>
              <td class="number">{flows}</td>
              <td class="number">
                {received} of {sent}
              </td>
              <td class="number">{duration(rttMin)}</td>
              <td class="number">{duration(rttAvg)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function hopOf(node: Node | undefined): number {
  return node?.hop ?? 0;
}

function nameOfNode(node: Node | undefined): string {
  return node?.ip ?? (node?.private === true ? 'a private address' : 'no answer');
}
