/** The text of each file; `Type` is the name of the type with a capital letter. */
const templates: Readonly<Record<string, (type: string, Type: string) => string>> = {
  'contract.ts': (type, Type) => `import { defineCheckType, familySchema } from '@vantage/contract';
import { Type } from '@vantage/contract';

export const ${type} = defineCheckType({
  type: '${type}',
  title: '${Type}',
  summary: 'Resolves the target; nothing is sent to it.',
  hostKind: 'host',
  purpose: 'info',
  fields: {},
  options: {
    family: Type.Optional(familySchema),
  },
  result: {
    address: Type.String({ maxLength: 45, description: 'Address of the target.' }),
  },
  requiredOnSuccess: ['address'],
  needsRawSockets: false,
  traffic: () => ({ packets: 0, bytes: 0 }),
  budgetMs: () => 5_000,
});
`,
  'run.ts': (type, Type) => `import type { ParamsOf } from '@vantage/contract';

import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { outcomeOf } from '../../shared/classify-error.ts';
import type { ${type} } from './contract.ts';

type ${Type} = typeof ${type};

export async function run${Type}(
  { host, options }: ParamsOf<${Type}>,
  { admit, signal }: DiagnosticContext<${Type}>,
): Promise<Outcome<${Type}>> {
  const admission = await admit({ host, purpose: 'info', family: options.family }, signal);
  if (!admission.admitted) {
    const { failure } = admission;
    return { result: outcomeOf(failure), rt: null, resolvedIp: null, error: failure };
  }
  const { address } = admission.target;
  return { result: 'success', rt: null, resolvedIp: address, error: null, address };
}
`,
  'index.ts': (type, Type) => `import { defineDiagnostic } from '../../define-diagnostic.ts';
import { ${type} } from './contract.ts';
import { run${Type} } from './run.ts';

export const diagnostic = defineDiagnostic(${type}, run${Type});
`,
  'describe.ts': (type) => `import type { Description } from '../../shared/description.ts';
import { told } from '../../shared/result-text.ts';
import type { ${type} } from './contract.ts';

export const description: Description<typeof ${type}> = {
  // The command line shows the address in front of these parts.
  line: ({ address }) => [told(address, (text) => (text.includes(':') ? 'IPv6' : 'IPv4'))],
};
`,
  'run.test.ts': (type, Type) => `import { expect, it } from '@jest/globals';
import { resultSchema } from '@vantage/contract';
import { testContext } from '@vantage/test-support/context';
import { Value } from 'typebox/value';

import { ${type} } from './contract.ts';
import { run${Type} } from './run.ts';

it('gives the address of the target', async () => {
  const outcome = await run${Type}({ host: '127.0.0.1', options: {} }, testContext<typeof ${type}>());

  const final = { ...outcome, startedAt: null, finishedAt: '2026-01-01T00:00:00.000Z' };
  expect([...Value.Errors(resultSchema(${type}), final)]).toEqual([]);
  expect(outcome).toMatchObject({ result: 'success', address: '127.0.0.1' });
});
`,
};

/** The files of a new check type that resolves its target and measures nothing yet. */
export function filesOf(type: string): Readonly<Record<string, string>> {
  const Type = `${type[0]!.toUpperCase()}${type.slice(1)}`;
  return Object.fromEntries(Object.entries(templates).map(([file, text]) => [file, text(type, Type)]));
}
