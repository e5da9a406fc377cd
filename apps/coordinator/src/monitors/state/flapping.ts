/**
 * Number of outcomes of a probe that are remembered, and of ticks for which a probe that is no longer selected is
 * remembered.
 */
export const REMEMBERED_TICKS = 60;

/** Number of changes from which a probe is flapping. */
const STARTS_AT = 8;
/** Largest number of changes at which flapping ends. */
const ENDS_AT = 1;

/**
 * True if the state of a probe changes too often to count. Two thresholds (hysteresis) prevent frequent changes of the
 * answer.
 *
 * @param history `o` for ok and `f` for failing, oldest first
 */
export function isFlapping(history: string, wasFlapping: boolean): boolean {
  const bound = wasFlapping ? ENDS_AT + 1 : STARTS_AT;
  let changes = 0;
  // Newest first: for a flapping probe, not all outcomes need to be examined.
  for (let index = history.length - 1; index > 0 && changes < bound; index -= 1) {
    if (history.charCodeAt(index) !== history.charCodeAt(index - 1)) changes += 1;
  }
  return changes >= bound;
}
