import type { Admit, AnyCheckType, NameLookup } from '@vantage/contract';
import type { Diagnostic, PacketProcessStatus, PacketSockets, ReceiveWindow } from '@vantage/diagnostics';
import type { CheckTypeName } from '@vantage/diagnostics/contract';
import type { Logger } from 'pino';

import type { RawSockets } from './capabilities.ts';
import type { Config } from './config.ts';
import type { Connectivity } from './connectivity.ts';
import type { Judge } from './handle-job.ts';
import type { ScreenshotOffer } from './screenshot-offer.ts';

/** What the agent measures with. */
export interface AgentParts {
  readonly loadDiagnostic: (type: CheckTypeName) => Promise<Diagnostic<AnyCheckType>>;
  readonly judge: Judge;
  readonly admit: Admit;
  readonly names: NameLookup;
  /** Those of the system change where a machine moves. */
  readonly resolvers: () => readonly string[];
  readonly isPrivateAddress: (address: string) => boolean;
  /** Asked for each job: what is missing at the start may come later. */
  readonly packets: () => PacketSockets | { readonly unavailable: string };
  /** How the packet process fares, where there is one. */
  readonly packetProcess?: (() => PacketProcessStatus) | undefined;
  readonly certificateAuthorities: readonly string[];
  readonly receiveWindow?: ReceiveWindow | undefined;
  readonly screenshots: ScreenshotOffer;
  /** Looked at with every heartbeat. */
  readonly rawSockets: () => RawSockets;
  readonly connectivity: () => Connectivity;
  /** Tells where the agent's Redis was reached: nothing opens it to callers. */
  readonly noteRedis: (address: string | undefined, port: number | undefined) => void;
  readonly close: () => Promise<void>;
}

export type OpenParts = (config: Config, log: Logger) => Promise<AgentParts>;
