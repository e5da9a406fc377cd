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
  /** Trusted CA certificates in PEM; by default those of Node. */
  readonly redisCertificates?: string | undefined;
  /**
   * Number of replicas that must have a check before it is accepted, or all connected ones if they are fewer, and the
   * longest wait. Default: none.
   */
  readonly replicas?: { readonly count: number; readonly withinMs: number } | undefined;
  readonly log: Log;
}

/** The connections of a coordinator, and state derived from them. */
export interface Store {
  /** Connection for requests of clients, and for adding jobs. */
  readonly requests: Redis;
  /** Connection for background tasks, so that their commands do not delay requests. */
  readonly background: Redis;
  readonly channels: Channels;
  readonly clock: RedisClock;
  readonly replicas: ReplicaWait;
  readonly master: MasterWatch;
  /** Gate of `background`: results are committed and deadlines enforced only while it is open. */
  readonly gate: MasterGate;
  readonly writes: WriteWatch;
  /** True for a grace period after an outage of Redis, in which no deadline is enforced. */
  readonly isGrace: () => boolean;
  readonly log: Log;
  /** Opens a further connection; it is closed with the others. */
  readonly open: (name: string, options?: { readonly replyWithinMs: number }) => Redis;
  /** Loads scripts whenever `background` connects, so that the first run of each is not slower. */
  readonly preload: (scripts: readonly Script[]) => void;
  readonly close: () => Promise<void>;
}

/** Connects at once and reconnects whenever the connection is lost. */
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
    requests,
    background,
    channels,
    open,
    log,
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
      writer: requests,
      master,
      replicas: count,
      withinMs,
      log,
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
