import TestRunner from 'jest-runner';

/** Runs suites in worker processes only: the runtime of this folder changes globals of its process. */
export default class WorkersOnly extends TestRunner {
  runTests(tests, watcher, options) {
    return super.runTests(tests, watcher, { ...options, serial: false });
  }
}
