import { afterEach, describe, expect, it } from '@jest/globals';

import { startHttpBed, type HttpBed } from '../../../test/http-bed.ts';
import type { Contacts } from './well-known.ts';

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function start(contacts?: Contacts, publicUrl?: string): Promise<HttpBed> {
  bed = await startHttpBed({ contacts, ...(publicUrl === undefined ? {} : { publicUrl }) });
  return bed;
}

const paths = ['/.well-known/probing.txt', '/.well-known/security.txt'];

describe('the well-known files', () => {
  it('are not there where the operator has given no contact', async () => {
    const { ask } = await start();

    for (const path of paths) expect((await ask(path)).status).toBe(404);
  });

  it('say who measures and whom to ask', async () => {
    const { ask } = await start({ probing: 'noc@example.net' }, 'https://vantage.example/net');

    const [probing, security] = await Promise.all(paths.map((path) => ask(path)));

    expect(security!.status).toBe(404);
    expect(probing!.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(probing!.text).toMatch(
      /^Canonical: https:\/\/vantage\.example\/\.well-known\/probing\.txt\nContact: mailto:noc@example\.net\nExpires: .+Z\nPreferred-Languages: en\nDescription: .+\n$/,
    );
  });

  it('end within a year, in the form of RFC 3339, and are canonical over https alone', async () => {
    const { ask } = await start({ security: 'https://example.net/report' });

    const { text } = await ask('/.well-known/security.txt');

    expect(text).not.toContain('Canonical');
    expect(text).toContain('Contact: https://example.net/report\n');
    const [, expires = ''] = /^Expires: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/m.exec(text) ?? [];
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(28);
    expect(days).toBeLessThan(365);
  });
});
