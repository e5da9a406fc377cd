import { findNode24 } from './node24.mjs';
import { concurrentStep, executeConcurrently } from './step.mjs';

/** Builds the web page that the coordinator serves; does nothing when it is up to date. */
export function buildWebPage() {
  const node = findNode24();
  return concurrentStep('Building the web page', () =>
    executeConcurrently(node.executable, ['--conditions=vantage-source', 'apps/web/build/main.ts'], {
      env: { ...process.env, PATH: node.path },
    }),
  );
}
