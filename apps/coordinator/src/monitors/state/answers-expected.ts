import { isIPv6, SocketAddress } from 'node:net';

import type { Expectation } from '@vantage/contract';

/** Fields of dns results that decide whether the expected answers came. */
export interface MeasuredAnswers {
  readonly answers?: readonly Answer[];
  /** True if the answer has records that the result has not. */
  readonly truncated?: boolean;
}

interface Answer {
  readonly type?: string;
  readonly data: string;
}

/** Reasons by which an answer lacks records that it must have. */
export function lackingAnswers(measured: MeasuredAnswers, expectation: Expectation): readonly string[] {
  const missing = measured.truncated === true ? [] : missingOf(measured, expectation);
  return missing.length === 0 ? [] : [`no record ${missing.join(', ')} in the answer`];
}

/** Why a result cannot show whether the answer has the records: the answer has more records than the result. */
export function unseenAnswers(measured: MeasuredAnswers, expectation: Expectation): readonly string[] {
  const unseen = measured.truncated === true ? missingOf(measured, expectation) : [];
  const shown = measured.answers?.length ?? 0;
  return unseen.length === 0
    ? []
    : [`the answer has more records than the ${shown} of the result, which are without ${unseen.join(', ')}`];
}

function missingOf({ answers = [] }: MeasuredAnswers, { answers: wanted = [] }: Expectation): readonly string[] {
  return wanted.filter(
    (data) => !answers.some((answer) => comparable(answer.type, data) === comparable(answer.type, answer.data)),
  );
}

/** Types whose data are names and numbers. The case of a name has no meaning, and servers may change it. */
const typesOfNames = new Set(['CNAME', 'DNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV']);

/** A form of data that is equal for equal records. */
function comparable(type: string | undefined, data: string): string {
  if (type === 'AAAA' && isIPv6(data)) return new SocketAddress({ address: data, family: 'ipv6' }).address;
  return type !== undefined && typesOfNames.has(type) ? data.toLowerCase() : data;
}
