import type { AnyCheckType } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { onStore } from '../../redis/store.ts';
import { readCheckType } from './check-records.ts';

/** Types of so many checks at least are remembered, and of twice as many at most; the others are asked for again. */
const REMEMBERED = 10_000;

/** Which type a check is of. */
export interface CheckTypes {
  /** Of a check that was created here. */
  readonly remember: (checkId: string, checkType: AnyCheckType) => void;
  /** The type of a check that was created here not long ago. */
  readonly ofOwn: (checkId: string) => AnyCheckType | undefined;
  /** Undefined where there is no such check, or its type is of another release. */
  readonly ofCheck: (redis: Redis, checkId: string) => Promise<AnyCheckType | undefined>;
}

export function createCheckTypes(checkTypes: Readonly<Record<string, AnyCheckType>>): CheckTypes {
  // Two generations: a map whose oldest entry is deleted each time looks through all that were deleted before.
  let young = new Map<string, Remembered>();
  let old: ReadonlyMap<string, Remembered> = new Map();

  const remembered = (checkId: string): Remembered | undefined => young.get(checkId) ?? old.get(checkId);
  const note = (checkId: string, what: Remembered): void => {
    if (young.size >= REMEMBERED) {
      old = young;
      young = new Map();
    }
    young.set(checkId, what);
  };
  return {
    remember: (checkId, checkType) => note(checkId, { checkType, isOwn: true }),
    ofOwn: (checkId) => {
      const known = remembered(checkId);
      return known?.isOwn === true ? known.checkType : undefined;
    },
    ofCheck: async (redis, checkId) => {
      const known = remembered(checkId);
      if (known !== undefined) return known.checkType;
      const name = await onStore(redis, () => readCheckType(redis, checkId));
      if (name === undefined || !Object.hasOwn(checkTypes, name)) return undefined;
      const checkType = checkTypes[name]!;
      note(checkId, { checkType, isOwn: false });
      return checkType;
    },
  };
}

interface Remembered {
  readonly checkType: AnyCheckType;
  readonly isOwn: boolean;
}
