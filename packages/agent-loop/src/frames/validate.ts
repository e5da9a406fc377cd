import { agentMessageSchemas, gatewayMessageSchemas, type AgentMessage, type GatewayMessage } from '@vantage/contract';
import { Ajv, type ValidateFunction } from 'ajv';

/** @returns the message, or undefined if it is not one */
export type ReadMessage<M> = (message: unknown) => M | undefined;

export function createAgentMessageReader(): ReadMessage<AgentMessage> {
  return readerOf<AgentMessage>(agentMessageSchemas);
}

export function createGatewayMessageReader(): ReadMessage<GatewayMessage> {
  return readerOf<GatewayMessage>(gatewayMessageSchemas);
}

function readerOf<M>(schemas: Readonly<Record<string, object>>): ReadMessage<M> {
  // A test validates the schemas themselves.
  const ajv = new Ajv({ validateFormats: false, validateSchema: false });
  // Compiled with the first message of a type: all together take a tenth of the time in which a coordinator starts.
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (type: string): ValidateFunction | undefined => {
    const known = validators.get(type);
    if (known !== undefined || !Object.hasOwn(schemas, type)) return known;
    const made = ajv.compile(schemas[type]!);
    validators.set(type, made);
    return made;
  };
  return (message) => {
    const type = typeof message === 'object' && message !== null && 't' in message ? message.t : undefined;
    return typeof type === 'string' && validatorOf(type)?.(message) === true ? (message as M) : undefined;
  };
}
