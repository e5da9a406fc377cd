/**
 * Help texts by name. All are gauges except the summary `vantage_probe_rtt_seconds`; those that begin with `probe_`
 * have the texts of blackbox_exporter.
 */
export const families = {
  probe_success: 'Displays whether or not the probe was a success',
  probe_duration_seconds: 'Returns how long the probe took to complete in seconds',
  probe_ip_protocol: 'Specifies whether probe ip protocol is IP4 or IP6',
  probe_ip_addr_hash: "Specifies the hash of IP address. It's useful to detect if the IP address changes.",
  probe_dns_lookup_time_seconds: 'Returns the time taken for probe dns lookup in seconds',
  probe_failed_due_to_regex: 'Indicates if probe failed due to regex',
  probe_icmp_duration_seconds: 'Duration of icmp request by phase',
  probe_icmp_reply_hop_limit: 'Replied packet hop limit (TTL for ipv4)',
  probe_http_duration_seconds: 'Duration of http request by phase, summed over all redirects',
  probe_http_content_length: 'Length of http content response',
  probe_http_uncompressed_body_length: 'Length of uncompressed response body',
  probe_http_redirects: 'The number of redirects',
  probe_http_ssl: 'Indicates if SSL was used for the final redirect',
  probe_http_status_code: 'Response HTTP status code',
  probe_http_version: 'Returns the version of HTTP of the probe response',
  probe_http_last_modified_timestamp_seconds: 'Returns the Last-Modified HTTP response header in unixtime',
  probe_ssl_earliest_cert_expiry: 'Returns last SSL chain expiry in unixtime',
  probe_ssl_last_chain_expiry_timestamp_seconds: 'Returns last SSL chain expiry in timestamp',
  probe_ssl_last_chain_info: 'Contains SSL leaf certificate information',
  probe_tls_version_info: 'Returns the TLS version used or NaN when unknown',
  probe_dns_duration_seconds: 'Duration of DNS request by phase',
  probe_dns_answer_rrs: 'Returns number of entries in the answer resource record list',
  probe_dns_authority_rrs: 'Returns number of entries in the authority resource record list',
  probe_dns_additional_rrs: 'Returns number of entries in the additional resource record list',
  probe_dns_query_succeeded: 'Displays whether or not the query was executed successfully',
  probe_dns_serial: 'Returns the serial number of the zone',
  vantage_probe_info: 'Always 1; its labels are the place of the probe.',
  vantage_probe_measured:
    '1 if the probe measured the target, 0 if it did not, such as one that is offline, is too busy or whose resolver fails.',
  vantage_probe_packets_sent: 'Packets that the probe sent.',
  vantage_probe_packets_lost: 'Packets that were not answered in time.',
  vantage_probe_jitter_seconds: 'Mean of the absolute differences between the RTTs of neighbouring replies.',
  vantage_probe_hops: 'Hops to the target, or to the last router that answered.',
  vantage_probe_path_hash: 'Number of the path: equal if the same routers answered at the same hops.',
  vantage_probe_rtt_seconds: 'RTTs of the answered packets of this probe run.',
} as const;

export type FamilyName = keyof typeof families;

/** One line of the exposition. */
export interface Sample {
  readonly family: FamilyName;
  /** Suffix of the names of a summary: `_sum`, `_count`. */
  readonly suffix?: '_sum' | '_count';
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function gauge(family: FamilyName, value: number, labels: Readonly<Record<string, string>> = {}): Sample {
  return { family, labels, value };
}

export function seconds(milliseconds: number | null | undefined): number {
  return (milliseconds ?? 0) / 1_000;
}

/** One sample per phase, in seconds. */
export function phases(family: FamilyName, byPhase: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(byPhase).map(([phase, ms]) => gauge(family, seconds(ms), { phase }));
}
