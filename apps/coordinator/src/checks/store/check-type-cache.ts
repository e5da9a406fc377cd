import type { AnyCheckType } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { onStore } from '../../redis/store.ts';
import { readCheckType } from './records/check-records.ts';

/**
 * Number of checks per generation; up to two generations are cached, and the types of other checks are read from Redis.
 */
const REMEMBERED = 10_000;

export interface CheckTypes {
  /** Remembers a check that this coordinator is about to create. */
  readonly remember: (checkId: string, checkType: AnyCheckType) => void;
  /** The type of a check that was remembered recently by `remember`, else undefined. */
  readonly ofOwn: (checkId: string) => AnyCheckType | undefined;
  /** The remembered type, else that in Redis; undefined if there is none or this release does not know it. */
  readonly ofCheck: (redis: Redis, checkId: string) => Promise<AnyCheckType | undefined>;
}

export function createCheckTypes(checkTypes: Readonly<Record<string, AnyCheckType>>): CheckTypes {
  // Two generations: deleting the oldest entry of one large map gets slow, because the iterator visits deleted entries.
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
