import { createGateway } from '../../../apps/coordinator/src/gateway/gateway.ts';
import { createProbeService } from '../../../apps/coordinator/src/probes/probe-service.ts';
import { openStore } from '../../../apps/coordinator/src/redis/open-store.ts';
import { startServer } from '../../../apps/coordinator/src/server.ts';
import { nowhere } from '../../../apps/coordinator/test/core-bed.ts';
import { inviteProbe } from '../../trial-probes.ts';

const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * A gateway without the rest of a coordinator: the results of the probe are not read and its jobs are not validated.
 *
 * @returns the token of the probe's agent
 */
export async function openGateway(redisUrl: string, probe: string, host: string, port: number): Promise<string> {
  const origin = `http://${host}:${port}`;
  const store = openStore({ redisUrl, log });
  const { access } = createProbeService(store, {});
  const gateway = createGateway({ store, access, origin, lookUpPlace: nowhere });
  const server = await startServer({ host, port, publicUrl: origin }, () => (_request, response) => {
    response.writeHead(404).end();
  });
  server.onAgent((request, socket, head) =>
    gateway.upgrade(request, socket, head, request.socket.remoteAddress ?? '192.0.2.1'),
  );
  return inviteProbe(redisUrl, probe, origin);
}
