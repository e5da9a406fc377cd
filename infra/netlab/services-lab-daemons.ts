import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startDaemon, temporaryFolder, type Daemon } from '@vantage/test-support/daemon';
import { unpackPackages, type UnpackedPackages } from '@vantage/test-support/debian-packages';
import { labFamilies, type ServicesLab } from './services-lab.ts';

/**
 * A server of a Debian package on its own port of the lab's target, and a property by which its answer is recognised.
 */
export interface LabService {
  readonly name: string;
  readonly port: number;
  readonly packages: readonly string[];
  readonly program: string;
  /** Returns the program's arguments; may write files into the folder. */
  readonly prepare: (folder: string, packages: UnpackedPackages) => Promise<readonly string[]>;
  readonly isAnswer: (response: Buffer) => boolean;
}

const [v4, v6] = labFamilies;

export const labServices: readonly LabService[] = [
  {
    name: 'DNS (knot)',
    port: 53,
    packages: ['knot', 'knot-dnsutils'],
    program: 'knotd',
    prepare: async (folder) => {
      const listen = `listen: [ 0.0.0.0@53, "::@53" ]\n  udp-workers: 1\n  tcp-workers: 1\n  background-workers: 1`;
      const text = `server:\n  rundir: "${folder}"\n  ${listen}\ndatabase:\n  storage: "${folder}"\n`;
      return ['-c', await written(folder, 'knot.conf', text)];
    },
    // A server without zones answers REFUSED to any query.
    isAnswer: (response) => (response[2]! & 0x80) !== 0 && (response[3]! & 0x0f) === 5,
  },
  {
    name: 'NTP (chrony)',
    port: 123,
    packages: ['chrony'],
    program: 'chronyd',
    prepare: async (folder) => {
      const lines = ['local stratum 8', 'allow all', 'cmdport 0', 'bindcmdaddress /', `pidfile ${folder}/pid`];
      return ['-x', '-d', '-u', 'root', '-f', await written(folder, 'chrony.conf', `${lines.join('\n')}\n`)];
    },
    // Version 4, mode 4 (server): RFC 5905 section 7.3.
    isAnswer: (response) => response.length === 48 && (response[0]! & 0x3f) === 0x24,
  },
  {
    name: 'SNMP (snmpd)',
    port: 161,
    packages: ['snmpd'],
    program: 'snmpd',
    prepare: async (folder) => {
      const text = 'rocommunity public\nrocommunity6 public\nsysDescr the lab\n';
      const file = await written(folder, 'snmpd.conf', text);
      return ['-f', '-Lo', '-C', '-c', file, '-p', join(folder, 'pid'), '-M', '', '-m', '', 'udp:161', 'udp6:161'];
    },
    isAnswer: (response) => response.includes('the lab'),
  },
  {
    name: 'QUIC (ngtcp2)',
    port: 443,
    packages: ['ngtcp2-server'],
    program: 'gtlsserver',
    prepare: async (folder) => {
      const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
      const subject = ['-subj', '/CN=lab.example', '-days', '2'];
      execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', certificate], {
        stdio: 'ignore',
      });
      return ['-q', '*', '443', key, certificate];
    },
    // Version negotiation (RFC 9000 section 17.2.1) that offers version 1.
    isAnswer: (response) =>
      (response[0]! & 0x80) !== 0 && response.readUInt32BE(1) === 0 && response.includes(Buffer.of(0, 0, 0, 1)),
  },
  {
    name: 'STUN (coturn)',
    port: 3478,
    packages: ['coturn'],
    program: 'turnserver',
    prepare: async (folder) => {
      const listening = ['-L', '0.0.0.0', '-L', '::', '-p', '3478'];
      const files = ['--log-file', 'stdout', '--pidfile', join(folder, 'pid'), '-b', join(folder, 'db')];
      return ['-n', ...listening, '--stun-only', '--no-auth', '--no-tls', '--no-dtls', '--no-cli', ...files];
    },
    // STUN Binding success response with the magic cookie (RFC 8489 section 5).
    isAnswer: (response) => response.readUInt16BE(0) === 0x01_01 && response.readUInt32BE(4) === 0x21_12_a4_42,
  },
  {
    name: 'SIP (kamailio)',
    port: 5060,
    packages: ['kamailio'],
    program: 'kamailio',
    prepare: async (folder, packages) => {
      await mkdir(join(folder, 'run'));
      const modules = `${packages.environment['LD_LIBRARY_PATH']?.split(':')[0] ?? ''}/kamailio/modules/`;
      const lines = [
        'debug=0',
        'log_stderror=yes',
        'fork=no',
        'children=1',
        'disable_tcp=yes',
        'auto_aliases=no',
        'dns=no',
        `listen=udp:${v4.target}:5060`,
        `listen=udp:[${v6.target}]:5060`,
        `mpath="${modules}"`,
        'loadmodule "sl.so"',
        'request_route { sl_send_reply("200", "OK"); }',
      ];
      const file = await written(folder, 'kamailio.cfg', `#!KAMAILIO\n${lines.join('\n')}\n`);
      return ['-f', file, '-DD', '-E', '-Y', join(folder, 'run'), '-m', '16', '-M', '4'];
    },
    isAnswer: (response) => response.toString('latin1').startsWith('SIP/2.0 200 '),
  },
  {
    name: 'CoAP (libcoap)',
    port: 5683,
    packages: ['libcoap3-bin'],
    program: 'coap-server-notls',
    prepare: async () => ['-A', '::', '-p', '5683'],
    // CoAP Reset message, which is always empty (RFC 7252 sections 3 and 4.2).
    isAnswer: (response) => response.length === 4 && response[0] === 0x70,
  },
];

/** Starts a service on the lab's target, and waits until its UDP port is open. */
export async function startService(lab: ServicesLab, service: LabService): Promise<Daemon> {
  const packages = await unpackPackages(...service.packages);
  const folder = await temporaryFolder();
  const args = await service.prepare(folder.path, packages);
  const port = `:${service.port.toString(16).toUpperCase().padStart(4, '0')} `;
  const isListening = async (): Promise<boolean> => {
    return (await lab.run('target', 'cat', '/proc/net/udp', '/proc/net/udp6')).includes(port);
  };
  const daemon = await startDaemon(packages, service.program, args, isListening, lab.inside('target'));
  const stop = async (): Promise<void> => {
    await daemon.stop();
    await folder.remove();
  };
  return { ...daemon, stop };
}

async function written(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}
