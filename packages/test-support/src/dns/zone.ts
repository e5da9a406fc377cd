/** A record of a zone file for an independent name server. */
export interface ZoneRecord {
  /** Relative to the zone. */
  readonly owner: string;
  readonly type: string;
  readonly data: string;
}

const base64 = (octets: number): string =>
  Buffer.from(Array.from({ length: octets }, (_, at) => (at * 7) & 0xff)).toString('base64');
const hex = (octets: number): string =>
  Buffer.from(Array.from({ length: octets }, (_, at) => (at * 11) & 0xff)).toString('hex');

const rows: readonly (readonly [type: string, data: string])[] = [
  ['A', '192.0.2.1'],
  ['AAAA', '2001:db8::1:0:0:1'],
  ['AFSDB', '1 afs.example.com.'],
  ['APL', '1:192.0.2.0/24 !1:192.0.2.128/25 2:2001:db8::/32'],
  ['CAA', '128 issue "ca.example; account=\\"1\\""'],
  ['CDNSKEY', `257 3 13 ${base64(64)}`],
  ['CDS', `12345 13 2 ${hex(32)}`],
  ['CERT', `PKIX 12345 RSASHA256 ${base64(90)}`],
  ['CNAME', 'target.example.net.'],
  ['CSYNC', '66 3 A NS AAAA'],
  ['DHCID', base64(35)],
  ['DNAME', 'other.example.net.'],
  ['DS', `12345 13 2 ${hex(32)}`],
  ['EUI48', '00-00-5e-00-53-2a'],
  ['EUI64', '00-00-5e-ef-10-00-00-2a'],
  ['HINFO', '"INTEL PC" "LINUX"'],
  ['HTTPS', '1 . alpn="h3,h2" no-default-alpn port=8443 ipv4hint=192.0.2.1 ipv6hint=2001:db8::1'],
  ['IPSECKEY', `10 1 2 192.0.2.38 ${base64(33)}`],
  ['KX', '2 kx.example.com.'],
  ['L32', '10 10.1.2.0'],
  ['L64', '10 2001:0db8:1140:1000'],
  ['LOC', '52 22 23.000 N 4 53 32.000 E -2.00m 10m 100m 10m'],
  ['LP', '10 l64-subnet1.example.com.'],
  ['MINFO', 'requests.example.com. errors.example.com.'],
  ['MX', '10 Mail.Example.COM.'],
  ['NAPTR', '100 10 "u" "E2U+sip" "!^(.*)$!sip:\\\\1@example.com!" .'],
  ['NID', '10 0014:4fff:ff20:ee64'],
  ['NS', 'ns.elsewhere.example.'],
  ['OPENPGPKEY', base64(120)],
  ['PTR', 'host\\.with\\.dots.example.com.'],
  ['RP', 'admin.example.com. .'],
  ['RT', '10 relay.example.com.'],
  ['SMIMEA', `3 0 0 ${hex(90)}`],
  ['SPF', '"v=spf1 -all"'],
  ['SRV', '10 60 5060 sip.example.com.'],
  ['SSHFP', `4 2 ${hex(32)}`],
  ['SVCB', '1 svc.example.net. alpn="dot" port=853 key667="hello"'],
  ['TLSA', `3 1 1 ${hex(32)}`],
  ['TXT', '"one" "" "three; \\"four\\" \\\\ \\000\\255"'],
  ['TYPE65280', `\\# 70 ${hex(70)}`],
  ['URI', '10 1 "https://example.com/?q=\\"x\\""'],
  ['ZONEMD', `2018031500 1 241 ${hex(48)}`],
];

/**
 * One owner per type, named after it, and none at the apex: a `DS` record, for example, belongs to the parent's side.
 */
export const zoneRecords: readonly ZoneRecord[] = rows.map(([type, data]) => ({
  owner: type.toLowerCase(),
  type,
  data,
}));

/** Number of TXT records of `large`, which together do not fit into a UDP answer of 1232 bytes. */
const MANY = 60;

/**
 * A zone file with the given records, and with owners for further cases: `www` has several addresses, `*.wild` is a
 * wildcard, `alias` a CNAME, and `large` has more records than fit into a UDP answer.
 */
export function zoneFile(zone: string, records: readonly ZoneRecord[] = zoneRecords): string {
  const lines = [
    `$ORIGIN ${zone}`,
    '$TTL 3600',
    '@ SOA server hostmaster.example.com. 4294967295 7200 3600 1209600 300',
    '@ NS server',
    'server A 127.0.0.1',
    'www 60 A 192.0.2.10',
    'www 60 A 192.0.2.11',
    'www 60 AAAA 2001:db8::10',
    '*.wild TXT "made of an asterisk"',
    'alias CNAME www',
    ...Array.from({ length: MANY }, (_, at) => `large TXT "${String(at).padStart(3, '0')} ${'x'.repeat(60)}"`),
    ...records.map(({ owner, type, data }) => `${owner} ${type} ${data}`),
  ];
  return `${lines.join('\n')}\n`;
}
