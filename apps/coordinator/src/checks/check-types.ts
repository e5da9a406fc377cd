import type { AnyCheckType } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { onStore } from '../redis/store.ts';
import { readCheckType } from './check-records.ts';

/** Types of this many checks are remembered; the others are asked for again. */
const REMEMBERED = 10_000;

/** Which type a check is of. */
export interface CheckTypes {
  readonly remember: (checkId: string, checkType: AnyCheckType) => void;
  /** Undefined where there is no such check, or its type is of another release. */
  readonly ofCheck: (redis: Redis, checkId: string) => Promise<AnyCheckType | undefined>;
}

export function createCheckTypes(checkTypes: Readonly<Record<string, AnyCheckType>>): CheckTypes {
  const byId = new Map<string, AnyCheckType>();

  const remember = (checkId: string, checkType: AnyCheckType): void => {
    const oldest = byId.size < REMEMBERED ? undefined : byId.keys().next().value;
    if (oldest !== undefined) byId.delete(oldest);
    byId.set(checkId, checkType);
  };
  return {
    remember,
    ofCheck: async (redis, checkId) => {
      const remembered = byId.get(checkId);
      if (remembered !== undefined) return remembered;
      const name = await onStore(redis, () => readCheckType(redis, checkId));
      if (name === undefined || !Object.hasOwn(checkTypes, name)) return undefined;
      const checkType = checkTypes[name]!;
      remember(checkId, checkType);
      return checkType;
    },
  };
}
