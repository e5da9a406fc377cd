import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { LONGEST_CHECK_MS, type AnyCheckType } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import { checkTypeNames, checkTypes } from './contract.ts';
import { loadDiagnostic } from './load.ts';

describe('the registry of check types', () => {
  it('has one line for each folder with a contract', () => {
    const types = join(import.meta.dirname, 'types');
    const folders = readdirSync(types).filter((name) => existsSync(join(types, name, 'contract.ts')));

    expect([...checkTypeNames].toSorted()).toEqual(folders.toSorted());
  });

  it.each([...checkTypeNames])('loads the code of %s, with the contract of its line', async (name) => {
    const diagnostic = await loadDiagnostic(name);

    expect(diagnostic.checkType).toBe(checkTypes[name]);
    expect(diagnostic.checkType.type).toBe(name);
  });

  it('has no check that may last longer than `LONGEST_CHECK_MS`, and one that lasts as long', () => {
    const budgets = checkTypeNames.flatMap((name) => {
      const { options, budgetMs } = checkTypes[name] as AnyCheckType;
      const largest = Object.entries(options).map(([option, schema]) => {
        const { maximum, default: usual } = schema as { readonly maximum?: number; readonly default?: unknown };
        return [option, maximum ?? usual];
      });
      return [false, true].map((trace) => budgetMs({ host: 'a', options: { ...Object.fromEntries(largest), trace } }));
    });

    expect(Math.max(...budgets)).toBe(LONGEST_CHECK_MS);
  });
});
