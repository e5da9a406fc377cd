import { availableParallelism } from 'node:os';

import { compileCache } from './infra/jest/compile-cache.mjs';
import { suitesByProject } from './infra/jest/suites.mjs';

// The services that tests start find their modules compiled.
process.env.NODE_COMPILE_CACHE ??= compileCache;

/** Tests run the TypeScript sources as ES modules; Node itself strips the types. */
const shared = {
  runner: '<rootDir>/infra/jest/runner.mjs',
  runtime: '<rootDir>/infra/jest/runtime.mjs',
  testEnvironment: '<rootDir>/infra/jest/environment.mjs',
  transform: {},
  modulePathIgnorePatterns: ['/dist/'],
};

export default {
  projects: Object.entries(suitesByProject()).map(([project, suites]) => ({
    ...shared,
    displayName: project,
    ...(project === 'unit' ? {} : { globalSetup: '<rootDir>/infra/jest/bundle.mjs' }),
    testMatch: suites.map((suite) => `<rootDir>/${suite}`),
  })),
  // Suites that compute also wait for other processes, half of their time. With three workers for each processor,
  // browsers, which run at a lower priority, get so little time on a slow machine that their suites fail. Suites that
  // mostly wait have workers apart (`infra/jest/runner.mjs`).
  maxWorkers: Math.ceil(1.5 * Math.min(availableParallelism(), 4)),
  // Tests that run at the same time in a suite mostly wait: for silence, rounds and grace periods.
  maxConcurrency: 16,
  testSequencer: '<rootDir>/infra/jest/sequencer.mjs',
  reporters: ['<rootDir>/infra/jest/other-checks.mjs', 'default', '<rootDir>/infra/jest/closing-line.mjs'],
  // Far more than any test takes: machines may be busy or stall.
  testTimeout: 300_000,
  // A worker without an open handle needs more than the default 500 ms to exit on a busy machine, and would be killed.
  workerGracefulExitTimeout: 10_000,
};
