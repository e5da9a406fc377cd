import { type ClassifiedAnswer, rcodeFailure, rcodeName, sameName } from '@vantage/contract/dns-message';
import { escapeText, type Failure } from '@vantage/contract';

import { badResponse } from './transport/exchange.ts';

const MAX_NAME_LENGTH = 300;

/** Why a readable answer is no success; null for records, aliases and proofs of absence. */
export function answerFailure(
  { kind, canonicalName, referral }: ClassifiedAnswer,
  rcode: number,
  question: { readonly name: string; readonly recordType: { readonly name: string } },
): Failure | null {
  const alias = canonicalName === null ? null : escapeText(canonicalName, MAX_NAME_LENGTH);
  switch (kind) {
    case 'nxdomain':
    case 'error':
      return rcodeFailure(rcode, alias);
    case 'referral': {
      const zone = referral ?? '.';
      // At a zone cut, the parent answers a query for NS by a referral.
      if (question.recordType.name === 'NS' && sameName(zone, question.name)) return null;
      return noAnswer(`The server referred to ${escapeText(zone, MAX_NAME_LENGTH)} and did not answer.`);
    }
    case 'lame':
      return noAnswer(
        rcode === 0
          ? 'The server answered NOERROR with neither records nor anything that proves that there are none.'
          : `The server answered ${rcodeName(rcode)} with nothing that proves it.`,
      );
    case 'filtered':
      return noAnswer(`The resolver answered ${rcodeName(rcode)}, and says that it filters the answer (RFC 8914).`);
    case 'truncated':
      return noAnswer('The answer is cut off (TC): what it holds may be a part of it.');
    case 'loop':
      return noAnswer(`The aliases lead in a circle, back to ${alias}.`);
    case 'foreign':
      return badResponse('The answer holds records of other names or types alone.');
    case 'malformed':
      return badResponse('The answer is not a valid DNS message.');
    case 'answer':
    case 'alias':
    case 'nodata':
    default:
      return null;
  }
}

function noAnswer(message: string): Failure {
  return { code: 'dns_no_answer', phase: 'response', source: 'resolver', message };
}
