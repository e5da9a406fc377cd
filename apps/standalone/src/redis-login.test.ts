import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { openRedisLogin } from './redis-login.ts';

describe('the login of the service’s own Redis', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('is made once, and readable by the owner of the data alone', () => {
    const first = openRedisLogin(folder);
    const second = openRedisLogin(folder);

    expect(first.password).toMatch(/^[\w-]{32}$/);
    expect(second).toEqual(first);
    for (const file of ['password', 'users.acl']) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(first.aclFile, 'utf8')).not.toContain(first.password);
  });

  it('leaves other users as they are', () => {
    const { aclFile } = openRedisLogin(folder);
    writeFileSync(aclFile, 'user default on nopass ~* &* +@all\nuser probe-x on #00 -@all\n');

    openRedisLogin(folder);

    const lines = readFileSync(aclFile, 'utf8').split('\n');
    expect(lines[0]).toMatch(/^user default on #[0-9a-f]{64} ~\* &\* \+@all$/);
    expect(lines.slice(1)).toEqual(['user probe-x on #00 -@all', '']);
  });
});
