import { passedAlone } from './repetition.mjs';

/** Prints the counts of the run on one line at the end, for programs that parse the output. */
export default class ClosingLine {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numFailedTestSuites, numPendingTests }) {
    for (const path of passedAlone) console.error(`\nPassed only at its repetition, without other suites: ${path}`);
    // A suite that could not even run has no failed test to count.
    const failed = Math.max(numFailedTests, numFailedTestSuites);
    console.error(`\nTests: ${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`);
  }
}
