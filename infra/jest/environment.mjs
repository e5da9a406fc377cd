import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

import { rememberProcess } from './process-state.mjs';

/** Runs suites with the global object of the worker, and restores its properties with string keys after each suite. */
export default class WorkerEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  #restore = rememberProcess();

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    this.#restore();
  }

  /** Required by Jest; nothing runs in a context. */
  getVmContext() {
    return globalThis;
  }
}
