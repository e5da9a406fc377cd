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
  const ajv = new Ajv({ validateFormats: false });
  const validators = new Map<unknown, ValidateFunction>();
  for (const [type, schema] of Object.entries(schemas)) validators.set(type, ajv.compile(schema));
  return (message) => {
    const type = typeof message === 'object' && message !== null && 't' in message ? message.t : undefined;
    return validators.get(type)?.(message) === true ? (message as M) : undefined;
  };
}
