import type { PlanSources } from '@vantage/modules';
import { evaluateTarget, type TargetPolicy } from '@vantage/target-policy';

/** Applies the target policy to the names that dns modules ask about, as a scrape without a key does. */
export function createQuestionFault(policy: TargetPolicy): PlanSources['questionFault'] {
  return (name) => {
    const decision = evaluateTarget({ hostKind: 'name', purpose: 'dns', host: name }, policy);
    return decision.verdict === 'accepted' ? undefined : decision.message;
  };
}
