import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';

const root = join(import.meta.dirname, '../..');
const bundler = join(root, 'infra/setup/bundle-programs.mjs');
const { inAscii } = (await import(bundler)) as { readonly inAscii: (code: string) => string };

function filesOf(dist: string): readonly string[] {
  return globSync('**/*.js', { cwd: dist }).toSorted();
}

/** Modules that a file of a bundle imports, at its start or later. */
function importsOf(text: string): readonly string[] {
  const imports = /^(?:import|export)\b[^'"\n]*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;
  return [...text.matchAll(imports)].map(([, ...names]) => names.find((name) => name !== undefined)!);
}

describe('the bundle of a program', () => {
  it.each(['coordinator', 'probe-agent', 'standalone'] as const)(
    'imports nothing but modules of Node and its own files, and is ASCII, which V8 keeps in half the memory: %s',
    (app) => {
      const dist = dirname(bundledProgram(app));
      // What the main file needs; other files may be of earlier builds.
      const files = new Set(['main.js']);
      const others = new Set<string>();
      for (const file of files) {
        for (const name of importsOf(readFileSync(join(dist, file), 'utf8'))) {
          if (name.startsWith('.')) files.add(join(dirname(file), name));
          else if (!builtinModules.includes(name.replace(/^node:/, ''))) others.add(name);
        }
      }

      expect([...others]).toEqual([]);
      expect([...files].filter((file) => /[^\0-\x7f]/.test(readFileSync(join(dist, file), 'utf8')))).toEqual([]);
      expect(files.size).toBeGreaterThan(app === 'standalone' ? 0 : 1);
    },
  );
});

describe('the bundle of the supervisor', () => {
  const text = readFileSync(bundledProgram('standalone'), 'utf8');
  const packages = new Set([...text.matchAll(/\/node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//g)].map(([, name]) => name));

  it('has only what it uses of a package of this repository: Redis and records of probes, but no HTTP server', () => {
    expect([...packages]).toEqual(expect.arrayContaining(['ajv', 'ioredis']));
    expect([...packages].filter((name) => ['express', 'pino', 'tldts', 'yaml'].includes(name!))).toEqual([]);
  });
});

describe('the text of a bundle in ASCII', () => {
  it.each([
    ['strings', String.raw`'π “\’ \\’ 🙂'`],
    ['templates', '`π ${"é"} 🙂`'],
    ['expressions', String.raw`'aπ🙂é'.replace(/[é-ü]|π/g, '-') + /^[🙂]$/u.test('🙂')`],
    ['names', '(() => { const größe = 2; return größe; })()'],
    ['comments', '/* – */ 1'],
  ])('means the same: %s', (_, code) => {
    const ascii = inAscii(code);

    expect(ascii).toMatch(/^[\0-\x7f]*$/);
    expect(runInNewContext(ascii)).toBe(runInNewContext(code));
  });
});

describe('bundle-programs.mjs, in a copy of the checkout', () => {
  let copy: string;
  let dist: string;
  const bundle = (...words: readonly string[]): void => {
    execFileSync(process.execPath, [join(copy, 'infra/setup/bundle-programs.mjs'), ...words, 'standalone']);
  };
  const usage = (): string => execFileSync(process.execPath, [join(dist, 'main.js'), '--help'], { encoding: 'utf8' });

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'vantage-bundle-'));
    dist = join(copy, 'apps/standalone/dist');
    for (const folder of ['infra/setup', 'apps/standalone']) mkdirSync(join(copy, folder), { recursive: true });
    for (const file of ['infra/setup/bundle-programs.mjs', 'infra/setup/repository.mjs', 'pnpm-lock.yaml']) {
      cpSync(join(root, file), join(copy, file));
    }
    for (const part of ['src', 'package.json']) {
      cpSync(join(root, 'apps/standalone', part), join(copy, 'apps/standalone', part), { recursive: true });
    }
    for (const link of ['node_modules', 'packages', 'apps/standalone/node_modules']) {
      symlinkSync(join(root, link), join(copy, link));
    }
    bundle();
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it('follows a change of a source, and keeps the files that programs of the earlier build may still load', () => {
    const first = filesOf(dist);
    const usageSource = join(copy, 'apps/standalone/src/arguments.ts');
    writeFileSync(
      usageSource,
      readFileSync(usageSource, 'utf8').replace('how many local probes', 'how many other probes'),
    );

    bundle();

    expect(usage()).toContain('how many other probes');
    expect(filesOf(dist)).toEqual(expect.arrayContaining([...first]));
  });

  it('does nothing if no source has changed', () => {
    writeFileSync(join(dist, 'main.js'), 'console.log("kept");');

    bundle();

    expect(usage()).toBe('kept\n');
  });

  it('follows a change of data, which a bundle contains', () => {
    writeFileSync(join(dist, 'main.js'), 'console.log("kept");');
    writeFileSync(join(copy, 'apps/standalone/src/data.json'), '{}');

    bundle();

    expect(usage()).toContain('how many other probes');
  });

  it('makes a file again that somebody has removed', () => {
    rmSync(join(dist, 'reaper-process.js'));

    bundle();

    expect(filesOf(dist)).toContain('reaper-process.js');
    expect(usage()).toContain('how many other probes');
  });

  it('leaves nothing of earlier builds with --clean', () => {
    for (const file of ['main-12345678.js', 'shared/old.js']) {
      mkdirSync(dirname(join(dist, file)), { recursive: true });
      writeFileSync(join(dist, file), '');
    }

    bundle('--clean');

    expect(usage()).toContain('how many other probes');
    expect(filesOf(dist)).not.toEqual(expect.arrayContaining(['main-12345678.js']));
    expect(filesOf(dist)).not.toEqual(expect.arrayContaining(['shared/old.js']));
  });
});
