import { readdirSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';

import { checkTypeNames, checkTypes } from './contract.ts';
import { loadDiagnostic } from './load.ts';

/** Folders that are rooms of the package and no check type. */
const rooms = new Set(['sockets', 'browser']);

describe('the registry of check types', () => {
  it('has one line for each folder', () => {
    const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !rooms.has(entry.name))
      .map((entry) => entry.name);

    expect([...checkTypeNames].toSorted()).toEqual(folders.toSorted());
  });

  it.each([...checkTypeNames])('loads the code of %s, with the contract of its line', async (name) => {
    const diagnostic = await loadDiagnostic(name);

    expect(diagnostic.checkType).toBe(checkTypes[name]);
    expect(diagnostic.checkType.type).toBe(name);
  });
});
