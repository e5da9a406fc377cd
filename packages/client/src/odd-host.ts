import type { TargetMistake, TypeFacts } from './target-fix.ts';
import { hostFor, readTarget } from './target-text.ts';

/** A typed target in three parts: `https://`, `user@example.com:443` and `/path`. */
interface Parts {
  readonly scheme: string;
  readonly authority: string;
  readonly rest: string;
}

/** Recognises hosts that cannot be a target, or are hardly meant as one, in URLs too; undefined for all others. */
export function oddHost(typed: string, facts: TypeFacts): TargetMistake | undefined {
  const [, scheme = '', authority = '', rest = ''] = /^(https?:\/\/)?([^/?#]*)(.*)$/is.exec(typed) ?? [];
  const parts = { scheme, authority, rest };
  return (
    halfScheme(typed, facts) ??
    schemeWithoutHost(typed, facts) ??
    emptyUrl(typed) ??
    autonomousSystem(typed) ??
    credentials(parts, facts) ??
    zone(parts, facts) ??
    wideAddress(parts, facts) ??
    oddCharacter(parts, facts) ??
    oddPort(parts, facts) ??
    oddAddress(parts, facts)
  );
}

function halfScheme(typed: string, facts: TypeFacts): TargetMistake | undefined {
  const [, scheme = '', host] = /^(https?)(?::\/?|\/\/)(?=[\w[])(.*)$/is.exec(typed) ?? [];
  if (host === undefined || /^\d{1,5}$/.test(host)) return undefined;
  return mistake(`“${typed}” is no URL: “://” has to follow ${scheme}.`, facts, {
    scheme: `${scheme}://`,
    authority: host,
    rest: '',
  });
}

/** Schemes of URLs without `//`: none has a host, but an address for mail or calls ends in a domain. */
const WITHOUT_HOST =
  /^(mailto|sips?|xmpp|tel|sms|data|javascript|urn|magnet|blob|about):(?!\d{1,5}$)(?:[^@?]*@([^?;]+))?/i;

function schemeWithoutHost(typed: string, { type, hostKind }: TypeFacts): TargetMistake | undefined {
  const [, scheme, domain] = WITHOUT_HOST.exec(typed) ?? [];
  if (scheme === undefined) return undefined;
  const message = `Only URLs with http or https can be checked, not ${scheme.toLowerCase()}.`;
  if (domain === undefined || !isName(domain)) return { message, fixes: [] };
  const mail = scheme.toLowerCase() === 'mailto' ? [{ type: 'dns', host: domain, recordType: 'MX' }] : [];
  const own = type === 'dns' && mail.length > 0 ? [] : [{ type, host: hostFor(hostKind, domain) }];
  return { message, fixes: [...mail, ...own] };
}

function emptyUrl(typed: string): TargetMistake | undefined {
  return /^https?:\/\/([:/?#]|$)/i.test(typed) ? { message: 'The URL has no host.', fixes: [] } : undefined;
}

function autonomousSystem(typed: string): TargetMistake | undefined {
  if (!/^as\d{1,10}$/i.test(typed)) return undefined;
  const message = `${typed} is a network of many addresses (an autonomous system); a check measures one host. As a location it selects the probes in that network.`;
  return { message, fixes: [] };
}

function credentials({ scheme, authority, rest }: Parts, facts: TypeFacts): TargetMistake | undefined {
  const at = authority.lastIndexOf('@');
  if (at < 0) return undefined;
  const host = authority.slice(at + 1);
  const message = 'A user name or password (the part before “@”) belongs to no check: others can read what was asked.';
  return host === '' ? { message, fixes: [] } : mistake(message, facts, { scheme, authority: host, rest });
}

/** An IPv6 address with a zone id: `fe80::1%eth0`, in URLs `[fe80::1%25eth0]`. */
function zone({ scheme, authority, rest }: Parts, facts: TypeFacts): TargetMistake | undefined {
  const [, address, id, port = ''] = /^\[?([\da-f]*:[\da-f:.]*)%(?:25)?([^\]]*)\]?(:\d+)?$/i.exec(authority) ?? [];
  if (address === undefined) return undefined;
  // Without its zone, a link-local address is a different one on each link.
  if (/^fe[89ab]/i.test(address)) {
    const message = `${address}%${id} is an address on one link, named by an interface of one machine: probes cannot reach it.`;
    return { message, fixes: [] };
  }
  const message = `“%${id}” names an interface of one machine, which probes do not know.`;
  return mistake(message, facts, { scheme, authority: `[${address}]${port}`, rest });
}

/** An address in fullwidth characters, as an input method for Chinese or Japanese writes them: `１９２.０.２.１`. */
function wideAddress({ scheme, authority, rest }: Parts, facts: TypeFacts): TargetMistake | undefined {
  const plain = authority.normalize('NFKC').replaceAll('。', '.');
  if (plain === authority || !isAddress(readTarget(plain).host)) return undefined;
  const message = `“${authority}” only looks like ${plain}: its characters are of another width.`;
  return mistake(message, facts, { scheme, authority: plain, rest });
}

export function isAddress(host: string): boolean {
  return isDecimalQuad(host) || /^[\da-f]*:[\da-f:.]*:[\da-f.]*$/i.test(host);
}

/** Punctuation that no host name has. */
const PUNCTUATION = /["“”„‘’‚«»<>(){}|^`,;!$&'=+~\\]/;

function oddCharacter({ scheme, authority, rest }: Parts, facts: TypeFacts): TargetMistake | undefined {
  const [character] = PUNCTUATION.exec(authority) ?? [];
  if (character === undefined) return undefined;
  const message = `“${character}” is part of no host name.`;
  const inside = authority.split(PUNCTUATION).find((part) => isName(part));
  return inside === undefined || rest.includes('>')
    ? { message, fixes: [] }
    : mistake(message, facts, { scheme, authority: inside, rest: rest.replace(/["'”’>),;]+$/, '') });
}

/** True for a text of two or more labels, such as a name with a dot or an IPv4 address, with or without a port. */
function isName(text: string): boolean {
  return /^[^.:]+(\.[^.:]+)+(:\d{1,5})?$/.test(text);
}

function oddPort({ scheme, authority, rest }: Parts, facts: TypeFacts): TargetMistake | undefined {
  const [, host, port] = /^([^:[\]]+):([^:]*)$/.exec(authority) ?? [];
  if (host === undefined || (/^\d+$/.test(port!) && isPort(Number(port)))) return undefined;
  const message = `“${port}” is no port, which is a number from 1 to 65535.`;
  return mistake(message, facts, { scheme, authority: host, rest });
}

function isPort(number: number): boolean {
  return number >= 1 && number <= 65_535;
}

/** Numbers that some programs read as an IPv4 address: `127.1`, `0x7f000001`, `010.0.0.1`. */
function oddAddress({ scheme, authority, rest }: Parts, facts: TypeFacts): TargetMistake | undefined {
  const [, numbers, port = ''] = /^((?:0x[\da-f]*|\d+)(?:\.(?:0x[\da-f]*|\d+)){0,3}\.?)(:\d+)?$/i.exec(authority) ?? [];
  if (numbers === undefined || isDecimalQuad(numbers)) return undefined;
  const canonical = canonicalOf(numbers);
  if (canonical === undefined) return { message: 'An IPv4 address has four numbers from 0 to 255.', fixes: [] };
  const parts = [canonical, ...decimalOf(numbers)].map((host) => ({ scheme, authority: `${host}${port}`, rest }));
  const message =
    parts.length === 1
      ? 'An IPv4 address is written as four decimal numbers.'
      : 'Some programs read numbers with a leading zero as octal, some as decimal.';
  // A bare number is more likely a port or an id than an address such as 0.0.1.187.
  if (canonical.startsWith('0.')) return { message, fixes: [] };
  return { message, fixes: parts.flatMap((part) => mistake(message, facts, part).fixes) };
}

function isDecimalQuad(text: string): boolean {
  const labels = text.split('.');
  return labels.length === 4 && labels.every((label) => /^(0|[1-9]\d{0,2})$/.test(label) && Number(label) <= 255);
}

/** The address that WHATWG URL reads; undefined if it reads none. */
function canonicalOf(numbers: string): string | undefined {
  const url = `http://${numbers}/`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** The numbers without leading zeros, if there are some and WHATWG URL reads another address; empty otherwise. */
function decimalOf(numbers: string): readonly string[] {
  const decimal = numbers.replaceAll(/(?<=^|\.)0+(?=\d)/g, '');
  return decimal !== numbers && isDecimalQuad(decimal) && decimal !== canonicalOf(numbers) ? [decimal] : [];
}

/**
 * A mistake with the checks that the client may have meant: the parts of the target are in the fields that they belong
 * to.
 */
function mistake(message: string, { type, hostKind, hasPort }: TypeFacts, parts: Parts): TargetMistake {
  const { scheme, authority, rest } = parts;
  const { host, port } = readTarget(authority);
  const isUrl = hostKind === 'url';
  if (isUrl || scheme !== '') {
    const url = { type: 'http', host: `${scheme === '' ? hostFor('url', authority) : `${scheme}${authority}`}${rest}` };
    const bare = { type, host };
    return { message, fixes: isUrl ? [url] : [bare, url] };
  }
  if (port === undefined) return { message, fixes: [{ type, host }] };
  return { message, fixes: [{ type: hasPort ? type : 'tcp', host, port: Number(port) }] };
}
