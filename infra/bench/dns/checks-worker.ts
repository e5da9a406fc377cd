import type { AddressInfo } from 'node:net';
import { createServer as createHttpServer } from 'node:http';

import type { ParamsOf } from '@vantage/contract';

import type { tcp } from '../../../packages/diagnostics/src/types/tcp/contract.ts';
import { runTcp } from '../../../packages/diagnostics/src/types/tcp/run.ts';
import { askDns } from './ask.ts';
import { onLoopback } from './context.ts';

/**
 * Runs a check per HTTP request, as the blackbox exporter does, and responds with its result as JSON: `/tcp?port=…`
 * or `/dns?port=…&name=…`. Writes its own port to standard output, and ends with its standard input.
 */
const server = createHttpServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://localhost');
  const port = Number(url.searchParams.get('port'));
  const params: ParamsOf<typeof tcp> = { host: '127.0.0.1', port, options: { attempts: 1 } };
  const outcome =
    url.pathname === '/tcp' ? runTcp(params, onLoopback([])) : askDns(port, url.searchParams.get('name') ?? '.', 'A');
  void outcome.then((result) => response.end(JSON.stringify(result)));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume().once('end', () => process.exit());
