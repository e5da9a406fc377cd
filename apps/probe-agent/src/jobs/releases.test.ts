import { readFileSync } from 'node:fs';

import type { Job } from '@vantage/contract';
import { checkTypeNames } from '@vantage/diagnostics/contract';
import { describe, expect, it } from '@jest/globals';

import { createSchemas } from './schemas.ts';

/** Recorded wire format of a release; never adapted to the code. */
const file = new URL('../../../../packages/contract/test/release-0.1.json', import.meta.url);
const { types } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly types: Readonly<Record<string, { readonly job: Job }>>;
};
const jobs = Object.entries(types).map(([type, { job }]) => ({ type, job }));
const schemas = createSchemas();

describe('an agent and the jobs of another release', () => {
  it('has jobs of every check type to read', () => {
    expect(jobs.map(({ type }) => type).toSorted()).toEqual(checkTypeNames.toSorted());
  });

  it.each(jobs)('reads one of release 0.1: $type', ({ type, job }) => {
    expect(schemas.readJob(job.checkId, structuredClone(job))).toMatchObject({ job: { type, params: job.params } });
  });

  it.each(jobs)('reads one that leaves out every option, which an older coordinator may not know: $type', ({ job }) => {
    const older = { ...job, params: { ...structuredClone(job.params), options: {} } };

    expect(schemas.readJob(job.checkId, older).fault).toBeUndefined();
  });

  it.each(jobs)('passes over what a later coordinator adds: $type', ({ type, job }) => {
    const params = structuredClone(job.params) as Record<string, object>;
    const later = {
      ...job,
      params: { ...params, later: 1, options: { ...params['options'], later: true } },
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      later: { of: 'any kind' },
    };

    expect(schemas.readJob(job.checkId, later)).toMatchObject({ job: { type } });
  });

  it('refuses another version of the wire, and says so', () => {
    const [{ job } = { job: undefined }] = jobs;

    expect(schemas.readJob(job!.checkId, { ...job, v: 2 }).fault).toContain('/v');
  });
});
