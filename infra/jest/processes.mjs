import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';

let allowed = true;

/** Allows or forbids the start of processes; suites of the project `unit` may start none. */
export function allowProcesses(are) {
  allowed = are;
}

function guarded(start) {
  function guard(...given) {
    if (!allowed) throw new Error('Suites of the project `unit` start no processes: see infra/jest/suites.mjs.');
    return start.apply(this, given);
  }
  const promised = start[promisify.custom];
  if (promised !== undefined) Object.defineProperty(guard, promisify.custom, { value: guarded(promised) });
  return guard;
}

for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync']) {
  childProcess[name] = guarded(childProcess[name]);
}
syncBuiltinESMExports();
