import TestRunner from 'jest-runner';

import { isWaiting } from './long-suites.mjs';

/** Workers for the suites that mostly wait, in addition to `maxWorkers`. */
const WAITING_WORKERS = 3;

/**
 * Runs suites in worker processes only: the runtime of this folder changes globals of its process. Suites that mostly
 * wait run in additional workers, so that they neither leave the processors idle nor take a turn from suites that
 * compute; with fewer than three workers (`-w 1`) they run with the others.
 */
export default class TwoPools extends TestRunner {
  #waiting;

  constructor(globalConfig, context) {
    super(globalConfig, context);
    this.#waiting = new TestRunner({ ...globalConfig, maxWorkers: WAITING_WORKERS }, context);
  }

  on(eventName, listener) {
    const unsubscribes = [super.on(eventName, listener), this.#waiting.on(eventName, listener)];
    return () => unsubscribes.forEach((unsubscribe) => unsubscribe());
  }

  async runTests(tests, watcher, options) {
    const pools =
      this._globalConfig.maxWorkers < 3
        ? { others: tests }
        : Object.groupBy(tests, ({ path }) => (isWaiting(path) ? 'waiting' : 'others'));
    const inWorkers = { ...options, serial: false };
    const runs = [];
    if (pools.others !== undefined) runs.push(super.runTests(pools.others, watcher, inWorkers));
    if (pools.waiting !== undefined) runs.push(this.#waiting.runTests(pools.waiting, watcher, inWorkers));
    await Promise.all(runs);
  }
}
