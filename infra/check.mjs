// `npm run check`: everything that must hold. The tests run, and at a low priority the other checks, one after another;
// the first of these that fails ends the run. Arguments go to jest.
import { findNode24 } from './setup/node24.mjs';
import { repository } from './setup/repository.mjs';
import { startProgram } from './setup/run-program.mjs';
import { checkUsage } from './setup/usage.mjs';

const given = process.argv.slice(2);
if (given.some((word) => word === '--help' || word === '-h')) {
  console.log(checkUsage);
  process.exit(0);
}

const jest = ['--conditions=vantage-source', '--no-warnings=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
/** In order of their cost, the cheapest first. */
const checks = [
  { title: 'format', program: 'oxfmt', args: ['--check'] },
  {
    title: 'reference pages',
    program: 'node',
    args: ['--conditions=vantage-source', 'infra/docs/write-reference.ts', '--check'],
  },
  { title: 'dead code', program: 'knip', args: [] },
  // By default tsc has four checkers, which do much work twice, and a GOGC that collects garbage often.
  { title: 'types', program: 'tsc', args: ['-b', '--checkers', '1'], env: { GOGC: '400' } },
  { title: 'lint', program: 'oxlint', args: ['--deny-warnings', '--report-unused-disable-directives'] },
];

const node = findNode24();
const environment = { ...process.env, PATH: node.path };
// Jest parses its flags first and names an unknown one, before anything else is printed.
if (given.length > 0) {
  const flags = startProgram(node.executable, [...jest, ...given, '--showConfig'], {
    cwd: repository,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const status = await flags.ended;
  if (status !== 0) process.exit(status);
}

const tests = startTests();
const failed = await runChecks();
await tests.send({ ended: true });
const status = await tests.ended;
if (failed?.title !== undefined) console.error(`\n${failed.title}: failed`);
// Otherwise an open channel to the set-up, if that has started this process, would keep it running.
process.exit(failed?.status ?? status);

/** Starts the tests; a reporter of Jest prints the results of the other checks between those of suites. */
function startTests() {
  console.error('\n── tests');
  const program = startProgram(node.executable, [...jest, ...(process.env.CI ? ['--ci'] : []), ...given], {
    cwd: repository,
    env: { ...environment, OTHER_CHECKS: 'sent by the parent', REPEAT_FAILED: 'once' },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const { child } = program;
  let isComplete = false;
  child.once('message', () => (isComplete = true));
  /** Resolves to false if Jest no longer prints. */
  const send = (message) =>
    new Promise((resolve) => {
      if (child.connected) child.send(message, (error) => resolve(error === null));
      else resolve(false);
    });
  return { ...program, send, isComplete: () => isComplete };
}

/** @returns the first check that failed, if any; without a title if a signal ended it */
async function runChecks() {
  for (const { title, program, args, env = {} } of checks) {
    if (tests.isStopped()) break;
    // Browsers, which some suites have, run at this priority too.
    const words = ['-n', '10', program === 'node' ? node.executable : program, ...args];
    const check = startProgram('nice', words, {
      cwd: repository,
      env: { ...environment, ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const status = await check.ended;
    if (check.isStopped()) return { status };
    const hasEndedTests = status !== 0 && !tests.isComplete();
    if (hasEndedTests) {
      tests.stop();
      await tests.ended;
    }
    const text = `\n── ${title}\n${check.output()}`;
    if (hasEndedTests || !(await tests.send({ text }))) process.stderr.write(text);
    if (status !== 0) return { title, status };
  }
  return undefined;
}
