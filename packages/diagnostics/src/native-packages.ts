import { createRequire } from 'node:module';

/** Loads native packages that this one depends on, also from a bundle, which is in the folder of a program. */
export function requireFromDiagnostics(): NodeJS.Require {
  return createRequire(createRequire(import.meta.url).resolve('@vantage/diagnostics/package.json'));
}
