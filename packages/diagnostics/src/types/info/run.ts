import { isIP, isIPv6, SocketAddress } from 'node:net';

import { escapeText, roundMs, type Failure, type ParamsOf, type Target } from '@vantage/contract';

import { outcomeOf, timedOut } from '../../shared/classify-error.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { MAX_LISTED_ADDRESSES } from '../../shared/address-fields.ts';
import type { info } from './contract.ts';

type Info = typeof info;

/** Margin before the deadline to report the addresses even if PTR lookups hang. */
const REPORT_MARGIN_MS = 500;

/** Limit of PTR names that are verified; if none of them is, the first is shown. */
const MAX_NAMES = 3;

/**
 * Resolves the target and looks up the name of its address. Nothing is sent to the target. The coordinator adds
 * location and network.
 */
export async function runInfo(params: ParamsOf<Info>, context: DiagnosticContext<Info>): Promise<Outcome<Info>> {
  const admitted = await admit(params, context);
  if ('failure' in admitted) {
    return { result: outcomeOf(admitted.failure), rt: null, resolvedIp: null, error: admitted.failure };
  }
  const { target } = admitted;
  const known = { ip: target.address, addresses: target.addresses.slice(0, MAX_LISTED_ADDRESSES) };
  context.emitPartial(known);
  const name = await nameOf(target.address, context);
  const rt = isIP(target.host) !== 0 ? null : roundMs(target.resolveMs);
  return { result: 'success', rt, resolvedIp: target.address, error: null, ...known, ...name };
}

async function admit(
  { host, options }: ParamsOf<Info>,
  { admit, signal }: DiagnosticContext<Info>,
): Promise<{ readonly target: Target } | { readonly failure: Failure }> {
  try {
    const admission = await admit({ host, purpose: 'info', family: options.family }, signal);
    return admission.admitted ? { target: admission.target } : { failure: admission.failure };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { failure: timedOut('resolve', 'The name was not resolved in time.') };
  }
}

interface Name {
  readonly hostname: string | null;
  readonly hostnameVerified: boolean | null;
}

/** The PTR name, and whether it resolves to the address: null without a name, or if that is unknown. */
async function nameOf(address: string, context: DiagnosticContext<Info>): Promise<Name> {
  const leftMs = Math.max(0, Math.floor(context.remainingMs() - REPORT_MARGIN_MS));
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(leftMs)]);
  const names = (await unlessAborted(() => context.names.reverse(address, signal), signal))?.slice(0, MAX_NAMES);
  const [first] = names ?? [];
  if (first === undefined) return { hostname: null, hostnameVerified: null };
  let isFirstKnown = false;
  for (const name of names ?? []) {
    const addresses = await unlessAborted(() => context.names.forward(name, isIPv6(address) ? 6 : 4, signal), signal);
    if (addresses?.some((one) => canonical(one) === canonical(address)) === true) {
      return { hostname: escapeText(name), hostnameVerified: true };
    }
    isFirstKnown ||= name === first && addresses !== null;
  }
  return { hostname: escapeText(first), hostnameVerified: isFirstKnown ? false : null };
}

/** The answer of a lookup; null if it was aborted, which is not conclusive. */
async function unlessAborted<Answer>(lookUp: () => Promise<Answer>, signal: AbortSignal): Promise<Answer | null> {
  try {
    const answer = await lookUp();
    return signal.aborted ? null : answer;
  } catch (error) {
    if (!signal.aborted) throw error;
    return null;
  }
}

/** An address in one notation, since IPv6 has many. */
function canonical(text: string): string {
  return SocketAddress.parse(text.includes(':') ? `[${text}]` : text)?.address ?? text.toLowerCase();
}
