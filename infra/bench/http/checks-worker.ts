import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';

import { createTrustStore } from '../../../packages/diagnostics/src/tls/certificate/trust-store.ts';
import { checkHttp } from './check.ts';

/**
 * Runs an http check per HTTP request, as the blackbox exporter does, and responds with its result as JSON:
 * `/?target=URL&version=2`. Writes its own port to standard output, and ends with its standard input. Argument: the
 * file of the root certificate to trust.
 */
const context = { trust: createTrustStore([readFileSync(process.argv[2]!, 'utf8')]) };
const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const version = searchParams.get('version') === '2' ? '2' : '1.1';
  void checkHttp(searchParams.get('target') ?? '', version, context).then((result) => {
    response.end(JSON.stringify(result));
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume().once('end', () => process.exit());
