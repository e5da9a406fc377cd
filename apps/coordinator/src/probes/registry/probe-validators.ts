import {
  heartbeatSchema,
  isShowable,
  parseEscaped,
  probeRecordSchema,
  type Heartbeat,
  type ProbeRecord,
} from '@vantage/contract';
import type { ErrorObject } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

import { compiledAtFirstUse, createAjv } from '../../create-ajv.ts';

/** Parses data of probes in Redis; the `read` functions return undefined for invalid data. */
export interface ProbeValidators {
  readonly readRecord: (json: string) => ProbeRecord | undefined;
  readonly readHeartbeat: (json: string) => Heartbeat | undefined;
  /** The faulty fields of a record, each with one fault; empty if it is valid. */
  readonly recordFaults: (record: unknown) => readonly { readonly field: string; readonly message: string }[];
}

const recordValidator = compiledAtFirstUse<ProbeRecord>(probeRecordSchema, () => {
  const ajv = createAjv({ allErrors: true });
  formats.default(ajv);
  return ajv;
});
// Without `allErrors`: heartbeats are untrusted, and the first error suffices.
const heartbeatValidator = compiledAtFirstUse<Heartbeat>(heartbeatSchema);

export function createProbeValidators(): ProbeValidators {
  const read = <T>(
    json: string,
    parse: (json: string) => unknown,
    isValid: (value: unknown) => value is T,
  ): T | undefined => {
    try {
      const value = parse(json);
      return isValid(value) ? value : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    readRecord: (json) => read(json, (text) => JSON.parse(text) as unknown, recordValidator()),
    readHeartbeat: (json) => read(json, parseEscaped, heartbeatValidator()),
    recordFaults: (record) => {
      const isRecord = recordValidator();
      const faults = new Map(unshowable(record).map((field) => [field, 'must be text that can be shown']));
      if (isRecord(record)) return [...faults].map(([field, message]) => ({ field, message }));
      for (const error of isRecord.errors ?? []) {
        const field = fieldOf(error);
        // Keeps the first error of a field; a union adds one per branch.
        if (!faults.has(field)) faults.set(field, error.message ?? 'is not valid');
      }
      return [...faults].map(([field, message]) => ({ field, message }));
    },
  };
}

/**
 * Returns the fields whose text cannot be shown. The schema does not check this, so that records of earlier releases
 * stay valid.
 */
function unshowable(record: unknown): readonly string[] {
  const fields = (record ?? {}) as Readonly<Record<string, unknown>>;
  return ['name', 'datacenter', 'isp', 'city'].filter((field) => {
    const text = fields[field];
    return typeof text === 'string' && !isShowable(text);
  });
}

function fieldOf({ instancePath, params }: ErrorObject): string {
  const inside = instancePath.split('/')[1];
  return inside ?? String(params['missingProperty'] ?? params['additionalProperty'] ?? '');
}
