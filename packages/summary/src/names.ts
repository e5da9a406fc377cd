import { buildFinding, type FindingDraft } from './finding.ts';
import { reasonsOf } from './reasons.ts';
import type { ProbeResult } from './probe-result.ts';
import { naming } from './words.ts';

/** Failing probes that did not resolve the target. DNS checks have their own findings. */
export function findNames(down: readonly ProbeResult[], counted: number): readonly FindingDraft[] {
  const unresolved = down.filter(({ result }) => result.error?.phase === 'resolve');
  if (unresolved.length === 0) return [];
  const severity = unresolved.length === counted ? 'critical' : 'warning';
  const text = `${naming(unresolved)} could not resolve the name: ${reasonsOf(unresolved)}. Nothing was measured of the host itself.`;
  return [buildFinding('name_not_resolved', severity, unresolved, text)];
}
