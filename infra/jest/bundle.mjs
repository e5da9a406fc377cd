import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { repository } from '../setup/repository.mjs';

/**
 * Bundles the programs that suites start, if a source has changed; in a separate process, because Vite takes much
 * memory.
 */
export default function bundlePrograms() {
  const program = join(repository, 'infra/setup/bundle-programs.mjs');
  execFileSync(process.execPath, [program, 'coordinator', 'probe-agent', 'standalone'], { stdio: 'inherit' });
}
