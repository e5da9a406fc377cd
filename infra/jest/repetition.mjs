/** If more suites have failed, none is repeated: the cause is no single suite. */
const MOST = 3;

/** Suites that failed and passed when they were repeated, for the last lines of the run. */
export const passedAlone = [];

/** Holds back the events of suites that fail, which are repeated after all others. */
export class Repetition {
  #isOn;
  /** Data of events, each with the listener that does not know of it yet. */
  #held = [];

  constructor(isOn) {
    this.#isOn = isOn;
  }

  /** @returns a listener of the first run */
  listen(eventName, listener) {
    if (!this.#isOn) return listener;
    return (data) => {
      if (!hasFailed(eventName, data)) return listener(data);
      this.#held.push({ data, listener });
      return undefined;
    };
  }

  /** @returns a listener of the repetition */
  listenAgain(eventName, listener) {
    return (data) => {
      if (eventName === 'test-file-success' && !hasFailed(eventName, data)) passedAlone.push(data[0].path);
      return listener(data);
    };
  }

  /** @returns the suites to repeat; of others that failed the events are passed on */
  async begin(isInterrupted) {
    const held = this.#held;
    this.#held = [];
    if (held.length <= MOST && !isInterrupted) {
      for (const { data } of held) announce(data);
      return held.map(({ data: [test] }) => test);
    }
    for (const { data, listener } of held) await listener(data);
    return [];
  }
}

function hasFailed(eventName, [, result] = []) {
  if (eventName === 'test-file-failure') return true;
  if (eventName !== 'test-file-success') return false;
  return result.numFailingTests > 0 || result.testExecError !== undefined || result.testResults.length === 0;
}

function announce([{ path }, { failureMessage, message, stack }]) {
  const reason = failureMessage ?? stack ?? message ?? '';
  console.error(`\nFAILED next to other suites: ${path}\n${reason}\nIt runs once more, alone.`);
}
