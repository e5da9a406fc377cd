/** If more suites have failed, none is repeated: then the cause is hardly one suite. */
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
    return async (data) => {
      if (!this.#isOn || !hasFailed(eventName, data)) return listener(data);
      announce(data);
      this.#held.push({ data, listener });
      if (this.#held.length > MOST) await this.#giveUp();
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

  /** @returns the suites to repeat */
  async begin(isInterrupted) {
    if (isInterrupted) await this.#giveUp();
    return this.#held.splice(0).map(({ data: [test] }) => test);
  }

  async #giveUp() {
    this.#isOn = false;
    for (const { data, listener } of this.#held.splice(0)) await listener(data);
  }
}

function hasFailed(eventName, [, result] = []) {
  if (eventName === 'test-file-failure') return true;
  if (eventName !== 'test-file-success') return false;
  return result.numFailingTests > 0 || result.testExecError !== undefined || result.testResults.length === 0;
}

function announce([{ path }, { failureMessage, message, stack }]) {
  const reason = failureMessage ?? stack ?? message ?? '';
  console.error(
    `\nFAILED next to other suites: ${path}\n${reason}\nUp to ${MOST} such suites run once more at the end, alone.`,
  );
}
