import { readFileSync } from 'node:fs';

import type { Heartbeat, ProbeRecord } from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';
import { describe, expect, it } from '@jest/globals';

import { quiet } from '../test/core-bed.ts';
import { acceptResult } from './checks/ingest/validate-result.ts';
import { resultValidators } from './checks/ingest/result-validators.ts';
import { describeProbe } from './probes/registry/probe-status.ts';
import { createProbeValidators } from './probes/registry/probe-validators.ts';

/** The wire format of release 0.1, which is never changed to fit the code. */
const file = new URL('../../../packages/contract/test/release-0.1.json', import.meta.url);
const { heartbeat, record, types } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly heartbeat: Heartbeat;
  readonly record: ProbeRecord;
  readonly types: Readonly<Record<string, { readonly result: Readonly<Record<string, unknown>> }>>;
};
const results = Object.entries(types).map(([type, { result }]) => ({ type: type as CheckTypeName, result }));
const nowhere = { country: null, countryName: null, city: null, region: null } as never;
const dependencies = { validatorsOf: resultValidators, lookUpPlace: () => nowhere, log: quiet };
const accept = (type: CheckTypeName, result: unknown) =>
  acceptResult(dependencies, checkTypes[type], { kind: 'final', data: JSON.stringify(result), writtenAtMs: 0 });

describe('a coordinator and agents of another release', () => {
  it('has results of every check type to take', () => {
    expect(results.map(({ type }) => type).toSorted()).toEqual(Object.keys(checkTypes).toSorted());
  });

  it.each(results)('takes a result of release 0.1: $type', ({ type, result }) => {
    expect(accept(type, result)).toMatchObject({ valid: true, result: result['result'] });
  });

  it.each(results)('does not show what it does not know: $type', ({ type, result }) => {
    expect(accept(type, { ...result, later: 1 })).toMatchObject({ valid: false });
  });

  it('reads a heartbeat and a record of release 0.1', () => {
    const validators = createProbeValidators();

    expect(validators.readHeartbeat(JSON.stringify(heartbeat))).toEqual(heartbeat);
    expect(validators.readRecord(JSON.stringify(record))).toEqual(record);
  });

  it('reads a heartbeat that says more, and shows nothing of it', () => {
    const later = {
      ...heartbeat,
      later: 1,
      capabilities: { ...heartbeat.capabilities, later: true },
      load: { ...heartbeat.load, later: 1 },
    };

    const read = createProbeValidators().readHeartbeat(JSON.stringify(later));
    const shown = describeProbe({ record, alive: true, heartbeat: read, lastSeenMs: 0 });

    expect(shown).toEqual(describeProbe({ record, alive: true, heartbeat, lastSeenMs: 0 }));
    expect(shown.capabilities).toEqual(heartbeat.capabilities);
  });
});
