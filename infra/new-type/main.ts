/** `npm run new:type NAME`: writes the folder of a check type that runs, and its lines in the registries. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { filesOf } from './templates.ts';

const diagnostics = join(import.meta.dirname, '../../packages/diagnostics/src');

const usage = 'npm run -s new:type -- NAME, with a name of 2 to 16 lower-case letters and digits\n';
const [type = '', ...rest] = process.argv.slice(2);
if (type === '--help' || type === '-h') {
  process.stdout.write(`${usage}\nWrites the folder of a check type that runs, and its lines in the registries.\n`);
  process.exit(0);
}
if (!/^[a-z][a-z0-9]{1,15}$/.test(type) || rest.length > 0) {
  process.stderr.write(`usage: ${usage}`);
  process.exit(2);
}
const folder = join(diagnostics, 'types', type);
if (existsSync(folder)) {
  process.stderr.write(`${folder} exists already\n`);
  process.exit(1);
}

mkdirSync(folder);
for (const [name, text] of Object.entries(filesOf(type))) writeFileSync(join(folder, name), text);
register('registry.ts', `import { ${type} } from './types/${type}/contract.ts';`);
register('descriptions.ts', `import { description as ${type} } from './types/${type}/describe.ts';`);
process.stdout.write(
  `${folder} has a check type that resolves its target and measures nothing yet.\n` +
    'Next: docs/adding-a-check-type.md. `npm run docs` writes the reference pages.\n',
);

/** Adds the import and the entry, both in alphabetical order. */
function register(file: string, line: string): void {
  const path = join(diagnostics, file);
  const withImport = insertSorted(readFileSync(path, 'utf8'), line, /^import .* from '\.\/types\/.*$/gm);
  writeFileSync(path, insertSorted(withImport, `  ${type},`, /^ {2}[a-z][a-z0-9]*,$/gm));
}

function insertSorted(text: string, line: string, lines: RegExp): string {
  const all = [...text.matchAll(lines)];
  const next = all.find(([other]) => other > line);
  const last = all.at(-1)!;
  const at = next?.index ?? last.index + last[0].length + 1;
  return `${text.slice(0, at)}${line}\n${text.slice(at)}`;
}
