import { netlabMissing } from '../../netlab/netlab.ts';
import type { Figure } from '../goals.ts';
import { agreesWithMtr } from './mtr.ts';

/** Paths over time compared with mtr. */
export async function paths(): Promise<readonly Figure[]> {
  const missing = netlabMissing();
  if (missing !== null) throw new Error(missing);
  return agreesWithMtr();
}
