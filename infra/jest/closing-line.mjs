/** Ends the run with its counts on one line, also where none failed, for programs that read the output. */
export default class ClosingLine {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numFailedTestSuites, numPendingTests }) {
    // A suite that could not even run has no failed test to count.
    const failed = Math.max(numFailedTests, numFailedTestSuites);
    console.error(`\nTests: ${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`);
  }
}
