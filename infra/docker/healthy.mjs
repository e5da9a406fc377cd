// Health of a container: node healthy.mjs <variable of the port> <variable of the host> <path>. Asks the process itself, where
// its settings say that it listens.
const [portVariable, hostVariable, path] = process.argv.slice(2);
const { [portVariable]: port, [hostVariable]: given } = process.env;
const listens = given || '127.0.0.1';
const host = listens === '0.0.0.0' || listens === '::' ? '127.0.0.1' : listens.includes(':') ? `[${listens}]` : listens;
fetch(`http://${host}:${port}${path}`).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
);
