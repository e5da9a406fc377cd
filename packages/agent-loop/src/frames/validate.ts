import { agentMessageSchemas, gatewayMessageSchemas, type AgentMessage, type GatewayMessage } from '@vantage/contract';
import { Ajv, type ValidateFunction } from 'ajv';

export interface ReadMessage<M> {
  /** @returns the message, or undefined if it is invalid */
  (message: unknown): M | undefined;
  /** The fault of an invalid message, short enough for the reason of a close frame. */
  readonly faultOf: (message: unknown) => string;
}

/** Maximum bytes of the reason in a close frame (RFC 6455 section 5.5): 125, less two for the code. */
const MOST_REASON = 123;

export function createAgentMessageReader(): ReadMessage<AgentMessage> {
  return readerOf<AgentMessage>(agentMessageSchemas);
}

export function createGatewayMessageReader(): ReadMessage<GatewayMessage> {
  return readerOf<GatewayMessage>(gatewayMessageSchemas);
}

function readerOf<M>(schemas: Readonly<Record<string, object>>): ReadMessage<M> {
  // The schemas are not validated at run time, because a test does that.
  const ajv = new Ajv({ validateFormats: false, validateSchema: false, code: { optimize: false } });
  // Compiled with the first message of a type, so that the start takes less time.
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (type: string): ValidateFunction | undefined => {
    const known = validators.get(type);
    if (known !== undefined || !Object.hasOwn(schemas, type)) return known;
    const made = ajv.compile(schemas[type]!);
    validators.set(type, made);
    return made;
  };
  const validatorFor = (message: unknown): { type: string; validate: ValidateFunction } | undefined => {
    const type = typeof message === 'object' && message !== null && 't' in message ? message.t : undefined;
    const validate = typeof type === 'string' ? validatorOf(type) : undefined;
    return validate && { type: type as string, validate };
  };
  const read = (message: unknown): M | undefined =>
    validatorFor(message)?.validate(message) === true ? (message as M) : undefined;
  const faultOf = (message: unknown): string => {
    const known = validatorFor(message);
    if (known === undefined) return 'invalid message: t is of no message';
    known.validate(message);
    const { instancePath = '', message: fault = '' } = known.validate.errors?.[0] ?? {};
    return withinBytes(`invalid message: ${known.type}${instancePath} ${fault}`, MOST_REASON);
  };
  return Object.assign(read, { faultOf });
}

/** Cuts a text after the last whole character within so many bytes of UTF-8. */
function withinBytes(text: string, most: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most));
  return text.slice(0, read);
}
