import { heartbeatSchema, parseEscaped, probeRecordSchema, type Heartbeat, type ProbeRecord } from '@vantage/contract';
import type { ErrorObject } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

import { createAjv } from '../../create-ajv.ts';

/** Parses data of probes in Redis; each function returns undefined for invalid data. */
export interface ProbeValidators {
  readonly readRecord: (json: string) => ProbeRecord | undefined;
  readonly readHeartbeat: (json: string) => Heartbeat | undefined;
  /** All faults of a record with their fields; empty if it is valid. */
  readonly recordFaults: (record: unknown) => readonly { readonly field: string; readonly message: string }[];
}

export function createProbeValidators(): ProbeValidators {
  const ajv = createAjv({ allErrors: true });
  formats.default(ajv);
  const isRecord = ajv.compile<ProbeRecord>(probeRecordSchema);
  // Untrusted: the first error suffices.
  const isHeartbeat = createAjv().compile<Heartbeat>(heartbeatSchema);

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
    readRecord: (json) => read(json, (text) => JSON.parse(text) as unknown, isRecord),
    readHeartbeat: (json) => read(json, parseEscaped, isHeartbeat),
    recordFaults: (record) => {
      if (isRecord(record)) return [];
      const faults = new Map<string, string>();
      for (const error of isRecord.errors ?? []) {
        const field = fieldOf(error);
        // Keeps the first error of a field; a union adds one per branch.
        if (!faults.has(field)) faults.set(field, error.message ?? 'is not valid');
      }
      return [...faults].map(([field, message]) => ({ field, message }));
    },
  };
}

function fieldOf({ instancePath, params }: ErrorObject): string {
  const inside = instancePath.split('/')[1];
  return inside ?? String(params['missingProperty'] ?? params['additionalProperty'] ?? '');
}
