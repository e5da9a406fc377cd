import { openFailFast, openSubscriber } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { openChannels, type Channels } from './channels.ts';
import { createRedisClock, type RedisClock } from './clock.ts';
import { closeAll } from './connections.ts';
import type { Log } from './log.ts';
import { createMasterGate, type MasterGate } from './server-state/master-gate.ts';
import { createMasterWatch, type MasterWatch } from './server-state/master-watch.ts';
import { createOutageGrace } from './server-state/outage-grace.ts';
import { createReplicaWait, type ReplicaWait } from './server-state/replica-wait.ts';
import { loadScripts, type Script } from './scripts.ts';
import { createWriteWatch, type WriteWatch } from './server-state/write-watch.ts';

export interface StoreOptions {
  readonly redisUrl: string;
  /** Certificates in PEM that a TLS server may present; without them those that Node trusts. */
  readonly redisCertificates?: string | undefined;
  /** How many replicas a check must have reached before it is promised, and how long that may take; none where absent. */
  readonly replicas?: { readonly count: number; readonly withinMs: number } | undefined;
  readonly log: Log;
}

/** The connections of a coordinator, and what hangs on them alone. */
export interface Store {
  /** For what a caller waits for. */
  readonly requests: Redis;
  /** For background work: what it waits for holds no caller up. */
  readonly background: Redis;
  readonly channels: Channels;
  readonly clock: RedisClock;
  readonly replicas: ReplicaWait;
  readonly master: MasterWatch;
  /** Of `background`: results are committed and deadlines enforced only while it is open. */
  readonly gate: MasterGate;
  readonly writes: WriteWatch;
  /** True for a moment after an outage of Redis, in which no deadline is enforced. */
  readonly isGrace: () => boolean;
  readonly log: Log;
  /** One more connection; it is closed with the others. */
  readonly open: (name: string, options?: { readonly replyWithinMs: number }) => Redis;
  /** Loads scripts whenever the connection is there, so that the first run of each is as short as the others. */
  readonly preload: (scripts: readonly Script[]) => void;
  readonly close: () => Promise<void>;
}

/** Connects at once, whether Redis is there or not, and again when it comes back. */
export function openStore({ redisUrl, redisCertificates: certificates, replicas, log }: StoreOptions): Store {
  const connection = (name: string) => ({ url: redisUrl, certificates, name: `vantage:coordinator:${name}`, log });
  const connections: Redis[] = [];
  const open: Store['open'] = (name, options) => {
    const opened = openFailFast({ ...connection(name), ...options });
    connections.push(opened);
    return opened;
  };
  const requests = open('requests');
  const background = open('background');
  const channels = openChannels(openSubscriber(connection('subscriber')));
  const { count = 0, withinMs = 0 } = replicas ?? {};
  const master = createMasterWatch(requests, () => [...connections, channels.connection]);

  const requestGate = createMasterGate(requests, master);

  return {
    ...{ requests, background, channels, open, log },
    master: {
      ...master,
      find: (redis, read) => {
        if (redis === requests) requestGate.pass();
        return master.find(redis, read);
      },
    },
    gate: createMasterGate(background, master),
    clock: createRedisClock(),
    writes: createWriteWatch(background, log),
    replicas: createReplicaWait({
      connection: count === 0 ? background : open('replicas'),
      ...{ writer: requests, master, replicas: count, withinMs, log },
    }),
    isGrace: createOutageGrace(background),
    preload: (scripts) => {
      background.on('ready', () => {
        loadScripts(background, scripts).catch((error: unknown) => {
          log.warn({ error }, 'scripts could not be loaded ahead; each is sent when first needed');
        });
      });
    },
    close: () => closeAll([...connections, channels.connection]),
  };
}
