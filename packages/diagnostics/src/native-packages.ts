import { createRequire } from 'node:module';

/** A `require` that finds what this package depends on, also when called in a bundle in the folder of a program. */
export function requireFromDiagnostics(): NodeJS.Require {
  return createRequire(createRequire(import.meta.url).resolve('@vantage/diagnostics/package.json'));
}
