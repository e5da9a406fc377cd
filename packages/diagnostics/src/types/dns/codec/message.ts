import * as wire from '@vantage/contract/dns-message';

import { recordTypeName } from './record-types.ts';
import { presentData, presentUnknown } from './rdata.ts';

const presentation: wire.Presentation = { typeName: recordTypeName, data: presentData, unknown: presentUnknown };

/**
 * Parses the readable part of a message, with the data of records in presentation format.
 *
 * @throws MessageFormatError if even the header is truncated
 */
export function readPresentedMessage(bytes: Uint8Array): wire.Message {
  return wire.readMessage(bytes, presentation);
}

/**
 * Parses a whole message with every section.
 *
 * @throws MessageFormatError and nothing else, for any input
 */
export function decodeMessage(bytes: Uint8Array): wire.Message {
  const message = readPresentedMessage(bytes);
  if (message.formatError !== null) throw new wire.MessageFormatError(message.formatError);
  return message;
}
