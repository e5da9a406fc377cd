/** Prints as JSON how the programs present a check type: `node … what-follows-process.ts NAME`. */
import type { AnyCheckType } from '@vantage/contract';
import { checkTypes, isCheckTypeName } from '@vantage/diagnostics/contract';

import { requestExamples } from '../../apps/coordinator/src/http/openapi/examples.ts';
import { readConfig, type Config } from '../../apps/load/src/config.ts';
import { planArrivals } from '../../apps/load/src/plan.ts';
import { formDefinitions } from '../../apps/web/build/check-forms.ts';
import { checkHelp, describeResult } from '../../packages/command-line/src/index.ts';
import { summaryOf } from '../../packages/summary/test/cases.ts';
import { canaryJobs } from '../audit/canaries/jobs.ts';
import { checkTypesPage } from '../docs/check-types-page.ts';
import { importRules } from '../lint/import-rules.ts';

const [name = ''] = process.argv.slice(2);
if (!isCheckTypeName(name)) throw new Error(`unknown check type ${name}`);
const checkType: AnyCheckType = checkTypes[name];
const { seconds: _, ...load } = readConfig(['--target', '192.0.2.1', '--mix', `${name}=1`], {}) as Config;
const [arrival] = planArrivals({ ...load, seconds: 60 });
const result = {
  result: 'success',
  rt: null,
  resolvedIp: '192.0.2.1',
  error: null,
  address: '192.0.2.1',
} as const;

process.stdout.write(
  JSON.stringify({
    form: formDefinitions().find(({ type }) => type === name)?.title,
    help: checkHelp('vantage', checkType, {}),
    line: describeResult(name, result as object),
    example: requestExamples([checkType])[name],
    documented: checkTypesPage().includes(checkType.summary),
    headline: summaryOf(name, { 'fra-1': result, 'par-1': result }).headline,
    loaded: arrival?.request,
    audited: canaryJobs().filter(({ type }) => type === name).length,
    isolated: importRules.some(({ within = [] }) => within.includes(`packages/diagnostics/src/types/${name}/**`)),
  }),
);
