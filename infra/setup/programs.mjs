import { concurrentStep, executeConcurrently } from './step.mjs';
import { findNode24 } from './node24.mjs';

/**
 * Bundles what `npm start` runs, unless it is up to date. Running the sources would cost each process memory and time
 * at its start.
 */
export function buildPrograms() {
  const node = findNode24();
  return concurrentStep('Building the programs', () =>
    executeConcurrently(node.executable, [
      'infra/setup/bundle-programs.mjs',
      'standalone',
      'coordinator',
      'probe-agent',
    ]),
  );
}
