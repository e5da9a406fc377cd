import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const repository = join(import.meta.dirname, '../..');
const JEST = "import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';\n";
const PASSES = "it('passes', () => { expect(1).toBe(1); });\n";

/** Suites that must be reported as failed, with a part of the message. They run one after another in one worker. */
const FAILING: readonly (readonly [reason: string, source: string, message: string])[] = [
  ['a failing assertion', `${PASSES}it('fails', () => { expect(1).toBe(2); });`, 'Expected: 2'],
  ['a module that throws', "import './throws.ts';\n" + PASSES, 'thrown by a module'],
  ['a module that has thrown in an earlier suite', "import './throws.ts';\n//\n" + PASSES, 'thrown by a module'],
  ['a module that is not there', "import './absent.ts';\n" + PASSES, 'absent.ts'],
  ['an export that is not there', "import { absent } from './counter.ts';\nabsent();\n" + PASSES, 'absent'],
  ['a syntax error', `${PASSES}const = 1;`, 'SyntaxError'],
  ['no tests', 'export {};', 'must contain at least one test'],
  ['a rejected beforeAll', `beforeAll(async () => { throw new Error('by a hook'); });\n${PASSES}`, 'by a hook'],
  ['a rejected afterAll', `afterAll(async () => { throw new Error('by a hook'); });\n${PASSES}`, 'by a hook'],
  [
    'an unhandled rejection',
    "it('rejects', async () => { void Promise.reject(new Error('unhandled')); await new Promise(setImmediate); });",
    'unhandled',
  ],
  [
    'an uncaught exception',
    "it('throws', (done) => { setImmediate(() => { throw new Error('uncaught'); }); setTimeout(done, 100); });",
    'uncaught',
  ],
  ['a test without end', "it('waits', () => new Promise(() => {}), 50);", 'Exceeded timeout of 50 ms'],
  ['jest.setTimeout', "jest.setTimeout(60);\nit('waits', () => new Promise(() => {}));", 'Exceeded timeout of 60 ms'],
  ['too few assertions', "it('asserts', () => { expect.assertions(1); });", 'expect.assertions(1)'],
  ['a test within a test', "it('nests', () => { it('inner', () => {}); });", 'cannot be nested'],
  ['process.exit', "it('exits', () => { process.exit(1); });", 'child process exceptions'],
  ['process.exit without an error', "it('exits', () => { process.exit(0); });", 'exit'],
];

/** Suites that must pass, in this order, in one worker. */
const PASSING = {
  changes: `${PASSES}it('changes', () => {
    process.env.OF_A_SUITE = '1';
    delete process.env.OF_THE_RUN;
    process.chdir('/');
    process.on('SIGUSR2', () => {});
    process.argv = [];
    globalThis.ofASuite = 1;
    globalThis.fetch = () => {};
    jest.spyOn(Math, 'max').mockReturnValue(7);
    jest.setTimeout(5);
    jest.useFakeTimers({ now: 0 });
    expect(Date.now()).toBe(0);
    expect(Math.max(1, 2)).toBe(7);
  });`,
  'finds the process as it was': `import { setTimeout as wait } from 'node:timers/promises';
  it('finds it', async () => {
    expect([process.env.OF_A_SUITE, process.env.OF_THE_RUN]).toEqual([undefined, '1']);
    expect(process.cwd()).not.toBe('/');
    expect(process.listenerCount('SIGUSR2')).toBe(0);
    expect(process.argv.length).toBeGreaterThan(0);
    expect(globalThis.ofASuite).toBe(undefined);
    expect(String(globalThis.fetch)).not.toBe('() => {}');
    expect(Math.max(1, 2)).toBe(2);
    expect(Date.now()).toBeGreaterThan(0);
    await new Promise((done) => setTimeout(done, 20));
    await wait(20);
  });`,
  'counts a module': "import { count } from './counter.ts';\nit('is the first', () => { expect(count()).toBe(1); });",
  'shares its state': "import { count } from './counter.ts';\nit('is the second', () => { expect(count()).toBe(2); });",
  'skips and focuses': `describe('some', () => { it.only('runs', () => {}); it('does not', () => { throw new Error(); }); });
  it.skip('neither', () => { throw new Error(); });`,
  'knows its place': `it('knows', () => {
    expect(import.meta.filename).toMatch(/[.]test[.]ts$/);
    expect(new URL('counter.ts', import.meta.url).pathname).toMatch(/counter[.]ts$/);
  });`,
};

/** Source of a suite that starts a process in two ways; each must have the expected outcome. */
const starts = (expected: string): string => `import { execFile } from 'node:child_process';
import { promised } from './promised.ts';
import { promisify } from 'node:util';
it('starts a process', async () => {
  const outcome = (run) => run('true').then(({ stdout }) => 'ran' + stdout, ({ message }) => message);
  expect(await outcome(async (program) => promisify(execFile)(program))).toMatch(${expected});
  expect(await outcome(async (program) => promised(program))).toMatch(${expected});
});`;

/** A suite that `long-suites.mjs` lists as waiting, which fails, and suites that pass only if it runs next to them. */
const WAITS = 'infra/netlab/mtu.test.ts';
const APART = {
  [WAITS]: `import { writeFileSync } from 'node:fs';
  it('has started', () => { writeFileSync('started', ''); throw new Error('by one that waits'); });`,
  ...Object.fromEntries(
    ['a', 'b', 'c'].map((name) => [
      `apart-${name}.test.ts`,
      `import { existsSync } from 'node:fs';
      import { setTimeout as wait } from 'node:timers/promises';
      it('runs next to it', async () => { while (!existsSync('started')) await wait(20); }, 60_000);`,
    ]),
  ),
};

/** Source of a suite that fails in its first run only. */
const failsOnce = (marker: string): string => `import { existsSync, writeFileSync } from 'node:fs';
  it('fails once', () => {
    const isSecond = existsSync('${marker}');
    writeFileSync('${marker}', '');
    expect(isSecond).toBe(true);
  });`;

/** Suites that a run repeats once if they fail, and four, which are too many. */
const REPEATED = {
  ...Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`many-${name}.test.ts`, failsOnce(`many-${name}`)])),
  'again-a.test.ts': failsOnce('first'),
  'again-b.test.ts': `import { existsSync, writeFileSync } from 'node:fs';
  if (!existsSync('loaded')) {
    writeFileSync('loaded', '');
    throw new Error('at its first load');
  }
  it('can be loaded twice', () => {});`,
  'again-c.test.ts': "it('always fails', () => { throw new Error('at any time'); });",
  'again-d.test.ts': PASSES,
};

interface Report {
  readonly numTotalTests: number;
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly stderr: string;
  readonly testResults: readonly { readonly name: string; readonly status: string; readonly message: string }[];
}

describe('suites in workers of Jest', () => {
  let folder: string;
  const failing = new Map(FAILING.map(([, source], index) => [`failing-${letter(index)}.test.ts`, JEST + source]));
  const passing = new Map(
    Object.values(PASSING).map((source, index) => [`ok-${letter(index)}.test.ts`, JEST + source]),
  );

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-runner-'));
    const modules = {
      'package.json': '{"type":"module"}',
      'throws.ts': "throw new Error('thrown by a module');",
      'counter.ts': 'let counted = 0;\nexport const count = (): number => (counted += 1);',
      'promised.ts': `import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
export const promised = promisify(execFile);`,
      'a-lab.test.ts': JEST + starts('/^ran$/'),
      'b-unit.test.ts': JEST + starts('/start no processes/'),
      'c-lab.test.ts': JEST + starts('/^ran$/'),
      'by-path.mjs': `import Sequencer from ${JSON.stringify(import.meta.resolve('@jest/test-sequencer'))};
export default class ByPath extends Sequencer {
  sort(tests) { return tests.toSorted((a, b) => (a.path < b.path ? -1 : 1)); }
}`,
    };
    const others = Object.entries({ ...APART, ...REPEATED }).map(([name, source]) => [name, JEST + source] as const);
    for (const [name, source] of [...failing, ...passing, ...others, ...Object.entries(modules)]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), source);
    }
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(projects: Readonly<Record<string, string>>, workers = 1, env: NodeJS.ProcessEnv = {}): Report {
    const place = (file: string): string => join(import.meta.dirname, file);
    const config = {
      reporters: ['default', place('closing-line.mjs')],
      testSequencer: join(folder, 'by-path.mjs'),
      projects: Object.entries(projects).map(([displayName, match]) => ({
        rootDir: folder,
        runner: place('runner.mjs'),
        runtime: place('runtime.mjs'),
        testEnvironment: place('environment.mjs'),
        transform: {},
        displayName,
        testMatch: [join(folder, match)],
      })),
    };
    const program = join(repository, 'node_modules/jest/bin/jest.js');
    const words = ['--json', `--maxWorkers=${workers}`, '--config', JSON.stringify(config), '--rootDir', folder];
    const { stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, OF_THE_RUN: '1', ...env },
    });
    if (stdout === '') throw new Error(stderr);
    const report = JSON.parse(stdout) as Report;
    const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
    return { ...report, testResults: report.testResults.toSorted(byName), stderr };
  }

  it('are each reported as failed if something in them fails', () => {
    const { testResults } = run({ failing: 'failing-*.test.ts' });

    expect(testResults.map(({ status, message }, index) => [FAILING[index]?.[0], status, message])).toEqual(
      FAILING.map(([reason, , message]) => [reason, 'failed', expect.stringContaining(message)]),
    );
  });

  it('find environment, folder, globals and timers as at the start, and share modules', () => {
    const report = run({ passing: 'ok-*.test.ts' });

    expect(report.testResults.map(({ message }) => message)).toEqual(Object.keys(PASSING).map(() => ''));
    expect([report.numPassedTests, report.numPendingTests, report.numTotalTests]).toEqual([7, 2, 9]);
  });

  it('start processes, except those of the project unit', () => {
    const { testResults } = run({ lab: '*-lab.test.ts', unit: '*-unit.test.ts' });

    expect(testResults.map(({ message }) => message)).toEqual(['', '', '']);
  });

  it('run next to suites that mostly wait, which have more workers', () => {
    const { testResults } = run({ apart: 'apart-*.test.ts', waiting: WAITS }, 3);

    const others = ['', '', ''];
    expect(testResults.map(({ message }) => message)).toEqual([
      ...others,
      expect.stringContaining('by one that waits'),
    ]);
  });

  it('are repeated alone at the end if few fail, and the run names those that pass then', () => {
    const { testResults, numTotalTests, stderr } = run(
      { again: 'again-[a-c].test.ts', other: 'again-d.test.ts', last: 'ok-c.test.ts' },
      3,
      { REPEAT_FAILED: 'once' },
    );

    expect(testResults.map(({ status }) => status)).toEqual(['passed', 'passed', 'failed', 'passed', 'passed']);
    expect(numTotalTests).toBe(5);
    expect(
      stderr
        .match(/^Passed only at its repetition.*again-[a-d]/gm)
        ?.map((line) => line.at(-1))
        .toSorted(),
    ).toEqual(['a', 'b']);
    expect(stderr.match(/^FAILED next to other suites/gm)).toHaveLength(3);
  });

  it('are not repeated if many fail', () => {
    const { testResults, stderr } = run({ many: 'many-*.test.ts' }, 3, { REPEAT_FAILED: 'once' });

    expect(testResults.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed', 'failed']);
    expect(stderr).not.toContain('Passed only at its repetition');
  });
});

describe('modules that suites share', () => {
  it('register nothing with Jest when they are loaded: only the first suite of a worker would have it', () => {
    const shared = globSync('{packages,apps,infra}/**/*.{ts,tsx}', {
      cwd: repository,
      exclude: (path) =>
        /(?:^|\/)(?:node_modules|dist)$|\.test\.ts$|^templates\.ts$|\/new-type\/templates\.ts$/.test(path),
    });
    const registers = /^(?:(?:after|before)(?:All|Each)|describe|it|jest\.\w+|expect\.extend)\(/m;

    expect(shared.filter((path) => registers.test(readFileSync(join(repository, path), 'utf8')))).toEqual([]);
    expect(shared.length).toBeGreaterThan(500);
  });
});

function letter(index: number): string {
  return String.fromCodePoint('a'.codePointAt(0)! + index);
}
