import { findNode24 } from './node24.mjs';
import { execute, step } from './step.mjs';

/** Builds the web page that the coordinator serves; does nothing when it is up to date. */
export function buildWebPage() {
  const node = findNode24();
  step('Building the web page', () =>
    execute(node.executable, ['--conditions=vantage-source', 'apps/web/build/main.ts'], {
      env: { ...process.env, PATH: node.path },
    }),
  );
}
