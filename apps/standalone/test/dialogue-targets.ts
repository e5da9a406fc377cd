import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createSecureContext, createServer as createTlsServer, TLSSocket, type SecureContext } from 'node:tls';

import { certificateMint, type Issued } from '@vantage/test-support/certificate-mint';

import { startRealServers } from './mail-and-file-servers.ts';

/** Servers on loopback that speak line by line, as `host:port`. */
export interface DialogueTargets {
  readonly at: Readonly<Record<keyof typeof scripts | keyof typeof tlsServers | 'vsftpd' | 'aiosmtpd', string>>;
  /** File of the certificate of an authority that is not trusted by default, PEM. */
  readonly ownCaFile: string;
  readonly close: () => Promise<void>;
}

/** Answers to a line of the client; `TLS` starts a handshake, `END` ends the connection. */
type Script = (line: string, encrypted: boolean) => readonly string[];

interface Talk {
  readonly greeting: string | Buffer;
  readonly reply: Script;
}

const EHLO = ['250-mail.target.example', '250-PIPELINING', '250-STARTTLS', '250 HELP'];
const ready = (line: string): readonly string[] => (/^STARTTLS$/.test(line) ? ['220 ready', 'TLS'] : []);

const scripts = {
  smtp: {
    greeting: '220-mail.target.example ESMTP\r\n220 welcome\r\n',
    reply: (line) => (line.startsWith('EHLO ') ? EHLO : line === 'QUIT' ? ['221 bye', 'END'] : ready(line)),
  },
  imap: {
    greeting: '* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n',
    reply: (line, encrypted) => {
      const [tag, command] = line.split(' ');
      if (command === 'STARTTLS') return [`${tag} OK begin`, 'TLS'];
      return [`* CAPABILITY IMAP4rev1${encrypted ? ' AUTH=PLAIN' : ''}`, `${tag} OK done`];
    },
  },
  pop3: { greeting: '+OK ready <1896.697170952@target.example>\r\n', reply: () => ['-ERR what'] },
  irc: {
    greeting: ':irc NOTICE * :looking up\r\nPING :4f2a\n',
    reply: (line) => (line === 'PONG 4f2a-:4f2a$' ? [':irc 001 prober :Welcome'] : []),
  },
  refusing: { greeting: '220 hello\r\n', reply: (line) => (line === 'STARTTLS' ? ['454 not now', 'END'] : EHLO) },
  garbage: {
    greeting: '220 hello\r\n',
    reply: (line) => (line === 'STARTTLS' ? ['220 ready', 'this is no TLS'] : EHLO),
  },
  busy: { greeting: '554 too busy', reply: () => [] },
  silent: { greeting: '', reply: () => [] },
  endless: { greeting: 'x'.repeat(200_000), reply: () => [] },
  binary: { greeting: Buffer.from([0x61, 0xff, 0x62, 0x0d, 0x0a, 0x0a]), reply: () => [] },
} as const satisfies Readonly<Record<string, Talk>>;

const tlsServers = {
  pop3s: { maxVersion: 'TLSv1.3' },
  oldTls: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' },
  ownTls: {},
} as const;

/**
 * @param issued certificate for 127.0.0.1 and target.example of the authority that Vantage and blackbox_exporter trust
 */
export async function startDialogueTargets(folder: string, issued: Issued): Promise<DialogueTargets> {
  const mint = certificateMint();
  const authority = mint.issue({ subject: '/O=Another Authority/CN=Another Root', ca: true });
  const own = mint.issue({ issuer: authority, subject: '/CN=own.example', names: ['DNS:own.example', 'IP:127.0.0.1'] });
  mint.close();
  const ownCaFile = join(folder, 'own-ca.pem');
  writeFileSync(ownCaFile, authority.cert);
  const context = createSecureContext({ key: issued.key, cert: issued.cert });
  const servers: Server[] = [];
  const listen = async (server: Server): Promise<string> => {
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const at: Record<string, string> = {};
  for (const [name, talk] of Object.entries(scripts)) {
    at[name] = await listen(createServer((socket) => speak(socket, talk, context)));
  }
  for (const [name, options] of Object.entries(tlsServers)) {
    const { key, cert } = name === 'ownTls' ? own : issued;
    at[name] = await listen(
      createTlsServer({ key, cert, ...options }, (socket) => speak(socket, scripts.pop3, context)),
    );
  }
  const real = await startRealServers(folder, issued);
  return {
    at: { ...(at as DialogueTargets['at']), vsftpd: real.ftp, aiosmtpd: real.smtp },
    ownCaFile,
    close: async () => {
      for (const server of servers) server.close();
      await real.close();
    },
  };
}

function speak(socket: Socket, { greeting, reply }: Talk, context: SecureContext): void {
  socket.on('error', () => undefined);
  if (typeof greeting === 'string' && greeting.startsWith('554')) socket.end(greeting);
  else socket.write(greeting);
  follow(socket, reply, context, socket instanceof TLSSocket);
}

function follow(socket: Socket, reply: Script, context: SecureContext, encrypted: boolean): void {
  const lines = createInterface({ input: socket, crlfDelay: Infinity });
  lines.on('error', () => undefined);
  lines.on('line', (line) => {
    for (const answer of reply(line, encrypted)) {
      if (answer === 'END') socket.end();
      else if (answer !== 'TLS') socket.write(`${answer}\r\n`);
      else {
        lines.close();
        socket.removeAllListeners('data');
        const secure = new TLSSocket(socket, { isServer: true, secureContext: context });
        secure.on('error', () => undefined);
        follow(secure, reply, context, true);
      }
    }
  });
}
