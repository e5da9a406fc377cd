import type { Check, Summary, Verdict } from '@vantage/contract';

import { nameOfCheck } from './name-of-check.ts';
import { NO_SUCH_CHECK } from '../problem.ts';

/** Data of a check for badge, card, embed and preview. */
export interface CheckTexts {
  readonly name: string;
  /** For example `up`, `partial, 7 of 10`, `pending, 3 of 10`, `removed`. */
  readonly word: string;
  readonly tone: Tone;
  /** A sentence. */
  readonly headline: string;
  /** Undefined if there is no such check, or it was evicted. */
  readonly check?: Check;
}

export type Tone = 'good' | 'warn' | 'bad' | 'neutral';

const toneOf: Readonly<Record<Verdict, Tone>> = {
  up: 'good',
  degraded: 'warn',
  partial: 'warn',
  down: 'bad',
  unknown: 'neutral',
};

/** The texts of a check. A pending check has no verdict, because pending probes may change it. */
export function checkTexts(check: Check, { verdict, counts, headline }: Summary): CheckTexts {
  const name = nameOfCheck(check);
  if (check.status === 'pending') {
    const all = Object.keys(check.results).length;
    const answered = `${all - counts.pending} of ${all}`;
    return {
      check,
      name,
      word: `pending, ${answered}`,
      tone: 'neutral',
      headline: `${answered} probes have answered.`,
    };
  }
  const word = verdict === 'partial' ? `partial, ${counts.up} of ${counts.up + counts.down}` : verdict;
  return { check, name, word, tone: toneOf[verdict], headline };
}

export const unknownCheck: CheckTexts = {
  name: 'check',
  word: 'not found',
  tone: 'neutral',
  headline: NO_SUCH_CHECK,
};

/** @param reason a sentence */
export function removedCheck(reason: string): CheckTexts {
  return { name: 'check', word: 'removed', tone: 'neutral', headline: reason };
}
