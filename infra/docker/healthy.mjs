// Checks the health of a container: node healthy.mjs <variable of the port> <variable of the host> <path> [<variable of
// a file>]. Asks the process at the address of its settings, or at the port in the file if the process has written one.
import { readFileSync } from 'node:fs';

const [portVariable, hostVariable, path, fileVariable = ''] = process.argv.slice(2);
const { [portVariable]: wanted, [hostVariable]: given, [fileVariable]: file } = process.env;
const port = file === undefined ? wanted : portIn(file);
const listens = given || '127.0.0.1';
const host = listens === '0.0.0.0' || listens === '::' ? '127.0.0.1' : listens.includes(':') ? `[${listens}]` : listens;
fetch(`http://${host}:${port}${path}`).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
);

function portIn(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The file is not written yet, or its folder is read-only.
    return wanted;
  }
}
