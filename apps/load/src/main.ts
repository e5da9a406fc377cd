#!/usr/bin/env node
import { accessSync, constants, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolder, SettingsError } from '@vantage/settings';

import { readConfig, usage, type Config } from './config.ts';
import { reportPage } from './report-page.ts';
import { reportOf } from './report.ts';
import { runLoad } from './run-load.ts';

const config = configOrExit();
folderOrExit(config.report);
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

const run = await runLoad(config, stopping.signal);
const report = reportOf(config, run);
writeFileSync(join(config.report, 'report.json'), `${JSON.stringify(report, undefined, 2)}\n`);
writeFileSync(join(config.report, 'report.html'), reportPage(report));

const { perSecond, times, errors, late, unanswered } = report;
const rounded = (value: number): string => value.toFixed(1);
process.stdout.write(
  [
    `${rounded(perSecond.completed)} checks and ${rounded(perSecond.probeRuns)} probe-runs completed a second`,
    ...(['post', 'dispatch', 'completion'] as const).map((kind) => {
      const { p50, p99, max } = times[kind];
      return `${kind}: p50 ${rounded(p50)} ms, p99 ${rounded(p99)} ms, max ${rounded(max)} ms`;
    }),
    `late: ${late}, ended by the deadline: ${unanswered}, errors: ${JSON.stringify(errors)}`,
    `report: ${join(config.report, 'report.html')}`,
    '',
  ].join('\n'),
);
process.exitCode = perSecond.completed > 0 ? 0 : 1;

/** Checked before the load starts, so that hours of measurement are not lost to an unwritable folder. */
function folderOrExit(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    process.stderr.write(`The report cannot be written to ${folder}: ${error instanceof Error ? error.message : ''}\n`);
    process.exit(2);
  }
}

function configOrExit(): Config {
  try {
    const read = readConfig(process.argv.slice(2), process.env);
    if (read !== 'help') return read;
    process.stdout.write(usage);
    return process.exit(0);
  } catch (error) {
    if (!(error instanceof SettingsError || error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\nload --help shows every flag.\n`);
    return process.exit(2);
  }
}
