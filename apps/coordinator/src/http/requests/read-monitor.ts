import {
  AGREEMENT_FORM,
  INTERVAL_FORM,
  isMonitorName,
  monitorRequestSchema,
  NAME_FORM,
  type AnyCheckType,
  type Expectation,
  type InputError,
  type MonitorRequest,
} from '@vantage/contract';

import { isIP } from 'node:net';

import type { ValidateFunction } from 'ajv/dist/2020.js';

import type { AcceptedRequest } from '../../checks/checks.ts';
import {
  fewestOf,
  MONITOR_NAME,
  readAlarm,
  readInterval,
  type AlarmRule,
  type ReadDefinition,
} from '../../monitors/definition.ts';
import { HIDDEN_PATH } from '../../monitors/describe-monitor.ts';
import { createRequestValidator, type ValidatedRequest, type EvaluateTarget } from './accept-request.ts';
import { inputErrors } from './input-errors.ts';
import { createAjv } from '../../create-ajv.ts';

/**
 * Creates the function that validates a monitor; its check is validated as by `POST /check`. The faults of all fields
 * are reported together.
 *
 * @param signsWebhooks false if no secret is configured; webhooks are then refused
 */
export function createMonitorReader(
  checkTypes: readonly AnyCheckType[],
  evaluate: EvaluateTarget,
  signsWebhooks = false,
): ReadDefinition {
  const validateRequest = createRequestValidator(checkTypes, evaluate);
  let compiled: ValidateFunction<MonitorRequest> | undefined;
  return (name, body, allow) => {
    // Compiled for the first monitor: many coordinators have none.
    compiled ??= createAjv({ strictRequired: false, allErrors: true, verbose: true }).compile(monitorRequestSchema);
    const validate = compiled;
    const faults = [
      ...(isMonitorName(name) ? [] : [{ path: MONITOR_NAME, message: `must be ${NAME_FORM}` }]),
      ...(validate(body) ? [] : inputErrors(validate.errors ?? [])),
    ];
    if (!isObject(body)) return { valid: false, errors: faults };
    const isBroken = (path: string): boolean => faults.some((fault) => isAtOrAround(fault.path, path));
    const request = body as unknown as MonitorRequest;
    const everyMs = isBroken('/every') ? undefined : readInterval(request.every);
    const rule = isBroken('/alarm/when') ? undefined : readAlarm(request.alarm ?? {});
    const check = isBroken('/check') ? undefined : validateRequest(withMonitorDefaults(request.check), allow);
    const errors: InputError[] = [
      ...faults,
      ...(everyMs === undefined && !isBroken('/every')
        ? [{ path: '/every', message: `must be ${INTERVAL_FORM}` }]
        : []),
      ...(rule === undefined && !isBroken('/alarm/when')
        ? [{ path: '/alarm/when', message: `must be ${AGREEMENT_FORM}` }]
        : []),
      ...(isBroken('/webhooks') ? [] : webhookErrors(request.webhooks ?? [], isBroken, evaluate, signsWebhooks)),
      ...[...(check?.errors ?? []), ...(check?.refusals ?? [])].map((error) => ({
        ...error,
        path: `/check${error.path}`,
      })),
      ...(check?.accepted?.between === undefined ? [] : [NO_PAIR]),
      ...(isBroken('/expect') ? [] : expectationErrors(request.expect ?? {}, check)),
      ...(rule === undefined ? [] : alarmErrors(rule, check?.accepted, isBroken)),
    ];
    const accepted = check?.accepted;
    if (errors.length > 0 || everyMs === undefined || rule === undefined || accepted === undefined) {
      return { valid: false, errors };
    }
    const { expect: expectation = {} } = request;
    return { valid: true, definition: { name, request, everyMs, expectation, rule, accepted } };
  };
}

const NO_PAIR: InputError = {
  path: '/check/between',
  message: 'is not for monitors: a monitor has one target, named by `host`',
};

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True if the field with the fault is the one at `path`, or contains it. */
function isAtOrAround(fault: string, path: string): boolean {
  return fault === path || fault === '' || path.startsWith(`${fault}/`);
}

/**
 * Returns a copy with the defaults of monitors. A copy, because validation will fill in further defaults, but the
 * request is stored as written.
 */
function withMonitorDefaults(check: MonitorRequest['check']): unknown {
  const body = structuredClone(check) as Record<string, unknown>;
  const { type, options = {} } = body;
  // The validator reports options that are no object.
  if (!isObject(options)) return body;
  if (type === 'http') return { ...body, options: { screenshot: false, ...options } };
  return type === 'traceroute' ? { ...body, options: withFlows(options) } : body;
}

/**
 * Counts for a traceroute whose request has none: many flows, so that a change of the path can be proved
 * (docs/monitors.md).
 */
const FLOWS = { flows: 16, queries: 1 };
/**
 * Largest `maxHops` with which a check of one family may send the packets of `FLOWS`; a check of both families has half
 * of it.
 */
const MOST_HOPS = 40;
const DEFAULT_HOPS = 30;

function withFlows(asked: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isChosen = ['flows', 'queries', 'rounds'].some((name) => asked[name] !== undefined);
  const mostHops = asked['family'] === 'both' ? MOST_HOPS / 2 : MOST_HOPS;
  return isChosen || Number(asked['maxHops'] ?? DEFAULT_HOPS) > mostHops ? asked : { ...FLOWS, ...asked };
}

/** Validates webhooks. The additional networks of a key apply to checks, not to webhooks. */
function webhookErrors(
  urls: readonly string[],
  isBroken: (path: string) => boolean,
  evaluate: EvaluateTarget,
  signsWebhooks: boolean,
): readonly InputError[] {
  if (urls.length > 0 && !signsWebhooks)
    return [{ path: '/webhooks', message: 'need WEBHOOK_SECRET of the coordinators' }];
  return urls.flatMap((host, index) => {
    const path = `/webhooks/${index}`;
    if (isBroken(path)) return [];
    if (host.endsWith(HIDDEN_PATH)) return [{ path, message: 'must be the whole URL' }];
    const decision = evaluate({ hostKind: 'url', purpose: 'http', host });
    return decision.verdict === 'accepted' ? [] : [{ path, message: decision.message }];
  });
}

/** Reports alarms that cannot be raised because the check never has as many probes as they take. */
function alarmErrors(
  rule: AlarmRule,
  accepted: AcceptedRequest | undefined,
  isBroken: (path: string) => boolean,
): readonly InputError[] {
  if (accepted === undefined) return [];
  const most = new Set(accepted.probes).size || accepted.limit;
  const required = { when: fewestOf(rule), networks: rule.networks, countries: rule.countries };
  return Object.entries(required)
    .filter(([field, count]) => count > most && !isBroken(`/alarm/${field}`))
    .map(([field, count]) => ({
      path: `/alarm/${field}`,
      message: `takes at least ${count} probes, and the check runs from ${most === 1 ? 'one' : `${most} at most`}`,
    }));
}

const expectationTypes = { maxLoss: ['ping'], certificateDays: ['http'], status: ['http'], answers: ['dns'] } as const;

/** Validates an expectation against the type of its check; skips the rules that read faulty fields of the check. */
function expectationErrors(expectation: Expectation, check: ValidatedRequest | undefined): readonly InputError[] {
  const type = check?.checkType?.type;
  const errors: InputError[] = Object.entries(expectationTypes)
    .filter(([field, types]) => field in expectation && !(types as readonly string[]).includes(type ?? types[0]))
    .map(([field, types]) => ({ path: `/expect/${field}`, message: `is for ${types.join(', ')} checks only` }));
  const isPlain =
    type === 'http' && expectation.certificateDays !== undefined && check?.host?.startsWith('http:') === true;
  if (isPlain) errors.push({ path: '/expect/certificateDays', message: 'is for https URLs only' });
  // The time of an info check is that of the resolution of its name, so there is none for an address.
  const isTimeless = type === 'info' && expectation.maxRtt !== undefined && isIP(check?.host ?? '') !== 0;
  if (isTimeless) errors.push({ path: '/expect/maxRtt', message: 'is for names only: info of an address has no time' });
  const others = Object.keys(expectation).filter((field) => field !== 'result');
  if (expectation.result === 'failure' && others.length > 0) {
    errors.push({ path: `/expect/${others[0]}`, message: 'cannot be combined with `result: failure`' });
  }
  return errors;
}
