import { hostFor, portIn, targetMistake, type TargetFix } from '@vantage/client';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypeNames } from '@vantage/diagnostics/contract';

/** The host of a check, and the port that follows it. */
export interface CommandTarget {
  readonly host: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The port that the scheme of a URL implies. */
  readonly implied?: Readonly<Record<string, unknown>>;
  readonly fault?: string;
}

/**
 * Reads HOST for a check type: `example.com` is a URL for http, `example.com:443` has the port for tcp.
 *
 * @param given texts of the fields after HOST, such as the port
 */
export function readCommandTarget(
  { type, hostKind, fields }: AnyCheckType,
  text: string,
  given: readonly string[],
): CommandTarget {
  const hasPort = 'port' in (fields as object);
  const mistake = targetMistake(text, { type, hostKind, hasPort, types: checkTypeNames });
  if (mistake !== undefined) {
    const [fix] = mistake.fixes;
    const meant =
      fix === undefined ? locationIn(type, text) : ` Did you mean "${commandOf(fix, fix.type === type ? given : [])}"?`;
    return { host: text, fields: {}, fault: `invalid HOST "${text}": ${mistake.message}${meant}` };
  }
  const port = hasPort ? portIn(text) : undefined;
  const host = hostFor(hostKind, text);
  if (port === undefined) return { host, fields: {} };
  const isWritten = /^(https?:\/\/)?[^/?#]*:\d+([/?#]|$)/i.test(text.trim());
  return { host, fields: {}, [isWritten ? 'fields' : 'implied']: { port: Number(port) } };
}

/** A hint for an AS number in place of the host: how to check from that network. */
function locationIn(type: string, text: string): string {
  return /^as\d+$/i.test(text) ? ` As in "vantage ${type} HOST --from ${text.toUpperCase()}".` : '';
}

function commandOf({ type, host, port, recordType }: TargetFix, given: readonly string[]): string {
  const own = [port, recordType].filter((word) => word !== undefined);
  const fields = own.length > 0 ? own : given;
  const missing = fields.length === 0 && (type === 'tcp' || type === 'udp') ? ['PORT'] : [];
  return ['vantage', type, shellWord(host), ...fields, ...missing].join(' ');
}

/** The text, quoted if a shell would not read it as one literal word. */
function shellWord(text: string): string {
  return /^[\w./:@%+,=[\]-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
