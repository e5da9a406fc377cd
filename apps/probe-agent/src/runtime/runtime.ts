import type { Admit, AnyCheckType, Job, NameLookup } from '@vantage/contract';
import type { Diagnostic, PacketProcessStatus, PacketSockets, ReceiveWindow } from '@vantage/diagnostics';
import type { CheckTypeName } from '@vantage/diagnostics/contract';
import type { Logger } from 'pino';

import type { RawSockets } from './capabilities.ts';
import type { Config } from '../config/config.ts';
import type { Connectivity } from './connectivity.ts';
import type { ScreenshotOffer } from './screenshot-offer.ts';

/** @returns the reason for which the target is refused, or undefined */
export type TargetCheck = (type: CheckTypeName, params: Job['params']) => string | undefined;

/** Dependencies of an agent's measurements. */
export interface ProbeRuntime {
  readonly loadDiagnostic: (type: CheckTypeName) => Promise<Diagnostic<AnyCheckType>>;
  readonly checkTarget: TargetCheck;
  readonly admit: Admit;
  readonly names: NameLookup;
  /** The configured resolvers, else those of the system, which change when a machine changes networks. */
  readonly resolvers: () => readonly string[];
  readonly isPrivateAddress: (address: string) => boolean;
  /** Called for each job, since raw sockets may become available after the start. */
  readonly packets: () => PacketSockets | { readonly unavailable: string };
  /** Status of the packet process, if there is one. */
  readonly packetProcess?: (() => PacketProcessStatus) | undefined;
  readonly certificateAuthorities: readonly string[];
  readonly receiveWindow?: ReceiveWindow | undefined;
  /** Returns freed memory to the system, if that is possible. */
  readonly releaseMemory?: (() => void) | undefined;
  readonly screenshots: ScreenshotOffer;
  /** Called whenever the capabilities of the probe are reported. */
  readonly rawSockets: () => RawSockets;
  readonly connectivity: () => Connectivity;
  /** Reports an address of Redis, or of the proxy or gateway in place of it, which is never a permitted target. */
  readonly noteRedis: (address: string | undefined, port: number | undefined) => void;
  readonly close: () => Promise<void>;
}

export type OpenRuntime = (config: Config, log: Logger) => Promise<ProbeRuntime>;
