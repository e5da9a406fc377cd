import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

import type { DiagnosticContext } from '../../../packages/diagnostics/src/diagnostic.ts';
import { runDns } from '../../../packages/diagnostics/src/types/dns/run.ts';
import { runHttp } from '../../../packages/diagnostics/src/types/http/run.ts';
import { runTcp } from '../../../packages/diagnostics/src/types/tcp/run.ts';
import { createTrustStore } from '../../../packages/diagnostics/src/tls/certificate/trust-store.ts';
import { createAdmission, createNameResolver, createTargetPolicy } from '../../../packages/target-policy/src/index.ts';
import { onLoopback } from '../dns/context.ts';
import type { LinkCheckRequest } from './checks.ts';

/**
 * Runs checks inside a network namespace with the admission and name resolution of an agent. Reads one JSON request
 * per line and writes one JSON result. Ends with its standard input. Argument: the file of the root certificate to
 * trust.
 */
const certificate = readFileSync(process.argv[2]!, 'utf8');
const trust = createTrustStore([certificate]);
const policy = createTargetPolicy({ allow: ['10.200.0.0/16'] });
const own = { addresses: [], onLink: [], gateways: [], resolvers: [] };

function contextOf({ resolver }: LinkCheckRequest): DiagnosticContext {
  const admit = createAdmission({
    policy,
    resolver: createNameResolver({ servers: [resolver] }),
    ownAddresses: () => own,
    redis: () => [],
    haveIpv4: () => true,
    haveIpv6: () => false,
  });
  return { ...onLoopback([resolver]), admit, trust, certificateAuthorities: [certificate] };
}

async function run(request: LinkCheckRequest): Promise<unknown> {
  const context = contextOf(request);
  if (request.type === 'http') {
    const { url, httpVersion } = request;
    const options = {
      method: 'GET',
      headers: {},
      followRedirects: 0,
      httpVersion,
      screenshot: false,
      maxBodyBytes: 1024 * 1024,
    } as const;
    return runHttp({ host: url, insecureSSL: false, options }, context);
  }
  if (request.type === 'tcp') {
    return runTcp({ host: request.address, port: request.port, options: { attempts: 1 } }, context);
  }
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true, nsid: false, trace: false };
  const options = { ...flags, transport: request.transport, resolver: request.resolver };
  return runDns({ host: request.name, recordType: 'A', options }, context);
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(line) as LinkCheckRequest))}\n`);
}
