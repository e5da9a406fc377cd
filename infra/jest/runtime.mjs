import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

import { setGlobals } from './globals.mjs';
import { allowProcesses } from './processes.mjs';

const require = createRequire(import.meta.url);
const globals = new URL('globals.mjs', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context),
});

// A worker that has lost its main process ends with what its suite has started; a listener of `disconnect` would keep
// each worker running.
if (process.connected) setInterval(() => process.connected || process.exit(1), 500).unref();

/** The keys of the global object below which jest-circus keeps the handlers and the timeout of a suite. */
const ofSuite = [Symbol.for('EVENT_HANDLERS'), Symbol.for('TEST_TIMEOUT_SYMBOL')];

/**
 * Loads suites with Node's own module loader, in place of the runtime of Jest: a worker evaluates each module once, not
 * once for each suite. Modules cannot be mocked, and their state lives as long as the worker.
 */
export default class NativeRuntime {
  #config;
  #environment;
  /** Set for the whole life of a suite, since jest-circus asks for it several times. */
  #framework;

  constructor(config, environment) {
    this.#config = config;
    this.#environment = environment;
  }

  /** jest-circus keeps its state in variables of one module, so this module is evaluated again for each suite. */
  requireInternalModule(path) {
    if (this.#framework === undefined) {
      for (const key of ofSuite) delete globalThis[key];
      delete require.cache[path];
      this.#framework = require(path);
    }
    return this.#framework;
  }

  setGlobalsForRuntime(given) {
    setGlobals({ ...given, jest: this.#jest() });
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    allowProcesses(this.#config.displayName?.name !== 'unit');
    return import(pathToFileURL(path).href);
  }

  requireModule(path) {
    return require(path);
  }

  /** The part of the object `jest` that the suites use; all else is undefined. */
  #jest() {
    const { moduleMocker, fakeTimersModern: timers } = this.#environment;
    return {
      fn: moduleMocker.fn.bind(moduleMocker),
      spyOn: moduleMocker.spyOn.bind(moduleMocker),
      restoreAllMocks: () => moduleMocker.restoreAllMocks(),
      setTimeout: (timeoutMs) => (globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = timeoutMs),
      useFakeTimers: (options) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
      advanceTimersToNextTimer: (steps) => timers.advanceTimersToNextTimer(steps),
      advanceTimersToNextTimerAsync: (steps) => timers.advanceTimersToNextTimerAsync(steps),
      getTimerCount: () => timers.getTimerCount(),
    };
  }

  teardown() {
    this.#framework = undefined;
  }

  getSourceMaps() {
    return null;
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  enterTestCode() {}

  leaveTestCode() {}
}
