/** Builds the Debian package of the agent: `npm run pack:deb -- [folder]`. Prints its path. */
import { buildDeb } from './build-deb.ts';

const [folder = 'dist', ...more] = process.argv.slice(2);
if (folder === '--help' || folder === '-h') {
  process.stdout.write(
    'npm run -s pack:deb -- [FOLDER]\n\nBuilds vantage-agent_<version>_<architecture>.deb into the folder; default: dist.\n',
  );
} else if (folder.startsWith('-') || more.length > 0) {
  process.stderr.write(`unexpected argument "${more[0] ?? folder}"; expected one folder\n`);
  process.exitCode = 2;
} else process.stdout.write(`${buildDeb(folder)}\n`);
