import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Bundles the programs that a command starts, if a source has changed since. */
export function bundlePrograms(): void {
  const program = join(import.meta.dirname, '../setup/bundle-programs.mjs');
  execFileSync(process.execPath, [program, 'standalone', 'coordinator', 'probe-agent'], { stdio: 'inherit' });
}
