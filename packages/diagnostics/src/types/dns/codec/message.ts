import * as wire from '@vantage/contract/dns-message';

import { recordTypeName } from './record-types.ts';
import { presentData, presentUnknown } from './rdata.ts';

const presentation: wire.Presentation = { typeName: recordTypeName, data: presentData, unknown: presentUnknown };

/**
 * Reads as much of a message as can be read, with the data of every type that `dig` has a text for.
 *
 * @throws MessageFormatError where even the header is cut off
 */
export function readMessage(bytes: Uint8Array): wire.Message {
  return wire.readMessage(bytes, presentation);
}

/**
 * Reads a whole message, every section of it.
 *
 * @throws MessageFormatError and nothing else, whatever the bytes are
 */
export function decodeMessage(bytes: Uint8Array): wire.Message {
  const message = readMessage(bytes);
  if (message.formatError !== null) throw new wire.MessageFormatError(message.formatError);
  return message;
}
