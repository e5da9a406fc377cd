import type { ProbeRecord } from '@vantage/contract';

/** The arguments of `probe:invite`, apart from output and metrics address. */
export interface Invitation {
  readonly id: string;
  /** The record to write; the existing one stays if absent. */
  readonly record: ProbeRecord | undefined;
  readonly uses: number;
  readonly lifeMs: number;
  /** Address of the service, if the operator gave one. */
  readonly url: string | undefined;
  /** True if the agent must be approved. */
  readonly waits: boolean;
}

type Read = Pick<Invitation, 'uses' | 'lifeMs' | 'url'> | { readonly faults: readonly string[] };

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_LIFE_MS = 30 * 86_400_000;
const MOST_USES = 1_000;

/** Reads the options of an invitation; every fault names its option. */
export function readInvitation(given: {
  readonly uses: string | undefined;
  readonly expires: string | undefined;
  readonly url: string | undefined;
}): Read {
  const uses = Number(given.uses ?? '1');
  const [, number = '', unit = ''] = /^(\d{1,8})([smhd])$/.exec(given.expires ?? '1h') ?? [];
  const lifeMs = Number(number) * (UNITS[unit] ?? 0);
  const faults: string[] = [];
  if (!/^\d+$/.test(given.uses ?? '1') || uses < 1 || uses > MOST_USES)
    faults.push(`--uses: must be 1 to ${MOST_USES}`);
  if (lifeMs < 1 || lifeMs > LONGEST_LIFE_MS) {
    faults.push('--expires: must be a number with s, m, h or d, at most 30d, such as 1h');
  }
  if (given.url !== undefined && !isServiceUrl(given.url)) faults.push('--url: must be an http(s) address');
  return faults.length > 0 ? { faults } : { uses, lifeMs, url: given.url };
}

export function isServiceUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

export interface AgentCommands {
  readonly container: string;
  readonly bareHost: string;
}

/**
 * Shell commands that start an agent with a token. `--stop-timeout` has the value of `stop_grace_period` in
 * infra/agent/compose.yml.
 */
export function invitationCommands(id: string, url: string, token: string, image: string): AgentCommands {
  const variables = [`VANTAGE_URL=${quote(url)}`, `VANTAGE_TOKEN=${token}`];
  return {
    container: [
      `docker run --detach --name vantage-${id} --restart unless-stopped --stop-timeout 15 --init --network host`,
      '--cap-drop ALL --cap-add NET_RAW --read-only --tmpfs /tmp --shm-size 256m',
      `--volume vantage-${id}:/var/lib/vantage`,
      ...variables.map((variable) => `--env ${variable}`),
      quote(image),
    ].join(' '),
    bareHost: `${variables.join(' ')} npm run -s agent`,
  };
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
