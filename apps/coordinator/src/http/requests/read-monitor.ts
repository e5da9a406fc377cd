import { monitorRequestSchema, type AnyCheckType, type InputError, type MonitorRequest } from '@vantage/contract';

import type { AcceptedRequest } from '../../checks/checks.ts';
import { readAlarm, readInterval, type ReadDefinition } from '../../monitors/definition.ts';
import { HIDDEN_PATH } from '../../monitors/describe-monitor.ts';
import { HttpProblem } from '../problem.ts';
import { createRequestReader, type JudgeTarget } from './accept-request.ts';
import { inputErrors } from './input-errors.ts';
import { createAjv } from '../../create-ajv.ts';

/**
 * Creates the function that validates a monitor; its check is validated as by `POST /check`.
 *
 * @param signsWebhooks false if no secret is configured; webhooks are then refused
 */
export function createMonitorReader(
  checkTypes: readonly AnyCheckType[],
  judge: JudgeTarget,
  signsWebhooks = false,
): ReadDefinition {
  const readRequest = createRequestReader(checkTypes, judge);
  const ajv = createAjv({ strictRequired: false, allErrors: true, verbose: true });
  const validate = ajv.compile<MonitorRequest>(monitorRequestSchema);
  return (name, body, allow) => {
    if (!validate(body)) return { valid: false, errors: inputErrors(validate.errors ?? []) };
    const everyMs = readInterval(body.every);
    const rule = readAlarm(body.alarm ?? {});
    const check = readCheck((request) => readRequest(request, allow), body.check);
    const errors: InputError[] = [
      ...(everyMs === undefined ? [{ path: '/every', message: 'must be from 10s to 1d' }] : []),
      ...(rule === undefined ? [{ path: '/alarm/when', message: 'must not want more probes than there are' }] : []),
      ...webhookErrors(body.webhooks ?? [], judge, signsWebhooks),
      ...('errors' in check ? check.errors : expectationErrors(body, check.accepted)),
    ];
    if (errors.length > 0 || everyMs === undefined || rule === undefined || 'errors' in check) {
      return { valid: false, errors };
    }
    const { expect: expectation = {} } = body;
    return { valid: true, definition: { name, request: body, everyMs, expectation, rule, accepted: check.accepted } };
  };
}

type CheckReading = { readonly accepted: AcceptedRequest } | { readonly errors: readonly InputError[] };

function readCheck(readRequest: (body: unknown) => AcceptedRequest, check: MonitorRequest['check']): CheckReading {
  // The validator fills in defaults, and the stored request should stay as written.
  const body = structuredClone(check) as Record<string, unknown>;
  if (body['type'] === 'http') body['options'] = { screenshot: false, ...(body['options'] as object | undefined) };
  if (body['type'] === 'traceroute') body['options'] = withFlows(body['options']);
  try {
    return { accepted: readRequest(body) };
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    const errors = error.errors ?? [{ path: '/host', message: error.message }];
    return { errors: errors.map(({ path, message }) => ({ path: `/check${path}`, message })) };
  }
}

/** Flows of a traceroute without a choice of its packets: so many prove a change of the path, one packet of each suffices. */
const FLOWS = { flows: 16, queries: 1 };
/** Beyond it, they are more packets than a check sends. */
const MOST_HOPS = 40;

function withFlows(options: unknown): unknown {
  const asked = (options ?? {}) as Readonly<Record<string, unknown>>;
  const isChosen = ['flows', 'queries', 'rounds'].some((name) => asked[name] !== undefined);
  return isChosen || Number(asked['maxHops'] ?? 0) > MOST_HOPS ? options : { ...FLOWS, ...asked };
}

/** The additional networks of a key apply to checks, not to webhooks. */
function webhookErrors(urls: readonly string[], judge: JudgeTarget, signsWebhooks: boolean): readonly InputError[] {
  if (urls.length > 0 && !signsWebhooks)
    return [{ path: '/webhooks', message: 'need WEBHOOK_SECRET of the coordinators' }];
  return urls.flatMap((host, index) => {
    if (host.endsWith(HIDDEN_PATH)) return [{ path: `/webhooks/${index}`, message: 'must be the whole URL' }];
    const judgement = judge({ hostKind: 'url', purpose: 'http', host });
    return judgement.verdict === 'accepted' ? [] : [{ path: `/webhooks/${index}`, message: judgement.message }];
  });
}

const expectationTypes = { maxLoss: ['ping'], certificateDays: ['http'], status: ['http'], answers: ['dns'] } as const;

function expectationErrors({ expect = {} }: MonitorRequest, accepted: AcceptedRequest): readonly InputError[] {
  const { type } = accepted.checkType;
  const errors: InputError[] = Object.entries(expectationTypes)
    .filter(([field, types]) => field in expect && !(types as readonly string[]).includes(type))
    .map(([field, types]) => ({ path: `/expect/${field}`, message: `is for ${types.join(', ')} checks only` }));
  const isPlain = type === 'http' && expect.certificateDays !== undefined && !accepted.params.host.startsWith('https:');
  if (isPlain) errors.push({ path: '/expect/certificateDays', message: 'is for https URLs only' });
  const others = Object.keys(expect).filter((field) => field !== 'result');
  if (expect.result === 'failure' && others.length > 0) {
    errors.push({ path: `/expect/${others[0]}`, message: 'cannot be combined with `result: failure`' });
  }
  return errors;
}
