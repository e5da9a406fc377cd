/** Stands for `node:child_process` in the suites of the project `unit`. */
function refuse() {
  throw new Error('Suites of the project `unit` start no processes: see infra/jest/suites.mjs.');
}

export const exec = refuse;
export const execFile = refuse;
export const execFileSync = refuse;
export const execSync = refuse;
export const fork = refuse;
export const spawn = refuse;
export const spawnSync = refuse;
