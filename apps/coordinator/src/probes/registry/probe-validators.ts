import { heartbeatSchema, parseEscaped, probeRecordSchema, type Heartbeat, type ProbeRecord } from '@vantage/contract';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** Reads what Redis holds of probes. Each gives undefined for what is not valid. */
export interface ProbeValidators {
  readonly readRecord: (json: string) => ProbeRecord | undefined;
  readonly readHeartbeat: (json: string) => Heartbeat | undefined;
  /** Every fault of a record, each with the field it is in; none where it is valid. */
  readonly recordFaults: (record: unknown) => readonly { readonly field: string; readonly message: string }[];
}

export function createProbeValidators(): ProbeValidators {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  formats.default(ajv);
  const isRecord = ajv.compile<ProbeRecord>(probeRecordSchema);
  // An agent writes it: the first fault is enough.
  const isHeartbeat = new Ajv2020({ strict: true }).compile<Heartbeat>(heartbeatSchema);

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
        // The first fault of a field says it best; a union adds one for each of its arms.
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
