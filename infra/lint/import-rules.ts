import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Import rules, one per row; `import-rules.test.ts` shows that each of them fires. */
export interface ImportRule {
  /** Modules, as a pattern in the syntax of .gitignore. */
  readonly modules: readonly string[];
  /** The reason, in the message of a violation. */
  readonly message: string;
  /** Files to which the rule applies; default: all. */
  readonly within?: readonly string[];
  /** Exceptions from `within`. */
  readonly except?: readonly string[];
}

const types = join(import.meta.dirname, '../../packages/diagnostics/src/types');

/** Each folder with a contract is a check type. */
const checkTypeFolders = readdirSync(types).filter((name) => existsSync(join(types, name, 'contract.ts')));

export const importRules: readonly ImportRule[] = [
  {
    modules: ['raw-socket', 'koffi'],
    message: 'Only the packet process opens raw sockets.',
    except: ['packages/diagnostics/src/sockets/**'],
  },
  {
    modules: ['puppeteer', 'puppeteer-core', '@puppeteer/*'],
    message: 'Only the screenshots drive a browser.',
    except: ['packages/diagnostics/src/browser/**'],
  },
  {
    modules: ['geoip-lite', 'mmdb-lib', '@photostructure/tz-lookup'],
    message: 'Only packages/geo reads geo data.',
    except: ['packages/geo/**'],
  },
  {
    modules: ['tldts'],
    message: 'Only packages/target-policy judges names of targets; those of certificates are compared with one.',
    except: ['packages/target-policy/**', 'packages/diagnostics/src/tls/certificate/host-names.ts'],
  },
  {
    modules: ['bullmq'],
    message: 'Queues belong to the coordinator’s checks and webhooks.',
    except: [
      'apps/coordinator/src/checks/**',
      'apps/coordinator/src/monitors/webhooks/**',
      'infra/audit/**',
      'infra/bench/**',
    ],
  },
  {
    modules: ['node:dns', 'node:dns/promises', 'dns', 'dns/promises'],
    message: 'Names are resolved by packages/target-policy alone.',
    except: ['packages/target-policy/**'],
  },
  {
    modules: ['express', 'express-rate-limit'],
    message: 'HTTP is the business of apps/coordinator/src/http alone.',
    except: [
      'apps/coordinator/src/http/**',
      'apps/coordinator/src/app.ts',
      'apps/coordinator/src/telemetry/**',
      'infra/bench/**',
    ],
  },
  {
    modules: ['node:*', '@vantage/*'],
    message: 'The contract does no input or output and imports no other package.',
    within: ['packages/contract/src/**'],
  },
  {
    modules: ['node:*'],
    message: 'Contracts of check types are read by the web page too.',
    within: ['packages/diagnostics/src/types/*/contract.ts', 'packages/diagnostics/src/contract.ts'],
  },
  {
    modules: ['@vantage/summary'],
    message: 'Only the coordinator computes summaries; take their types from @vantage/contract.',
    except: ['apps/coordinator/src/http/**', 'apps/coordinator/src/monitors/**', 'packages/summary/**', 'infra/**'],
  },
  {
    modules: ['node:*', '@vantage/target-policy', '@vantage/geo', '@vantage/client', 'bullmq', 'ioredis'],
    message: 'A summary is a pure function of results, probes and places.',
    within: ['packages/summary/src/**'],
  },
  {
    modules: ['@vantage/diagnostics'],
    message: 'Only an agent runs diagnostics; take schemas and types from @vantage/diagnostics/contract.',
    except: ['apps/probe-agent/**', 'packages/test-support/**', 'infra/**'],
  },
  {
    modules: ['node:*'],
    message: 'The page runs in browsers.',
    within: ['apps/web/src/**'],
  },
  {
    modules: ['@vantage/*'],
    message: 'The npm package of the client replaces its types: add them to types.ts.',
    within: ['packages/client/src/**'],
    except: ['packages/client/src/types.ts'],
  },
  {
    modules: ['@vantage/target-policy', '@vantage/geo', '@vantage/client', 'bullmq', 'ioredis'],
    message: 'A diagnostic gets its admission from the context and knows nothing of locations and queues.',
    within: ['packages/diagnostics/**'],
  },
  {
    modules: ['@vantage/coordinator', '@vantage/probe-agent', '@vantage/standalone'],
    message: 'Packages do not depend on apps, nor coordinator and agent on each other.',
    within: ['packages/**', 'apps/coordinator/**', 'apps/probe-agent/**', 'apps/cli/**', 'apps/load/**'],
  },
  ...checkTypeFolders.map((folder) => ({
    modules: checkTypeFolders.filter((other) => other !== folder).flatMap(importsOfType),
    message: 'A diagnostic never imports another one.',
    within: [`packages/diagnostics/src/types/${folder}/**`],
  })),
];

/** Imports as a file of another type would write them, from its folder or from a subfolder. */
function importsOfType(type: string): readonly string[] {
  return ['../', '../../', '../../../'].map((up) => `${up}${type}/**`);
}
