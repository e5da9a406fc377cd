import type { Family } from '@vantage/contract';
import type { DialogueRules, OAuth2Grant, RequestRules, TlsRules } from '@vantage/diagnostics/contract';

interface Common {
  readonly name: string;
  /** Line of its name in the file. */
  readonly line: number;
  /** Time for one probe, milliseconds; 0 if only the scrape bounds it. */
  readonly timeoutMs: number;
  /** The only address family allowed; undefined: IPv4 if target and probe have it, otherwise IPv6. */
  readonly family: Family | undefined;
}

export interface IcmpModule extends Common {
  readonly prober: 'icmp';
  readonly payloadBytes: number;
  readonly ttl: number | undefined;
}

/** A prober that blackbox_exporter does not have. */
export interface TracerouteModule extends Common {
  readonly prober: 'traceroute';
}

export interface TcpModule extends Common {
  readonly prober: 'tcp';
  /** Undefined for a connection without a dialogue. */
  readonly dialogue: Omit<DialogueRules, 'timeoutMs' | 'tlsOptions'> | undefined;
  readonly tlsOptions: TlsRules;
}

/** A rule about a header of the response. */
export interface HeaderRule {
  readonly header: string;
  readonly regexp: string;
  /** True: the probe fails if a value matches; false: if none does. */
  readonly failsOnMatch: boolean;
  readonly allowMissing: boolean;
}

/** A rule about the body of the response. */
export type BodyRule = Pick<HeaderRule, 'regexp' | 'failsOnMatch'>;

/** Rules about the records of one section, as expressions. */
export interface RecordRules {
  readonly failIfAnyMatches: readonly string[];
  /** Passes if there are no records. */
  readonly failUnlessAllMatch: readonly string[];
  /** Fails if there are no records. */
  readonly failIfOneDiffers: readonly string[];
  /** Fails if no record matches any of them. */
  readonly failIfNoneMatches: readonly string[];
}

export const recordSections = ['answer', 'authority', 'additional'] as const;
export type RecordSection = (typeof recordSections)[number];

export type Coding = NonNullable<RequestRules['compression']>['coding'];

export interface HttpModule extends Common {
  readonly prober: 'http';
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The header Host; undefined: that of the URL. */
  readonly host: string | undefined;
  readonly body: string | undefined;
  /** Credentials for a token, which is requested before each probe. */
  readonly oauth2: OAuth2Grant | undefined;
  /** Content coding that the body must have. */
  readonly compression: Coding | undefined;
  readonly followRedirects: boolean;
  readonly http2: boolean;
  readonly tlsOptions: TlsRules;
  /** Accepted status codes; if empty, 200 to 299. */
  readonly validStatusCodes: readonly number[];
  /** Accepted versions, for example `HTTP/1.1`; if empty, all. */
  readonly validHttpVersions: readonly string[];
  readonly failIfSsl: boolean;
  readonly failIfNotSsl: boolean;
  /** Size of a body above which the probe fails, bytes; 0 for no limit. */
  readonly bodySizeLimit: number;
  readonly headerRules: readonly HeaderRule[];
  readonly bodyRules: readonly BodyRule[];
}

export interface DnsModule extends Common {
  readonly prober: 'dns';
  readonly transport: 'udp' | 'tcp' | 'tls';
  readonly queryName: string;
  readonly queryType: string;
  readonly recursionDesired: boolean;
  readonly validRcodes: readonly string[];
  readonly recordRules: Readonly<Record<RecordSection, RecordRules>>;
}

/** How a module measures, and its criteria of success. */
export type Module = IcmpModule | TracerouteModule | TcpModule | HttpModule | DnsModule;

/** An option that prevents a module from being run. */
export interface ModuleRefusal {
  readonly module: string;
  readonly line: number;
  readonly option: string;
  readonly reason: string;
}
