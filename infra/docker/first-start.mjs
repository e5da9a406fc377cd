// Creates once what `docker compose up` needs before it can start; volumes keep it:
//   first-start.mjs secrets   passwords, the users of Redis, CA and certificate; as root, to set the owner of each file
//   first-start.mjs probes    records and Redis users of the probes, and the environment files of their agents
// Both keep what exists, except for the rights of Redis users, which a release may change. They run in the
// coordinator's image.
import { createHash, randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** User id in our images. */
const VANTAGE = 1000;
/** User id in the Redis image. */
const REDIS = 999;

const operator = '/setup/operator';
const redis = '/setup/redis';
const coordinator = '/setup/coordinator';
const agents = '/setup/agents';
const redisAddress = 'redis:6380';
const tlsFolder = join(operator, 'tls');

const steps = { secrets, probes };
const step = steps[process.argv[2]];
if (step === undefined) {
  console.error('usage: first-start.mjs secrets|probes');
  process.exit(2);
}
await step();

function secrets() {
  admin(['tls', '--host', 'redis'], { REDIS_TLS_FOLDER: tlsFolder });
  for (const name of ['redis.key', 'redis.crt', 'ca.crt'])
    give(copy(join(tlsFolder, 'redis', name), redis), REDIS, 0o400);
  give(copy(join(tlsFolder, 'ca', 'ca.crt'), coordinator), VANTAGE, 0o444);

  // Redis writes its users to this file: an existing one is newer than the content below.
  const users = join(redis, 'users.acl');
  if (!existsSync(users)) {
    const passwords = {
      operator: randomBytes(32).toString('base64url'),
      coordinator: randomBytes(32).toString('base64url'),
    };
    const login = (user) => `rediss://${user}:${passwords[user]}@${redisAddress}`;
    write(join(operator, 'operator.env'), `REDIS_URL=${login('operator')}\nREDIS_TLS_FOLDER=${tlsFolder}\n`);
    write(
      join(coordinator, 'coordinator.env'),
      `REDIS_URL=${login('coordinator')}\nREDIS_CA_FILE=${join(coordinator, 'ca.crt')}\n`,
    );
    write(
      users,
      [
        // This user cannot log in. It has all rights because Redis reads its append-only file as this user: without
        // them, a restart would omit every transaction, and so the writes of all scripts.
        'user default off resetpass ~* &* +@all',
        `user operator on #${sha256(passwords.operator)} ~* &* +@all`,
        `user coordinator on #${sha256(passwords.coordinator)} ~* &* ${coordinatorRights()}`,
        '',
      ].join('\n'),
    );
    give(users, REDIS, 0o600);
  }
  give(redis, REDIS, 0o700);
  for (const folder of [operator, coordinator]) giveAll(folder, VANTAGE);
  for (const probe of readdirSync(agents)) giveAll(join(agents, probe), VANTAGE);
}

/**
 * Rights to all commands except most of those that Redis calls dangerous. A coordinator reads connections, refusals
 * and slow requests to find a stolen login of an agent, and disables that user.
 */
function coordinatorRights() {
  return '+@all -@dangerous +info +role +client +acl|setuser +acl|getuser +acl|save +acl|users +acl|log +slowlog|get';
}

/**
 * Grants the rights again, because the user of coordinators may be of an earlier release, with fewer rights. Then Redis
 * reads its certificate.
 */
async function prepareRedis() {
  // This script runs in the image of the coordinator, which contains the library.
  const { Redis } = createRequire('/vantage/package.json')('ioredis');
  const ca = readFileSync(join(tlsFolder, 'ca', 'ca.crt'), 'utf8');
  const redis = new Redis(process.env.REDIS_URL, { tls: { ca } });
  redis.on('error', (error) => console.error(error.message));
  await redis.call('ACL', 'SETUSER', 'coordinator', ...coordinatorRights().split(' '));
  await redis.call('ACL', 'SAVE');
  await loadCertificate(redis);
  redis.disconnect();
}

/** Redis reads its certificate, which `secrets` may have renewed, when these settings are set; connections stay open. */
async function loadCertificate(redis) {
  const settings =
    'tls-cert-file /setup/redis/redis.crt tls-key-file /setup/redis/redis.key tls-ca-cert-file /setup/redis/ca.crt';
  await redis.call('CONFIG', 'SET', ...settings.split(' '));
}

/**
 * Writes the probes of this compose project, which run on one machine: their networks and countries are reserved for
 * such use.
 */
async function probes() {
  await prepareRedis();
  const demos = [
    { id: 'demo-1', country: 'QM', asn: 'AS64496' },
    { id: 'demo-2', country: 'QN', asn: 'AS64497' },
    { id: 'demo-3', country: 'QO', asn: 'AS64498' },
  ];
  for (const { id, country, asn } of demos) {
    const number = id.slice(-1);
    const place = ['--datacenter', `Demo datacenter ${number}`, '--country', country];
    const network = ['--isp', `Demo network ${number}`, '--asn', asn];
    const files = ['--metrics', `${id}:9464`, '--env', join(agents, id, 'agent.env')];
    admin(['add', id, '--name', `Demo probe ${number}`, ...place, ...network, '--tag', 'demo', ...files]);
  }
}

function admin(args, more = {}) {
  const { status } = spawnSync(process.execPath, ['dist/admin/main.js', ...args], {
    env: { ...process.env, ...more },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}

function write(file, content) {
  writeFileSync(file, content, { mode: 0o600 });
}

function copy(from, folder) {
  const to = join(folder, from.split('/').at(-1));
  copyFileSync(from, to);
  return to;
}

function give(path, owner, mode) {
  chmodSync(path, mode);
  chownSync(path, owner, owner);
}

/** Changes the owner of a folder and of everything in it, and makes folders private; the modes of files stay. */
function giveAll(folder, owner) {
  mkdirSync(folder, { recursive: true });
  chownSync(folder, owner, owner);
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) giveAll(path, owner);
    else chownSync(path, owner, owner);
  }
}
