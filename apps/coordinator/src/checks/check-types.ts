import type { AnyCheckType } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { onStore } from '../redis/store.ts';
import { readCheckType } from './check-records.ts';

/** Types of so many checks at least are remembered, and of twice as many at most; the others are asked for again. */
const REMEMBERED = 10_000;

/** Which type a check is of. */
export interface CheckTypes {
  /** The type of a check that is remembered here, as those are that were created here. */
  readonly remembered: (checkId: string) => AnyCheckType | undefined;
  readonly remember: (checkId: string, checkType: AnyCheckType) => void;
  /** Undefined where there is no such check, or its type is of another release. */
  readonly ofCheck: (redis: Redis, checkId: string) => Promise<AnyCheckType | undefined>;
}

export function createCheckTypes(checkTypes: Readonly<Record<string, AnyCheckType>>): CheckTypes {
  // Two generations: a map whose oldest entry is deleted each time looks through all that were deleted before.
  let young = new Map<string, AnyCheckType>();
  let old: ReadonlyMap<string, AnyCheckType> = new Map();

  const remembered = (checkId: string): AnyCheckType | undefined => young.get(checkId) ?? old.get(checkId);

  const remember = (checkId: string, checkType: AnyCheckType): void => {
    if (young.size >= REMEMBERED) {
      old = young;
      young = new Map();
    }
    young.set(checkId, checkType);
  };
  return {
    remembered,
    remember,
    ofCheck: async (redis, checkId) => {
      const known = remembered(checkId);
      if (known !== undefined) return known;
      const name = await onStore(redis, () => readCheckType(redis, checkId));
      if (name === undefined || !Object.hasOwn(checkTypes, name)) return undefined;
      const checkType = checkTypes[name]!;
      remember(checkId, checkType);
      return checkType;
    },
  };
}
