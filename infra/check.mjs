// `npm run check`: everything that must hold, in the order in which a fault is cheapest to find. Arguments go to jest.
import { findNode24 } from './setup/node24.mjs';
import { repository } from './setup/repository.mjs';
import { runProgram } from './setup/run-program.mjs';
import { checkUsage } from './setup/usage.mjs';

const given = process.argv.slice(2);
if (given.some((word) => word === '--help' || word === '-h')) {
  console.log(checkUsage);
  process.exit(0);
}

const jest = ['--conditions=vantage-source', '--no-warnings=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const checks = [
  { title: 'format', program: 'oxfmt', args: ['--check'] },
  // By default tsc has four checkers, which do much work twice, and a GOGC that collects garbage often.
  { title: 'types', program: 'tsc', args: ['-b', '--checkers', '1'], env: { GOGC: '400' } },
  { title: 'lint', program: 'oxlint', args: ['--deny-warnings', '--report-unused-disable-directives'] },
  { title: 'dead code', program: 'knip', args: [] },
  {
    title: 'reference pages',
    program: 'node',
    args: ['--conditions=vantage-source', 'infra/docs/write-reference.ts', '--check'],
  },
  { title: 'tests', program: 'node', args: [...jest, ...(process.env.CI ? ['--ci'] : []), ...given] },
];

const node = findNode24();
// Jest parses its flags first and names an unknown one, because the other checks take minutes.
if (given.length > 0) {
  const status = await runProgram(node.executable, [...jest, ...given, '--showConfig'], {
    cwd: repository,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(status);
}
for (const { title, program, args, env = {} } of checks) {
  console.error(`\n── ${title}`);
  const status = await runProgram(program === 'node' ? node.executable : program, args, {
    cwd: repository,
    env: { ...process.env, PATH: node.path, ...env },
    stdio: 'inherit',
  });
  if (status !== 0) {
    console.error(`\n${title}: failed`);
    process.exit(status);
  }
}
// Otherwise an open channel to the set-up, if that has started this process, would keep it running.
process.exit(0);
