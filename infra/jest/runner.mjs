import TestRunner from 'jest-runner';

import { isWaiting } from './long-suites.mjs';
import { Repetition } from './repetition.mjs';

/** Workers for the suites that mostly wait, in addition to `maxWorkers`. */
const WAITING_WORKERS = 3;

// Jest creates one runner for each project at the same time, and uses the last. Runs that a suite starts do not repeat.
const repeatsFailed = process.env.REPEAT_FAILED !== undefined;
delete process.env.REPEAT_FAILED;

/**
 * Runs suites in worker processes only: the runtime of this folder changes globals of its process. Suites that mostly
 * wait run in additional workers, so that they neither leave the processors idle nor take workers from suites that
 * compute; with fewer than three workers (`-w 1`) they run with the others. With `REPEAT_FAILED` in the environment, as
 * in `npm test`, suites that fail are repeated at the end, alone.
 */
export default class TwoPools extends TestRunner {
  #waiting;
  #alone;
  #repetition;

  constructor(globalConfig, context) {
    super(globalConfig, context);
    this.#waiting = new TestRunner({ ...globalConfig, maxWorkers: WAITING_WORKERS }, context);
    this.#alone = new TestRunner({ ...globalConfig, maxWorkers: 1 }, context);
    this.#repetition = new Repetition(repeatsFailed);
  }

  on(eventName, listener) {
    const first = this.#repetition.listen(eventName, listener);
    const unsubscribes = [
      super.on(eventName, first),
      this.#waiting.on(eventName, first),
      this.#alone.on(eventName, this.#repetition.listenAgain(eventName, listener)),
    ];
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
    const failed = await this.#repetition.begin(watcher.isInterrupted());
    if (failed.length > 0) await this.#alone.runTests(failed, watcher, inWorkers);
  }
}
