import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect } from '@jest/globals';

import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

const itWithPromtool = itNeeding(await packagesMissing(['prometheus']), process.env['CI']);

/** The YAML blocks of the documentation that are for Prometheus; others are files of modules. */
function configurations(): readonly string[] {
  const pages = ['prometheus', 'operations'];
  const page = pages.map((name) => readFileSync(join(import.meta.dirname, `../../docs/${name}.md`), 'utf8')).join('\n');
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
  return blocks.filter((text) => text.startsWith('scrape_configs:'));
}

describe('the scrape configurations of the documentation', () => {
  itWithPromtool('pass promtool', async () => {
    const { program, environment } = await unpackPackages('prometheus');
    const folder = mkdtempSync(join(tmpdir(), 'vantage-scrapes-'));
    try {
      const blocks = configurations();
      expect(blocks.length).toBeGreaterThanOrEqual(3);
      for (const [index, text] of blocks.entries()) {
        const file = join(folder, `${index}.yml`);
        // Replaces the key file, which only an operator has.
        writeFileSync(file, text.replace(/credentials_file: .*/, `credentials_file: ${folder}/key`));
        writeFileSync(join(folder, 'key'), 'vtg_x');
        const check = promisify(execFile)(program('promtool'), ['check', 'config', file], { env: environment });
        expect((await check).stdout).toContain('is valid prometheus config');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
