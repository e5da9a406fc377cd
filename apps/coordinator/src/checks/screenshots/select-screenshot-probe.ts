import { absenceOf, type KnownProbe } from '../../probes/registry/probe-status.ts';

export interface ElectionRequest {
  /** Probes of the check. */
  readonly among: readonly string[];
  /** Probes that were asked before. */
  readonly except?: readonly string[] | undefined;
  /** Pending screenshots of a probe, as far as is known. */
  readonly underWay: (probe: string) => number;
}

/**
 * Selects the probe that takes the screenshot: among online and capable ones, the one with the fewest pending
 * screenshots, then the least loaded. Undefined if there is none.
 */
export function selectScreenshotProbe(
  known: readonly KnownProbe[],
  { among, except = [], underWay }: ElectionRequest,
): string | undefined {
  const candidates = known.filter(
    (probe) =>
      among.includes(probe.record.id) &&
      !except.includes(probe.record.id) &&
      absenceOf(probe) === undefined &&
      probe.heartbeat?.capabilities.screenshot === true,
  );
  const ranked = candidates.map(({ record, heartbeat }) => {
    const { running, capacity } = heartbeat!.load;
    return { id: record.id, waiting: underWay(record.id), load: running / capacity, tie: Math.random() };
  });
  return ranked.toSorted((a, b) => a.waiting - b.waiting || a.load - b.load || a.tie - b.tie)[0]?.id;
}
