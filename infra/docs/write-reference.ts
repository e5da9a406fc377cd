/**
 * Writes the pages of `docs/reference/` from the code; with `--check` it only reports outdated ones. Run: `npm run
 * docs`
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { flagsOfProcess } from '../command/read-flags.ts';
import { checkTypesPage } from './check-types-page.ts';
import { failuresPage } from './failures-page.ts';
import { findingsPage } from './findings-page.ts';
import { metricsPage } from './metrics-page.ts';
import { settingsPage } from './settings-page.ts';

const { check } = flagsOfProcess('npm run -s docs --', 'Writes the pages of docs/reference from the code.', {
  check: { description: 'Reports outdated pages and writes none.', isSwitch: true },
});
const folder = fileURLToPath(new URL('../../docs/reference/', import.meta.url));
const pages = {
  'check-types.md': checkTypesPage(),
  'failures.md': failuresPage(),
  'findings.md': findingsPage(),
  'metrics.md': metricsPage(),
  'settings.md': settingsPage(),
};

mkdirSync(folder, { recursive: true });
const stale = Object.entries(pages).filter(
  ([name, page]) => !existsSync(folder + name) || readFileSync(folder + name, 'utf8') !== page,
);
if (check !== undefined) {
  for (const [name] of stale) process.stderr.write(`docs/reference/${name} is out of date: npm run docs writes it\n`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [name, page] of stale) writeFileSync(folder + name, page);
}
