// Health of a container: node healthy.mjs <port> <path>. Asks the process itself, on loopback or where it listens.
const [port, path] = process.argv.slice(2);
const host = process.env.METRICS_HOST ?? '127.0.0.1';
const address = host === '0.0.0.0' || host === '::' || port === '8080' ? '127.0.0.1' : host;
fetch(`http://${address}:${port}${path}`).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
);
