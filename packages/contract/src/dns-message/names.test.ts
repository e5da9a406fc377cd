import { describe, expect, it } from '@jest/globals';

import { isWithin, renamed, sameName } from './names.ts';

describe('a name', () => {
  it('is the same in any case', () => {
    expect(sameName('WWW.example.com.', 'www.EXAMPLE.com.')).toBe(true);
    expect(sameName('www.example.com.', 'ww.example.com.')).toBe(false);
  });

  it.each([
    ['below', 'www.Example.com.', 'example.com.', true],
    ['the zone itself', 'example.com.', 'example.com.', true],
    ['below the root', 'example.com.', '.', true],
    ['with letters before the zone', 'badexample.com.', 'example.com.', false],
    ['above', 'com.', 'example.com.', false],
    ['with a dot that belongs to a label', 'x\\.example.com.', 'example.com.', false],
    ['with a label that ends in a backslash', 'x\\\\.example.com.', 'example.com.', true],
  ])('is within a zone or not: %s', (_reason, name, zone, expected) => {
    expect(isWithin(name, zone)).toBe(expected);
  });

  it.each([
    ['one label', 'a.old.example.', 'old.example.', 'new.test.', 'a.new.test.'],
    ['several labels', 'a.b.OLD.example.', 'old.example.', 'new.test.', 'a.b.new.test.'],
    ['to the root', 'a.old.example.', 'old.example.', '.', 'a.'],
    ['from the root', 'a.example.', '.', 'new.test.', 'a.example.new.test.'],
    ['the owner itself is not', 'old.example.', 'old.example.', 'new.test.', undefined],
    ['another branch is not', 'a.bold.example.', 'old.example.', 'new.test.', undefined],
  ])('is renamed by a DNAME record: %s', (_reason, name, owner, target, expected) => {
    expect(renamed(name, owner, target)).toBe(expected);
  });
});
