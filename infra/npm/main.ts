/** Writes the npm packages: `npm run pack:npm -- [folder [cli|client|types …]]`. Prints their paths. */
import { packCli } from './pack-cli.ts';
import { packClient } from './pack-client.ts';
import { packTypes } from './pack-types.ts';

const packers = { cli: packCli, client: packClient, types: packTypes };
const [folder = 'dist', ...words] = process.argv.slice(2);
const names = Object.keys(packers) as (keyof typeof packers)[];
const unknown = words.find((word) => !Object.hasOwn(packers, word));
if (folder === '--help' || folder === '-h') {
  process.stdout.write(
    'npm run -s pack:npm -- [FOLDER [cli|client|types ...]]\n\nWrites the npm packages to the folder; default: dist.\n',
  );
} else if (folder.startsWith('-')) {
  process.stderr.write(`unexpected argument "${folder}"; expected a folder\n`);
  process.exitCode = 2;
} else if (unknown !== undefined) {
  process.stderr.write(`unknown package "${unknown}"; expected one of ${names.join(', ')}\n`);
  process.exitCode = 2;
} else {
  for (const name of names) {
    if (words.length === 0 || words.includes(name)) process.stdout.write(`${await packers[name](folder)}\n`);
  }
}
