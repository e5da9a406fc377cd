import { describe, expect, it } from '@jest/globals';

import { isWithin, renamed, sameName, uncachedName } from './names.ts';

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
    ['below a top-level domain', 'www.example.com.', /^[a-z0-9]{16}\.com\.$/],
    ['below one of a deep name', 'a.b.c.d.example.co.uk.', /^[a-z0-9]{16}\.uk\.$/],
    ['in upper case', 'WWW.EXAMPLE.ORG.', /^[a-z0-9]{16}\.ORG\.$/],
    ['with a dot in its label', 'a.b\\.c.', /^[a-z0-9]{16}\.b\\\.c\.$/],
  ])('has a neighbour that no cache has: %s', (_reason, name, expected) => {
    expect(uncachedName(name)).toMatch(expected);
    expect(uncachedName(name)).not.toBe(uncachedName(name));
  });

  it.each(['.', 'com.', 'a\\.b.'])('has none in a top-level domain if it is not below one: %s', (name) => {
    expect(uncachedName(name)).toBeUndefined();
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
