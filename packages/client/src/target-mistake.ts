import { isAddress, oddHost } from './odd-host.ts';
import type { TargetFix, TargetMistake, TypeFacts } from './target-fix.ts';
import { hostFor, portIn, readTarget } from './target-text.ts';

/** Usual ports of URL schemes. */
const schemePorts: Readonly<Record<string, number>> = {
  ftp: 21,
  ssh: 22,
  sftp: 22,
  telnet: 23,
  smtp: 25,
  gopher: 70,
  pop3: 110,
  imap: 143,
  ldap: 389,
  smtps: 465,
  ldaps: 636,
  ftps: 990,
  imaps: 993,
  pop3s: 995,
  mysql: 3306,
  rdp: 3389,
  postgresql: 5432,
  redis: 6379,
};

const takesPort = new Set(['tcp', 'udp']);

/** Recognises common mistakes in a typed target; undefined for all other texts, which the service validates. */
export function targetMistake(text: string, facts: TypeFacts): TargetMistake | undefined {
  const typed = text.trim();
  if (/\s/.test(typed)) return blanks(typed, facts);
  const mistake = otherScheme(typed, facts) ?? network(typed, facts) ?? oddHost(typed, facts);
  return mistake ?? (facts.hostKind === 'url' ? undefined : notAHost(typed, facts));
}

/** The check type that corresponds to a command. */
const commands: Readonly<Record<string, string>> = {
  curl: 'http',
  dig: 'dns',
  host: 'dns',
  mtr: 'traceroute',
  nc: 'tcp',
  nslookup: 'dns',
  telnet: 'tcp',
  tracepath: 'traceroute',
  tracert: 'traceroute',
  wget: 'http',
  whois: 'info',
};

const recordTypes = new Set('A AAAA CAA CNAME DNSKEY DS HTTPS MX NAPTR NS PTR SOA SRV SVCB TLSA TXT'.split(' '));

function blanks(typed: string, { type, types }: TypeFacts): TargetMistake {
  // Removes quotes, brackets and separators around the words.
  const words = withoutFlags(typed.split(/\s+/)).map((word) => word.replace(/^["'“”„‘’(<]+|["'“”‘’)>,;]+$/g, ''));
  const first = words[0]?.toLowerCase() ?? '';
  const named = types.find((name) => name === (commands[first] ?? first));
  const hosts = words.map(hostIn).filter((host) => host !== undefined);
  const given = words.find((word) => /^\d{1,5}$/.test(word));
  // Except for a dns check, record types must be in capitals: in lower case, `a` may be a word of a sentence.
  const isDns = (named ?? type) === 'dns';
  const recordType = words.map((word) => (isDns ? word.toUpperCase() : word)).find((word) => recordTypes.has(word));
  const meantFor = ({ host, port = given }: Typed): string => {
    const guess = recordType !== undefined ? 'dns' : port === undefined ? type : 'tcp';
    return named ?? (host.includes('://') ? 'http' : guess);
  };
  const fixes = hosts
    .slice(0, 3)
    .flatMap((typedHost) => fixesOf(typedHost, meantFor(typedHost), { given, recordType }));
  const portless = hosts.find((host) => host.port !== undefined && hasNoPort(meantFor(host)));
  const message = portless === undefined ? 'A host name contains no blanks.' : noPort(meantFor(portless));
  return { message, fixes };
}

interface Typed {
  readonly host: string;
  /** Port written behind the host. */
  readonly port?: string;
}

/** Checks of one of the typed hosts, of the type that was meant. */
function fixesOf(
  { host, port }: Typed,
  type: string,
  { given, recordType }: { readonly given: string | undefined; readonly recordType: string | undefined },
): readonly TargetFix[] {
  if (host.includes('://')) return urlFixes(host, type);
  const number = port ?? given;
  if (type === 'dns' && isAddress(host) && recordType !== 'PTR') return addressFixes(host);
  const record = recordType !== undefined && type === 'dns' ? { recordType } : {};
  if (port !== undefined && type === 'http') return [{ type, host: `${host}:${port}` }];
  if (number !== undefined && takesPort.has(type)) return [{ type, host, port: Number(number) }];
  // The port was typed on purpose: only a check of a port measures what was asked.
  const tcp = port === undefined ? [] : [{ type: 'tcp', host, port: Number(port) }];
  return [...tcp, { type, host, ...record }];
}

/** The checks that a dns check of an address may mean. */
function addressFixes(host: string): readonly TargetFix[] {
  return [
    { type: 'dns', host, recordType: 'PTR' },
    { type: 'info', host },
  ];
}

function hasNoPort(type: string): boolean {
  return type !== 'http' && !takesPort.has(type);
}

/**
 * The URL itself first, then its host for a type that measures hosts; for another scheme, the fixes of `otherScheme`.
 */
function urlFixes(url: string, type: string): readonly TargetFix[] {
  const other = otherScheme(url, { type, hostKind: type === 'http' ? 'url' : 'host', hasPort: false, types: [] });
  if (other !== undefined) return other.fixes;
  const http = { type: 'http', host: url };
  const port = takesPort.has(type) ? portIn(url) : undefined;
  const bare = { type, host: hostFor('host', url), ...(port === undefined ? {} : { port: Number(port) }) };
  return type === 'http' ? [http] : [http, bare];
}

/** Leaves out options (`-c 4`, `+short`) and the server of `dig` (`@192.0.2.53`). */
function withoutFlags(words: readonly string[]): readonly string[] {
  return words.filter(
    (word, index) => !/^[-+@]/.test(word) && !(/^\d+$/.test(word) && words[index - 1]?.startsWith('-') === true),
  );
}

function hostIn(word: string): { readonly host: string; readonly port?: string } | undefined {
  if (word.includes('://') || /^[0-9a-f]*:[0-9a-f:.]*:[0-9a-f.]*$/i.test(word)) return { host: word };
  return /^(?:[^.:/]+(?:\.[^.:/]+)+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(word) ? readTarget(word) : undefined;
}

function otherScheme(typed: string, { type, hostKind }: TypeFacts): TargetMistake | undefined {
  const [, scheme, authority] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i.exec(typed) ?? [];
  if (scheme === undefined || /^https?$/i.test(scheme)) return undefined;
  const { host, port } = readTarget(authority!.replace(/^.*@/, ''));
  const known = port === undefined ? schemePorts[scheme.toLowerCase()] : Number(port);
  const message = `Only URLs with http or https can be checked, not ${scheme.toLowerCase()}.`;
  if (host === '') return { message, fixes: [] };
  const tcp = known === undefined ? [] : [{ type: 'tcp', host, port: known }];
  return { message, fixes: [...tcp, hostKind === 'url' ? { type: 'http', host: `https://${host}` } : { type, host }] };
}

function network(typed: string, { type, hostKind }: TypeFacts): TargetMistake | undefined {
  const [, address] = /^\[?([0-9a-f.:]+)\]?\/\d{1,3}$/i.exec(typed) ?? [];
  // In a URL, the number may be a path.
  if (address === undefined || hostKind === 'url') return undefined;
  return { message: `${typed} is a network. A check measures one address.`, fixes: [{ type, host: address }] };
}

/** The mistake of a URL whose path or port a check of a host would ignore; undefined if nothing is ignored. */
function lostOfUrl(typed: string, { type, hasPort }: Pick<TypeFacts, 'type' | 'hasPort'>): TargetMistake | undefined {
  const [, port, rest] = /^https?:\/\/[^/?#]*?(?::(\d{1,5}))?((?:[/?#].*)?)$/i.exec(typed) ?? [];
  const hasPath = !/^\/?(?:#.*)?$/.test(rest ?? '');
  const isPortLost = port !== undefined && !hasPort;
  if ((!hasPath && !isPortLost) || !URL.canParse(typed)) return undefined;
  const host = hostFor('host', typed);
  const ofUrl = hasPort ? portIn(typed) : undefined;
  const tcp = isPortLost ? [{ type: 'tcp', host, port: Number(port) }] : [];
  return {
    message: hasPath ? `“${rest}” is part of a URL, not of a host.` : noPort(type),
    fixes: [
      { type: 'http', host: typed },
      ...tcp,
      { type, host, ...(ofUrl === undefined ? {} : { port: Number(ofUrl) }) },
    ],
  };
}

function noPort(type: string): string {
  if (type === 'traceroute') return 'A traceroute check takes the port of its packets as an option.';
  return `${/^[aeio]/.test(type) ? 'An' : 'A'} ${type} check has no port.`;
}

function notAHost(typed: string, { type, hasPort }: TypeFacts): TargetMistake | undefined {
  if (/^https?:\/\//i.test(typed)) return lostOfUrl(typed, { type, hasPort });
  const [, host, path] = /^([^/?#@]+)([/?#].*)$/.exec(typed) ?? [];
  if (host !== undefined) {
    const bare = readTarget(host);
    const message = `“${path}” is part of a URL, not of a host.`;
    return {
      message,
      fixes: [
        { type, host: bare.host },
        { type: 'http', host: hostFor('url', typed) },
      ],
    };
  }
  const { host: name, port } = readTarget(typed);
  if (port === undefined || hasPort) return undefined;
  return {
    message: noPort(type),
    fixes: [
      { type: 'tcp', host: name, port: Number(port) },
      { type, host: name },
    ],
  };
}
