import type { DefinitionReading, MonitorDefinition, ReadDefinition } from '../definition.ts';
import { probesIn } from '../state/describe-events.ts';
import type { MonitorState } from '../state/monitor-state.ts';

const MOST_FAILING = 5;
const MOST_WORKING = 3;
/** Packets per hop. */
const QUERIES = 10;

/** The probes of the traceroute that follows a change to bad: failing ones, and working ones to compare with. */
export function probesToTrace(state: MonitorState): Readonly<Record<'failing' | 'working', readonly string[]>> {
  return {
    failing: probesIn(state, 'failing').slice(0, MOST_FAILING),
    working: probesIn(state, 'ok').slice(0, MOST_WORKING),
  };
}

/**
 * The traceroute to the target of a monitor: over TCP to the port of an http or tcp check, with the packets of a
 * traceroute check, else with the default ones; not valid if there is nothing to trace.
 */
export function readTrace(
  readDefinition: ReadDefinition,
  { name, accepted }: Pick<MonitorDefinition, 'name' | 'accepted'>,
  probes: readonly string[],
  allow: readonly string[] | undefined,
): DefinitionReading {
  const check = { type: 'traceroute', probes, ...targetOf(accepted) };
  return readDefinition(name, { check, every: '1d' }, allow);
}

function targetOf({ checkType: { type }, params }: MonitorDefinition['accepted']): object {
  const { host, port } = params as typeof params & { readonly port?: number };
  const family = params.options['family'];
  const common = { queries: QUERIES, ...(family === undefined ? {} : { family }) };
  if (type === 'http') {
    const url = new URL(host);
    const ofScheme = url.protocol === 'https:' ? 443 : 80;
    const name = url.hostname.replace(/^\[(.*)\]$/, '$1');
    return { host: name, options: { ...common, protocol: 'tcp', port: url.port === '' ? ofScheme : Number(url.port) } };
  }
  if (type === 'tcp') return { host, options: { ...common, protocol: 'tcp', port } };
  if (type === 'traceroute') return { host, options: { ...common, ...packetsOf(params.options) } };
  // A udp check is traced without its protocol and port. The host of a dns check is a name to ask for, and that of an
  // info check is not measured: without a host, the request for a traceroute is refused.
  return type === 'ping' || type === 'udp' ? { host, options: common } : {};
}

/** The options of a traceroute check that concern each of its packets. */
function packetsOf(options: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    ['protocol', 'port', 'size', 'dscp'].flatMap((name) =>
      options[name] === undefined ? [] : [[name, options[name]]],
    ),
  );
}
