export {
  answerKinds,
  classifyAnswer,
  isFilterError,
  isHeldBack,
  type AnswerKind,
  type ClassifiedAnswer,
} from './answer-kind.ts';
export { isFromNameServer } from './current.ts';
export type { Edns } from './edns.ts';
export { isDnssecError, isStaleError } from './extended-errors.ts';
export { MessageFormatError } from './format-error.ts';
export { isAnswerTo } from './is-answer-to.ts';
export { dnsFlags, encodeQuery, readMessage, type Message, type Query } from './message.ts';
export type { DnsRecord } from './record.ts';
export { decodeName, encodeName, reverseName } from './name.ts';
export { isWithin, renamed, sameName, uncachedName, uncachedTopLevelDomain } from './names.ts';
export { extendedErrorName, rcodeFailure, rcodeName } from './rcodes.ts';
export { createReader, type Reader } from './reader.ts';
export type { Presentation } from './sections.ts';
