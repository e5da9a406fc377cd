import type { AnyCheckType } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { onStore } from '../../redis/store.ts';
import { readCheckType } from './check-records.ts';

/** The last checks, from this many to twice as many, are remembered; the types of others are read from Redis. */
const REMEMBERED = 10_000;

export interface CheckTypes {
  /** Remembers a check that this coordinator created. */
  readonly remember: (checkId: string, checkType: AnyCheckType) => void;
  /** The type of a check that this coordinator created recently, else undefined. */
  readonly ofOwn: (checkId: string) => AnyCheckType | undefined;
  /** Undefined if there is no such check, or if this release does not know its type. */
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
