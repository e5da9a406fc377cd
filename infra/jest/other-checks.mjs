/**
 * Prints the results of the other checks of `npm run check`, which `infra/check.mjs` sends, between those of suites, and
 * delays the summary until they have ended. Does nothing in other runs of Jest.
 */
export default class OtherChecks {
  #isUsed = process.env.OTHER_CHECKS !== undefined && process.send !== undefined;
  #ended = Promise.withResolvers();

  constructor() {
    if (!this.#isUsed) return;
    delete process.env.OTHER_CHECKS;
    process.on('message', this.#listen).on('disconnect', exit);
  }

  #listen = ({ text, ended }) => {
    // Jest's own reporter replaces this function, so that its lines of progress stay whole.
    if (text !== undefined) process.stderr.write(text);
    if (ended === true) this.#ended.resolve();
  };

  async onRunComplete() {
    if (!this.#isUsed) return;
    process.send('complete');
    await this.#ended.promise;
    // Listeners of the channel keep the process running.
    process.off('message', this.#listen).off('disconnect', exit);
  }
}

function exit() {
  process.exit(1);
}
