import type { Family } from '@vantage/contract';

import { buildFinding, type FindingDraft } from './finding.ts';
import { measurementsOf } from './measurements.ts';
import type { Partition } from './partition.ts';
import type { ProbeResult } from './probe-result.ts';
import { reasonsOf } from './reasons.ts';
import { withFailedResolver } from './resolution.ts';
import { isTold, works } from './told.ts';
import { naming } from './words.ts';

/**
 * Finding for a check over both families: the target fails over one of them from each probe that measured it. Only if
 * no probe for which it is down measured the other family.
 */
export function findFailingFamily({ up, down }: Partition): readonly FindingDraft[] {
  return ([4, 6] as const).flatMap((family) => {
    const all = up.flatMap((probeResult) => measurementsOf(probeResult)?.[family] ?? []);
    const unresolved = withFailedResolver(all);
    const own = all.filter((one) => isTold(one) && !unresolved.has(one));
    if (own.length === 0 || own.some(works)) return [];
    if (!down.every((probeResult) => isOverAlone(family, probeResult))) return [];
    const failing = [...down, ...own];
    const others = up.length === 1 ? 'one other has' : `${up.length} others have`;
    const alone = `${naming(down)} measured IPv${family} alone`;
    const text = `IPv${family} fails from all ${failing.length} probes that measured it: ${reasonsOf(failing)}. ${alone}, and ${others} an answer over IPv${otherOf(family)}.`;
    return [
      buildFinding('down_family', 'critical', failing, text, `${naming(down)}, which measured IPv${family} alone`),
    ];
  });
}

/** True if the probe measured this family, and could not measure the other one. */
function isOverAlone(family: Family, probeResult: ProbeResult): boolean {
  const measured = measurementsOf(probeResult);
  return measured !== undefined && isTold(measured[family]) && !isTold(measured[otherOf(family)]);
}

function otherOf(family: Family): Family {
  return family === 4 ? 6 : 4;
}
