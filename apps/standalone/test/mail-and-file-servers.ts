import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import type { Issued } from '@vantage/test-support/certificate-mint';
import { freeServerPort, startDaemon, type Daemon } from '@vantage/test-support/daemon';
import { unpackPackages } from '@vantage/test-support/debian-packages';

/** Packages of servers that begin TLS in a dialogue. */
export const SERVER_PACKAGES = [['vsftpd'], ['python3-aiosmtpd']] as const;

/** Servers of other vendors on loopback, as `host:port`. */
export interface RealServers {
  readonly ftp: string;
  readonly smtp: string;
  readonly close: () => Promise<void>;
}

const SMTP_SERVER = `
import signal, ssl, sys
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(sys.argv[2], sys.argv[3])
Controller(Sink(), hostname='127.0.0.1', port=int(sys.argv[1]), tls_context=context).start()
signal.pause()
`;

/** @param issued certificate for 127.0.0.1 */
export async function startRealServers(folder: string, issued: Issued): Promise<RealServers> {
  const [certFile, keyFile, emptyFile] = ['cert.pem', 'key.pem', 'vsftpd.conf'].map((name) => join(folder, name));
  writeFileSync(certFile!, issued.cert);
  writeFileSync(keyFile!, issued.key, { mode: 0o600 });
  writeFileSync(emptyFile!, '');
  const [ftpPort, smtpPort] = [await freeServerPort(), await freeServerPort()];
  const options = {
    listen: 'YES',
    listen_address: '127.0.0.1',
    listen_port: ftpPort,
    background: 'NO',
    seccomp_sandbox: 'NO',
    ssl_enable: 'YES',
    rsa_cert_file: certFile,
    rsa_private_key_file: keyFile,
    secure_chroot_dir: folder,
    anonymous_enable: 'NO',
    local_enable: 'YES',
  };
  const ftp = await startDaemon(
    await unpackPackages(...SERVER_PACKAGES[0]),
    'vsftpd',
    [emptyFile!, ...Object.entries(options).map(([name, value]) => `-o${name}=${value}`)],
    () => isGreeting(ftpPort),
  );
  const packages = await unpackPackages(...SERVER_PACKAGES[1]);
  const path = join(packages.folder, 'usr/lib/python3/dist-packages');
  let smtp: Daemon;
  try {
    smtp = await startDaemon(
      { ...packages, environment: { ...packages.environment, PYTHONPATH: path } },
      'python3',
      ['-c', SMTP_SERVER, String(smtpPort), certFile!, keyFile!],
      () => isGreeting(smtpPort),
    );
  } catch (error) {
    await ftp.stop();
    throw error;
  }
  return {
    ftp: `127.0.0.1:${ftpPort}`,
    smtp: `127.0.0.1:${smtpPort}`,
    close: async () => {
      await ftp.stop();
      await smtp.stop();
    },
  };
}

function isGreeting(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => undefined);
    socket.once('data', () => {
      socket.end();
      resolve(true);
    });
    socket.once('error', reject).once('close', () => resolve(false));
  });
}
