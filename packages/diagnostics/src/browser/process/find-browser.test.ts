import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { findBrowser } from './find-browser.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-path-'));
  for (const name of ['a', 'b', 'c']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'a/chromium'), '', { mode: 0o755 });
  writeFileSync(join(folder, 'b/chromium-headless-shell'), '', { mode: 0o755 });
  writeFileSync(join(folder, 'c/chromium-headless-shell'), '', { mode: 0o644 });
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('the browser of a machine', () => {
  it.each([
    ['the headless shell wherever it is', ['a', 'b'], 'b/chromium-headless-shell'],
    ['chromium where there is nothing else', ['c', 'a'], 'a/chromium'],
    ['nothing that cannot be executed', ['c'], undefined],
  ])('is %s', (_reason, folders, expected) => {
    const path = folders.map((name) => join(folder, name)).join(':');

    expect(findBrowser(path)).toBe(expected === undefined ? undefined : join(folder, expected));
  });

  it('is not looked for in relative folders or without a path', () => {
    expect(findBrowser('.::bin')).toBeUndefined();
    expect(findBrowser(undefined)).toBeUndefined();
  });
});
