/** Writes the npm packages of the command line and of the client: `npm run pack:npm -- [folder]`. */
import { packCli } from './pack-cli.ts';

const folder = process.argv[2] ?? 'dist';
process.stdout.write(`${await packCli(folder)}\n`);
