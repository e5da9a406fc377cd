import type { InputError } from '@vantage/contract';
import { checkRequest, type Module } from '@vantage/modules';

import type { AcceptedRequest } from '../../checks/checks.ts';
import type { ValidateRequest } from '../requests/accept-request.ts';
import { invalid } from '../requests/validate-request.ts';
import type { Scrape, ScrapeReading } from './scrape-request.ts';

export interface ValidatedScrape {
  readonly scrape: Scrape;
  readonly accepted: AcceptedRequest;
}

/**
 * Turns the parameters of a scrape into a check. The faults of all parameters are reported together.
 *
 * @param allow additional networks of the request's key
 * @throws HttpProblem 400, also for a refused target, because a misconfigured scrape must not appear as an outage
 */
export function validateScrape(
  { errors, module, ...rest }: ScrapeReading,
  validateRequest: ValidateRequest,
  allow?: readonly string[],
): ValidatedScrape {
  const { target, hostname, selection } = rest;
  const validateUrl = (url: string): readonly InputError[] => {
    const { errors: malformed, refusals } = validateRequest({ type: 'http', host: url }, allow);
    return [...malformed, ...refusals];
  };
  const faults = [...errors, ...hostFaults(hostname, validateUrl), ...tokenFaults(module, validateUrl)];
  if (module === undefined || target === undefined) {
    throw invalid([...faults, ...selectionFaults(validateRequest(selection).errors)]);
  }
  const check = checkRequest(module, target, rest.budgetMs);
  if (!check.ok) {
    const message = [{ path: '?target', message: check.message }];
    throw invalid([...faults, ...message, ...selectionFaults(validateRequest(selection).errors)]);
  }
  const { accepted, ...validated } = validateRequest({ ...check.body, ...selection }, allow);
  faults.push(...asScrapeFaults([...validated.errors, ...validated.refusals], module));
  if (faults.length > 0 || accepted === undefined) throw invalid(faults);
  const params = check.rules === undefined ? accepted.params : { ...accepted.params, rules: check.rules };
  return { scrape: { ...rest, module, target }, accepted: { ...accepted, params, steadyBy: target } };
}

type ValidateUrl = (url: string) => readonly InputError[];

/**
 * Faults of the `Host` header, to which the target policy applies, too: a site with that name may be at any address.
 */
function hostFaults(hostname: string, validateUrl: ValidateUrl): readonly InputError[] {
  if (hostname === '') return [];
  return validateUrl(`http://${hostname}/`).map(({ message }) => ({ path: '?hostname', message }));
}

/** Faults of the module's token server, to which the target policy also applies. */
function tokenFaults(module: Module | undefined, validateUrl: ValidateUrl): readonly InputError[] {
  if (module?.prober !== 'http' || module.oauth2 === undefined) return [];
  return validateUrl(module.oauth2.tokenUrl).map(({ message }) => ({
    path: '?module',
    message: `token_url: ${message}`,
  }));
}

const selectionParameters: Readonly<Record<string, string>> = {
  probes: '?probe',
  locations: '?location',
  limit: '?limit',
};

/** Faults of the selection of probes alone. */
function selectionFaults(errors: readonly InputError[]): readonly InputError[] {
  return errors.flatMap(({ path, message }) => {
    const parameter = selectionParameters[fieldOf(path)];
    return parameter === undefined ? [] : [{ path: parameter, message: inParameters(message) }];
  });
}

/** Rewrites the paths of errors to parameters of the scrape. The host of a dns check belongs to the module. */
export function asScrapeFaults(errors: readonly InputError[], { prober }: Module): readonly InputError[] {
  return errors.map(({ path, message }) => ({
    path: parameterOf(path, prober === 'dns' ? '?module' : '?target'),
    message: inParameters(message),
  }));
}

/** Replaces `probes`, the field of `POST /check` in the message, by the parameter `probe`. */
function inParameters(message: string): string {
  return message.replaceAll('`probes`', '`probe`');
}

function parameterOf(path: string, hostOf: string): string {
  if (path === '/host') return hostOf;
  if (['/port', '/options/port', '/options/resolver'].includes(path)) return '?target';
  return selectionParameters[fieldOf(path)] ?? '?module';
}

function fieldOf(path: string): string {
  return path.split('/')[1] ?? '';
}
