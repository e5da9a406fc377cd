import { hostFor, portIn, targetMistake, type TargetFix } from '@vantage/client';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypeNames } from '@vantage/diagnostics/contract';

/** The host of a check, and the port that follows it. */
export interface CommandTarget {
  readonly host: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly fault?: string;
}

/** Reads HOST as the web page does: `example.com` is a URL for http, `example.com:443` has the port for tcp. */
export function readCommandTarget({ type, hostKind, fields }: AnyCheckType, text: string): CommandTarget {
  const hasPort = 'port' in (fields as object);
  const mistake = targetMistake(text, { type, hostKind, hasPort, types: checkTypeNames });
  if (mistake !== undefined) {
    const [fix] = mistake.fixes;
    const meant = fix === undefined ? '' : ` Did you mean "${commandOf(fix)}"?`;
    return { host: text, fields: {}, fault: `invalid HOST "${text}": ${mistake.message}${meant}` };
  }
  const port = hasPort ? portIn(text) : undefined;
  return { host: hostFor(hostKind, text), fields: port === undefined ? {} : { port: Number(port) } };
}

function commandOf({ type, host, port, recordType }: TargetFix): string {
  return ['vantage', type, host, port, recordType].filter((word) => word !== undefined).join(' ');
}
