import { keyScopes, Type, type KeyScope } from '@vantage/contract';
import { targetPolicyFaults } from '@vantage/target-policy';
import type { Static } from 'typebox';

import { compiledAtFirstUse, createAjv } from '../create-ajv.ts';

/** Highest limit that an operator can give a key. */
export const HIGHEST_KEY_LIMIT = 1_000_000_000;

/** Maximum number of networks per key. */
export const MOST_NETWORKS = 64;

const time = Type.Integer({ minimum: 0, description: 'Milliseconds since the epoch, by the clock of Redis.' });
const end = Type.Union([time, Type.Null()]);

const keySecretSchema = Type.Object({
  prefix: Type.String({ pattern: '^[a-z0-9]{8}$', description: 'Visible part of the text.' }),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the secret part.' }),
  /** Set when a rotation with an overlap replaces the secret. */
  expiresAt: end,
});

/** Record of an API key in Redis. */
export const apiKeySchema = Type.Object({
  id: Type.String({ pattern: '^[\\w-]{16}$', description: 'Identifies counters and results; kept by rotations.' }),
  name: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }),
  scopes: Type.Array(Type.Enum(Object.keys(keyScopes) as KeyScope[]), { minItems: 1, uniqueItems: true }),
  limit: Type.Integer({ minimum: 1, maximum: HIGHEST_KEY_LIMIT, description: 'Requests a minute per endpoint.' }),
  allow: Type.Array(Type.String({ maxLength: 64 }), { maxItems: MOST_NETWORKS }),
  createdAt: time,
  expiresAt: end,
  /** Newest first; two after a rotation with an overlap. */
  secrets: Type.Array(keySecretSchema, { minItems: 1, maxItems: 2 }),
});

export type KeySecret = Readonly<Static<typeof keySecretSchema>>;

export interface ApiKey extends Readonly<Omit<Static<typeof apiKeySchema>, 'scopes' | 'allow' | 'secrets'>> {
  readonly scopes: readonly KeyScope[];
  /**
   * Networks that the coordinator allows this key in addition, unless it denies them to all. Agents apply their own
   * policies.
   */
  readonly allow: readonly string[];
  readonly secrets: readonly KeySecret[];
}

const keyValidator = compiledAtFirstUse<ApiKey>(apiKeySchema, () => createAjv({ allowUnionTypes: true }));

/** @returns a function that parses a record, and returns undefined for an invalid one */
export function createKeyReader(): (json: string) => ApiKey | undefined {
  return (json) => {
    try {
      const value: unknown = JSON.parse(json);
      const isKey = keyValidator();
      return isKey(value) && targetPolicyFaults({ allow: value.allow }).length === 0 ? value : undefined;
    } catch {
      return undefined;
    }
  };
}

/** True after the end of a key or of one of its secrets. */
export function isExpired({ expiresAt }: Pick<ApiKey | KeySecret, 'expiresAt'>, nowMs: number): boolean {
  return expiresAt !== null && expiresAt <= nowMs;
}
