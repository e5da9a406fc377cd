export { findBrowser } from './browser/process/find-browser.ts';
export type { Capture } from './browser/take-screenshot.ts';
export {
  createScreenshots,
  type CaptureRequest,
  type Screenshots,
  type ScreenshotsOptions,
  type ScreenshotsStatus,
} from './browser/screenshots.ts';
export { classifyError } from './shared/classify-error.ts';
export {
  createContext,
  type Diagnostic,
  type DiagnosticContext,
  type Outcome,
  type ProbeContext,
} from './diagnostic.ts';
export { createTrustStore, type TrustStore } from './tls/certificate/trust-store.ts';
export { loadDiagnostic } from './load.ts';
export type { PacketSocket, PacketSocketOptions, PacketSockets, ReceivedPacket } from './sockets/packet-socket.ts';
export type { PacketProcessOptions } from './sockets/packet-child.ts';
export { loadMemoryRelease } from './sockets/libc.ts';
export { loadReceiveWindow, type ReceiveWindow } from './sockets/receive-window.ts';
export { createPacketSockets, type PacketPrivilege, type PacketProcess } from './sockets/packet-sockets.ts';
export type { PacketProcessStatus } from './sockets/packet-link.ts';
