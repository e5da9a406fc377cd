import type { PathNode } from '@vantage/contract';

/**
 * The lines at targets of a path graph: the host and, if there are several targets, the address. For a check between
 * two probes, the probe to which the path leads.
 */
export function targetTexts(
  nodes: readonly Pick<PathNode, 'kind'>[],
  host: string,
  between: readonly string[] | undefined,
): (node: Pick<PathNode, 'ip' | 'probes'>) => readonly string[] {
  const hasSeveral = nodes.filter(({ kind }) => kind === 'target').length > 1;
  return ({ ip, probes }) => {
    if (between !== undefined) return between.filter((probe) => !probes.includes(probe));
    return hasSeveral && ip !== null ? [host, ip] : [host];
  };
}
