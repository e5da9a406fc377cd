import { createRequire } from 'node:module';

/**
 * A `require` that resolves the dependencies of this package, also in a bundle, which is in the folder of a program.
 */
export function requireFromDiagnostics(): NodeJS.Require {
  return createRequire(createRequire(import.meta.url).resolve('@vantage/diagnostics/package.json'));
}
