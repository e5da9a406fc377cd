import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkTypeNames } from '@vantage/diagnostics/contract';

import { importRules } from './import-rules.ts';

interface Finding {
  readonly filename: string;
  readonly message: string;
  readonly help: string;
}

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** A path that a pattern of files matches. */
const inside = (pattern: string): string =>
  pattern
    .replace('**', 'probe.ts')
    .replaceAll('*', 'tcp')
    .replace(/\.ts\.ts$/, '.ts');

const samples = importRules.flatMap((rule) => {
  const module = rule.modules[0]!.replace('node:*', 'node:fs').replace('**', 'run.ts').replace('*', 'geo');
  const refused = (rule.within ?? ['apps/standalone/src/**']).map(inside);
  return [
    ...refused.map((file) => ({ verdict: 'refuses', module, file, message: rule.message })),
    ...(rule.except ?? []).map((pattern) => ({
      verdict: 'allows',
      module,
      file: inside(pattern),
      message: rule.message,
    })),
  ];
});

describe('the import rules', () => {
  it('keep every check type from all the others', () => {
    const rules = importRules.filter(({ message }) => message === 'A diagnostic never imports another one.');
    const held = Object.fromEntries(rules.map(({ within = [], modules }) => [within.join(' '), modules]));

    expect(held).toEqual(
      Object.fromEntries(
        checkTypeNames.map((type) => [
          `packages/diagnostics/src/types/${type}/**`,
          checkTypeNames
            .filter((other) => other !== type)
            .flatMap((other) => ['../', '../../', '../../../'].map((up) => `${up}${other}/**`)),
        ]),
      ),
    );
  });

  let tree: string;
  let found: readonly Finding[];

  beforeAll(() => {
    // A separate tree: the linter finds the files where the rules expect them, and the repository stays unchanged.
    tree = mkdtempSync(join(tmpdir(), 'vantage-lint-'));
    writeFileSync(join(tree, 'oxlint.config.ts'), `export { default } from '${repository}oxlint.config.ts';\n`);
    const files = Map.groupBy(samples, ({ file }) => file);
    for (const [file, imports] of files) {
      mkdirSync(dirname(join(tree, file)), { recursive: true });
      writeFileSync(join(tree, file), imports.map(({ module }) => `import '${module}';\n`).join(''));
    }
    const lint = spawnSync(
      join(repository, 'node_modules/.bin/oxlint'),
      ['--format', 'json', 'apps', 'packages', 'infra'],
      { cwd: tree, encoding: 'utf8', timeout: 280_000 },
    );
    found = (JSON.parse(lint.stdout) as { readonly diagnostics: readonly Finding[] }).diagnostics;
  });

  afterAll(() => rmSync(tree, { recursive: true }));

  it.each(samples)('$verdict $module in $file', ({ verdict, module, file, message }) => {
    const messages = found
      .filter((finding) => finding.filename === file && finding.message.startsWith(`'${module}'`))
      .map(({ help }) => help);

    if (verdict === 'allows') expect(messages).not.toContain(message);
    else expect(messages).toContain(message);
  });
});
