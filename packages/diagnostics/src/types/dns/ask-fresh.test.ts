import { describe, expect, it } from '@jest/globals';
import { testContext } from '@vantage/test-support/context';
import { startDnsServer } from '@vantage/test-support/dns/server';
import { addressRecord, optRecord, respond, u16 } from '@vantage/test-support/dns/wire';

import { patientWaits } from '../../../test/patient-waits.ts';
import type { dns } from './contract.ts';
import { runDns } from './run.ts';

const STALE = optRecord([0, 15, 0, 2, ...u16(3)]);
const SERVFAIL = 2;

/** Extended errors of the answer of a check, and how many queries it took, if the resolver answers them in this way. */
async function checkOf(answers: readonly ('stale' | 'fresh' | 'failure')[]): Promise<readonly [unknown, number]> {
  let queries = 0;
  const server = await startDnsServer((query) => {
    const answer = answers[queries] ?? answers.at(-1)!;
    queries += 1;
    if (answer === 'failure') return [respond(query, { rcode: SERVFAIL, additional: [optRecord()] })];
    const additional = [answer === 'stale' ? STALE : optRecord()];
    return [respond(query, { answers: [addressRecord(query.name, '192.0.2.1')], additional })];
  });
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true, nsid: false, trace: false };
  const { edns } = await runDns(
    { host: 'name.example', recordType: 'A', options: { transport: 'udp', ...flags } },
    testContext<typeof dns>({ resolvers: [`127.0.0.1:${server.port}`] }),
    undefined,
    patientWaits,
  );
  await server.close();
  return [edns?.extendedErrors.map(({ code }) => code), queries];
}

describe('an answer that has expired', () => {
  it.each([
    ['is asked for once more', ['stale', 'fresh'], [], 2],
    ['is asked for a third time if the resolver takes long to refresh it', ['stale', 'stale', 'fresh'], [], 3],
    ['is shown if it is not refreshed', ['stale'], [3], 3],
    ['is shown if the resolver has no other one', ['stale', 'failure'], [3], 2],
  ] as const)('%s', async (_what, answers, errors, queries) => {
    expect(await checkOf(answers)).toEqual([errors, queries]);
  });
});
