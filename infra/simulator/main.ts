/**
 * Checks every scenario from four probes, and compares their results and summaries with the log of the simulator.
 * Run: `npm run -s simulate -- [--only TEXT,TEXT] [--family 4|6] [--protocol icmp|udp|tcp|ping] [--seed N] [--json
 * FILE] [--dump FILE]`
 */
import { report } from '../bench/goals.ts';
import { flagsOfProcess } from '../command/read-flags.ts';
import { writeFileSync } from 'node:fs';
import { chooseCases } from './choose.ts';
import { figuresOf, type VerifiedCase } from './figures.ts';
import { verifyCase } from './verify/verify-case.ts';
import { summaryOf } from './verify/summary.ts';
import { lossCases, lossFigures } from './loss-goal.ts';
import { runCases } from './run-cases.ts';
import { scenarios } from './scenarios/index.ts';

const values = flagsOfProcess(
  'npm run -s simulate --',
  'Checks every path of a simulated internet, and judges results and summaries.',
  {
    only: { description: 'Scenarios whose name has one of these texts, separated by commas; =NAME for one.' },
    family: { description: 'IPv4 or IPv6 only: 4 or 6.', isNumber: true },
    protocol: { description: 'One of icmp, udp, tcp, ping.' },
    seed: { description: 'Start of the random numbers.', fallback: '1', isNumber: true },
    json: { description: 'File for the figures.' },
    dump: { description: 'File for all results and summaries.' },
  },
);

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const seed = Number(values.seed);
const family = values.family === undefined ? undefined : Number(values.family);
const cases = chooseCases(scenarios, { only: values.only?.split(',') ?? [], family, check: values.protocol });
if (typeof cases === 'string') {
  process.stderr.write(`${cases}\n`);
  process.exit(2);
}
const startedMs = performance.now();
const runs = await runCases(cases, seed);
const verified: VerifiedCase[] = runs.map((run) => ({ run, complaints: verifyCase(run) }));
for (const { run, complaints } of verified) {
  const { scenario, family, check } = run.of;
  for (const { kind, text } of complaints) print(`${scenario.name} IPv${family} ${check}: ${kind}: ${text}`);
}
if (values.dump !== undefined) {
  const shown = verified.map(({ run, complaints }) => ({ ...run, complaints, summary: summaryOf(run) }));
  writeFileSync(values.dump, JSON.stringify(shown));
}
const lossRuns = values.only === undefined ? await runCases(lossCases(), seed) : [];
const seconds = (performance.now() - startedMs) / 1_000;
process.exitCode = report([...figuresOf(verified, seconds), ...lossFigures(lossRuns)], values.json);
