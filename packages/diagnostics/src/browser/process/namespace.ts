import { execFile, type ChildProcess } from 'node:child_process';
import { Server } from 'node:net';

/** User and group of the browser; empty if they are those of the agent. */
export interface Identity {
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

/** The port of the proxy inside a network namespace, where nothing else listens. */
export const NAMESPACE_PROXY_PORT = 3128;

/** Descriptor of Node's IPC channel, after those of the browser; it is closed before the browser starts. */
export const CHANNEL_DESCRIPTOR = 5;

const TRY_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 500;

/**
 * A new namespace has only its own loopback interface. A socket stays in the namespace where it was made, so a short
 * program inside opens the listener, hands it to the agent and exits; then the browser is started in its place.
 */
const insideNamespace = `ip link set lo up || exit 71
"$1" -e "$2" || exit 72
shift 2
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
exec ${CHANNEL_DESCRIPTOR}>&-
exec "$@"`;

// `connected` is also polled: if the agent is killed, `disconnect` may be missed.
const openListener = `const server = require('node:net').createServer();
server.listen(${NAMESPACE_PROXY_PORT}, '127.0.0.1', () => process.send('listener', server));
process.once('disconnect', () => process.exit(0));
setInterval(() => process.connected || process.exit(1), ${POLL_INTERVAL_MS});`;

/**
 * The command that runs another one in a separate network namespace. Users other than root need a kernel that lets them
 * create user namespaces.
 */
export function inNamespace(identity: Identity, command: readonly string[]): readonly [string, ...string[]] {
  return [
    ...enter(identity),
    'sh',
    '-c',
    insideNamespace,
    'sh',
    process.execPath,
    openListener,
    ...drop(identity),
    ...command,
  ];
}

/** True if this agent can create the network namespace of `inNamespace`. */
export function canMakeNamespace(identity: Identity): Promise<boolean> {
  const [program, ...words] = [
    ...enter(identity),
    'sh',
    '-c',
    'ip link set lo up && exec "$@"',
    'sh',
    ...drop(identity),
    'true',
  ];
  return new Promise((resolve) => {
    execFile(program, words, { timeout: TRY_TIMEOUT_MS, env: { PATH: SYSTEM_PATH } }, (error) =>
      resolve(error === null),
    );
  });
}

export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Resolves with the listener inside the namespace. Closing the channel ends the program inside. */
export function listenerFrom(child: ChildProcess): Promise<Server> {
  return new Promise((resolve) => {
    child.once('message', (_message, handle) => {
      if (child.connected) child.disconnect();
      if (handle instanceof Server) resolve(handle);
    });
  });
}

/** Root creates a namespace directly; other users inside a user namespace, if the kernel allows that. */
function enter({ uid }: Identity): readonly [string, ...string[]] {
  if (uid !== undefined) return ['unshare', '--net', '--'];
  return ['unshare', '--user', '--map-current-user', '--keep-caps', '--net', '--'];
}

function drop({ uid, gid }: Identity): readonly string[] {
  const capabilities = ['--inh-caps=-all', '--ambient-caps=-all', '--'];
  if (uid === undefined) return ['setpriv', ...capabilities];
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid ?? uid}`, '--clear-groups', ...capabilities];
}
