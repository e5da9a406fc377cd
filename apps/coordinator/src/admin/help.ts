import { keyScopes } from '@vantage/contract';

import { usages as probeUsages } from './arguments/options.ts';
import { doctorUsage } from './doctor/doctor.ts';
import { DEFAULT_KEY_LIMIT, isKeyCommand, keyUsages } from './keys/key-arguments.ts';

const usages = { ...probeUsages, ...keyUsages, doctor: doctorUsage } as const;

const descriptions = {
  add: 'Writes the record of a probe and its Redis user, and prints the environment file of its agent once.',
  rotate: 'Gives the Redis user of a probe a new password and prints the new environment file.',
  invite: 'Prints a token that enrols the agent of a probe, and the commands that start it.',
  approve: 'Approves an agent that waits for it.',
  offer: 'Offers addresses of a probe to the other probes, for traces both ways.',
  metrics: 'Sets the address at which Prometheus finds the metrics of an agent, for GET /sd/agents.',
  suspend: 'Disconnects the agent of a probe until probe:resume.',
  resume: 'Ends the suspension of a probe, and the report that its key was copied.',
  enable: 'Enables the Redis user that the coordinator suspended.',
  remove: 'Removes the key or the Redis user, the record, the queue and the results of a probe.',
  list: 'Prints the records, one JSON object per line.',
  tls: 'Makes the certificate authority and the certificate of Redis.',
  doctor:
    'Looks for what is wrong or soon will be, and says what to do. Exit status: 0 fine, 1 warnings, 2 errors, 3 wrong arguments or settings.',
  'key:add': 'Makes an API key with scopes and a limit, and prints it once.',
  'key:list': 'Prints the API keys, one JSON object per line: prefixes, no secrets.',
  'key:rotate': 'Gives an API key a new secret, and prints it once.',
  'key:remove': 'Removes an API key; coordinators refuse it within two seconds.',
} as const satisfies Record<keyof typeof usages, string>;

/** Options of key commands; some have another meaning for other commands. */
const keyOptions: readonly (readonly [option: string, meaning: string])[] = [
  ['--scopes <scope>,...', `Scopes: ${Object.keys(keyScopes).join(', ')}.`],
  ['--limit <number>', `Requests a minute to each endpoint; default: ${DEFAULT_KEY_LIMIT}.`],
  ['--overlap <duration>', 'How long the old secret stays valid, at most 30d; default: not at all.'],
  ['--expires <duration>', 'Life of the key, such as 30d, or never; default: never, or the end it has.'],
  ['--allow <network>,...', 'Networks whose addresses this key may have measured, if the agents allow them.'],
  ['--json', 'Prints one JSON object.'],
];

const probeOptions: readonly (readonly [option: string, meaning: string])[] = [
  ['--name <text>', 'Name of the probe, shown to everyone.'],
  ['--datacenter <text>', 'Name of its datacenter.'],
  ['--country <code>', 'Two-letter country code, ISO 3166-1.'],
  ['--isp <text>', 'Name of its network.'],
  ['--asn AS<digits>', 'Number of its network.'],
  ['--city <text>', 'City; default: none.'],
  ['--lat <degrees>', 'Latitude, -90 to 90; default: none.'],
  ['--lon <degrees>', 'Longitude, -180 to 180; default: none.'],
  ['--tag <tag>,...', 'Tags to select it by; may be repeated.'],
  [
    '--metrics <host:port>',
    'Address at which Prometheus finds the metrics of the agent; default: none, or the one it has.',
  ],
  ['--env <file>', 'Writes the environment file there, mode 0600, instead of to standard output.'],
  ['--no-ca', 'Leaves the certificate authority out of the environment file.'],
  ['--uses <number>', 'How many keys the token may enrol, the newest replacing the others; default: 1.'],
  ['--expires <duration>', 'Life of the token, such as 30m, 1h or 7d, at most 30d; default: 1h.'],
  ['--approve', 'Lets the agent wait for probe:approve.'],
  ['--url <address>', 'Address of the service for the agent; default: PUBLIC_URL, else that of the running service.'],
  ['--use-place', 'Copies the place that the geo data has for its address into the record.'],
  ['--withdraw', 'Ends it: no address any more.'],
  ['--reason <text>', 'Why it is suspended, shown to everyone.'],
  ['--record-only', 'Writes no Redis user.'],
  ['--overlap', 'Keeps the old password valid until --finish.'],
  ['--finish', 'Voids the old password.'],
  ['--host <host>', 'Name or address in the certificate of Redis; may be repeated.'],
  ['--renew', 'Makes the certificate again.'],
  ['--data <folder>', 'Data folder of a service of npm start, whose Redis is meant.'],
  ['--json', 'Prints one JSON object.'],
];

/** The output of `--help` for one command or all; undefined if no help was requested. */
export function helpText(args: readonly string[]): string | undefined {
  const [word = ''] = args;
  if (word !== 'help' && !args.some((arg) => arg === '--help' || arg === '-h')) return undefined;
  const known = Object.keys(usages) as (keyof typeof usages)[];
  const named = known.filter((command) => command === word);
  const commands = named.length > 0 ? named : known;
  const [ofKeys, ofProbes] = [commands.filter(isKeyCommand), commands.filter((command) => !isKeyCommand(command))];
  return [
    ...(ofProbes.length > 0 ? section(ofProbes, probeOptions) : []),
    ...(ofProbes.length > 0 && ofKeys.length > 0 ? [''] : []),
    ...(ofKeys.length > 0 ? section(ofKeys, keyOptions) : []),
    ...(commands.length === 1 && commands[0] === 'tls'
      ? []
      : ['', 'REDIS_URL, or --data FOLDER of npm start, names the Redis; all settings: docs/agents.md, docs/keys.md.']),
  ].join('\n');
}

function section(
  commands: readonly (keyof typeof usages)[],
  options: readonly (readonly [option: string, meaning: string])[],
): readonly string[] {
  const used = options.filter(([option]) =>
    commands.some((command) => new RegExp(`${option.split(' ')[0]!}(?![\\w-])`).test(usages[command])),
  );
  const width = Math.max(...used.map(([option]) => option.length));
  return [
    ...commands.flatMap((command) => [`${usages[command]}\n    ${descriptions[command]}`]),
    '',
    ...used.map(([option, meaning]) => `  ${option.padEnd(width)}  ${meaning}`),
  ];
}
