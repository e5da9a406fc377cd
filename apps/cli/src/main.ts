#!/usr/bin/env node
import { readFileSync } from 'node:fs';

import { endWithOutput } from '@vantage/command-line';

import { readConfig } from './config.ts';
import { runCli } from './run.ts';

/** Version of the npm package. Its bundler inserts it, because the bundle is a single file without a `package.json`. */
declare const VANTAGE_VERSION: string | undefined;

const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort(new Error('interrupted')));
endWithOutput(process);

process.exitCode = await runCli(process.argv.slice(2), {
  config: readConfig(process.env, process.stdout.isTTY),
  version: typeof VANTAGE_VERSION === 'string' ? VANTAGE_VERSION : versionOfManifest(),
  output: process.stdout,
  errors: process.stderr,
  signal: stopping.signal,
});

function versionOfManifest(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}
