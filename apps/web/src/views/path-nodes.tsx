import type { PathNode } from '@vantage/contract';
import type { JSX } from 'preact';

import { duration } from '../format.ts';

export function NodeShape({ node }: { readonly node: PathNode }): JSX.Element {
  if (node.kind === 'target') return <circle class="shape" r="9" />;
  if (node.kind === 'probe') return <rect class="shape" x="-5.5" y="-5.5" width="11" height="11" rx="3" />;
  if (node.balances) return <path class={`shape by-${node.balances}`} d="M0-9 9 0 0 9-9 0Z" />;
  return <circle class="shape" r={node.kind === 'silent' ? 3.5 : 6} />;
}

export function NodeText(props: {
  readonly node: PathNode;
  /** Texts of a target, one for each line. */
  readonly targetText: (node: PathNode) => readonly string[];
  readonly isNarrow: boolean;
  /** Number of characters that fit between two columns. */
  readonly letters: number;
}): JSX.Element | null {
  const { node, targetText, isNarrow, letters } = props;
  if (node.kind === 'probe') {
    return (
      <text x="-14" y="4" text-anchor="end" class="name">
        {shorten(node.probes[0] ?? '', isNarrow ? 8 : 16)}
      </text>
    );
  }
  if (node.kind === 'target') {
    return (
      <text y="4" class="name">
        {targetText(node).map((line, index) => (
          <tspan key={line} x="17" dy={index === 0 ? 0 : 13} class={index === 0 ? undefined : 'network'}>
            {shorten(line, isNarrow ? 8 : 15)}
          </tspan>
        ))}
      </text>
    );
  }
  const isShared = node.probes.length > 1;
  if (node.kind === 'silent' || (isNarrow && !isShared)) return null;
  return (
    <text text-anchor="middle" class="address">
      <tspan x="0" y="20">
        {node.kind === 'private' ? 'private' : shorten(node.ip ?? '', letters)}
      </tspan>
      {isShared && node.asName !== null && !isNarrow ? (
        <tspan x="0" y="32" class="network">
          {shorten(node.asName, letters)}
        </tspan>
      ) : null}
    </text>
  );
}

/** A stub that marks the end of an incomplete path. */
export function Break(): JSX.Element {
  return (
    <g class="break">
      <path class="stub" d="M10 0h18" />
      <path class="cross" d="M31-5l10 10M41-5l-10 10" />
    </g>
  );
}

/** Tooltip of a node. */
export function about(node: PathNode): string {
  const { kind, ip, hostname, asn, asName, rttMin, hopMin, hopMax, probes } = node;
  const lines = [
    kind === 'silent' ? 'Did not answer' : kind === 'private' ? 'A router with a private address' : (hostname ?? ip),
    hostname === null ? null : ip,
    asn === null ? null : `${asn} ${asName ?? ''}`,
    rttMin === null ? null : `fastest answer ${duration(rttMin)}`,
    kind === 'probe' ? null : hopMin === hopMax ? `hop ${hopMin}` : `hops ${hopMin} to ${hopMax}`,
    node.balances
      ? `balances ${node.balances === 'unknown' ? 'in a way that is not known' : `by ${node.balances}`}`
      : null,
    `on the path of ${probes.join(', ')}`,
  ];
  return lines.filter((line) => line !== null && line !== '').join('\n');
}

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
