// Runs the pnpm that the lockfile was written with: node infra/setup/pnpm.mjs <arguments>
import { spawnSync } from 'node:child_process';

import { PNPM } from './dependencies.mjs';

const { status } = spawnSync('npx', ['--yes', PNPM, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(status ?? 1);
