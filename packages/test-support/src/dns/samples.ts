import { u16, u32, wireName, wireText } from './wire.ts';

export interface SampleRecord {
  readonly type: string;
  readonly code: number;
  /** Purpose of the sample. */
  readonly reason: string;
  readonly data: Uint8Array;
}

const octets = (count: number, start = 0): number[] =>
  Array.from({ length: count }, (_, at) => (start + at * 7) & 0xff);

const v6 = (...groups: readonly number[]): number[] => groups.flatMap(u16);

const bitmap = (...types: readonly number[]): number[] => {
  const blocks = new Map<number, number[]>();
  for (const type of types) {
    const block = blocks.get(type >> 8) ?? [];
    const at = (type & 0xff) >> 3;
    while (block.length <= at) block.push(0);
    block[at]! |= 0x80 >> (type & 7);
    blocks.set(type >> 8, block);
  }
  return [...blocks].flatMap(([number, block]) => [number, block.length, ...block]);
};

const parameter = (key: number, value: readonly number[]): number[] => [...u16(key), ...u16(value.length), ...value];

const text = (value: string): number[] => [...Buffer.from(value, 'latin1')];

const location = (size: number, latitude: number, longitude: number, altitude: number, version = 0): number[] => {
  return [version, size, 0x16, 0x13, ...u32(0x80000000 + latitude), ...u32(0x80000000 + longitude), ...u32(altitude)];
};

const rows: readonly (readonly [type: string, code: number, reason: string, data: readonly number[]])[] = [
  ['A', 1, 'plain', [192, 0, 2, 1]],
  ['NS', 2, 'plain', wireName('ns1.example.net')],
  ['NS', 2, 'the case of letters is kept', wireName('NS1.Example.NET')],
  ['CNAME', 5, 'plain', wireName('target.example.org')],
  ['CNAME', 5, 'the root', wireName('.')],
  ['CNAME', 5, 'octets that need escapes', [13, ...text('a.b\\c"d;(@)$'), 1, 2, 0, 0x20, 3, 0x7f, 0xff, 0x2a, 0]],
  [
    'SOA',
    6,
    'numbers above 2^31',
    [
      ...wireName('ns.example'),
      ...wireName('host.master.example'),
      ...u32(4294967295),
      ...u32(7200),
      ...u32(3600),
      ...u32(1209600),
      ...u32(2147483648),
    ],
  ],
  ['PTR', 12, 'plain', wireName('host.example.com')],
  ['HINFO', 13, 'with a space', [...wireText('INTEL PC'), ...wireText('LINUX')]],
  ['MX', 15, 'plain', [...u16(10), ...wireName('mail.example.com')]],
  ['MX', 15, 'null MX', [...u16(0), 0]],
  ['TXT', 16, 'one string', wireText('v=spf1 include:example.net -all')],
  ['TXT', 16, 'several, one empty', [...wireText('one'), ...wireText(''), ...wireText('three; four')]],
  ['TXT', 16, 'quotes, backslashes and other octets', wireText('a"b\\c\u0000\u001f ~\u007f\u0080\u00ff,;@$()')],
  ['TXT', 16, 'the longest string', wireText('x'.repeat(255))],
  ['RP', 17, 'plain', [...wireName('admin.example.com'), ...wireName('.')]],
  ['AFSDB', 18, 'plain', [...u16(1), ...wireName('afs.example.com')]],
  ['AAAA', 28, 'plain', v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)],
  ['AAAA', 28, 'the first of two runs of equal length', v6(0x2001, 0, 0, 1, 0, 0, 1, 1)],
  ['AAAA', 28, 'a run of one is not shortened', v6(0x2001, 0xdb8, 0, 1, 1, 1, 1, 1)],
  ['AAAA', 28, 'a longer second run', v6(0x2001, 0, 0, 1, 0, 0, 0, 1)],
  ['AAAA', 28, 'the unspecified address', v6(0, 0, 0, 0, 0, 0, 0, 0)],
  ['AAAA', 28, 'loopback', v6(0, 0, 0, 0, 0, 0, 0, 1)],
  ['AAAA', 28, 'IPv4-mapped', v6(0, 0, 0, 0, 0, 0xffff, 0xc000, 0x0201)],
  ['AAAA', 28, 'IPv4-compatible', v6(0, 0, 0, 0, 0, 0, 0xc000, 0x0201)],
  ['AAAA', 28, 'zeros at the end', v6(0xfe80, 0, 0, 0, 0, 0, 0, 0)],
  ['LOC', 29, 'north and west', location(0x33, 151_254_000, -255_978_000, 10_000_000 - 2_400)],
  ['LOC', 29, 'south and east with fractions', location(0x00, -123_456_789, 543_210_987, 10_000_000 + 123_456)],
  ['LOC', 29, 'the equator, and centimetres', location(0x91, 0, 0, 10_000_000)],
  ['LOC', 29, 'the poles and the largest sphere', location(0x99, 324_000_000, -648_000_000, 4_294_967_295)],
  ['LOC', 29, 'the lowest altitude', location(0x12, 1, -1, 0)],
  ['SRV', 33, 'plain', [...u16(10), ...u16(60), ...u16(5060), ...wireName('sip.example.com')]],
  [
    'NAPTR',
    35,
    'with a regular expression',
    [...u16(100), ...u16(10), ...wireText('u'), ...wireText('E2U+sip'), ...wireText('!^(.*)$!sip:\\1@example.com!'), 0],
  ],
  [
    'NAPTR',
    35,
    'with a replacement',
    [
      ...u16(1),
      ...u16(2),
      ...wireText('s'),
      ...wireText('SIP+D2U'),
      ...wireText(''),
      ...wireName('_sip._udp.example.com'),
    ],
  ],
  ['KX', 36, 'plain', [...u16(2), ...wireName('kx.example.com')]],
  ['CERT', 37, 'mnemonics', [...u16(1), ...u16(12345), 8, ...octets(80)]],
  ['CERT', 37, 'numbers', [...u16(1000), ...u16(0), 0, ...octets(3)]],
  ['CERT', 37, 'private algorithm, URI', [...u16(253), ...u16(65535), 254, ...octets(57)]],
  ['DNAME', 39, 'plain', wireName('new.example.com')],
  ['DS', 43, 'SHA-256', [...u16(20326), 8, 2, ...octets(32)]],
  ['DS', 43, 'SHA-384', [...u16(1), 13, 4, ...octets(48, 9)]],
  ['SSHFP', 44, 'SHA-256', [4, 2, ...octets(32)]],
  [
    'RRSIG',
    46,
    'plain',
    [
      ...u16(1),
      8,
      2,
      ...u32(300),
      ...u32(1_800_000_000),
      ...u32(1_700_000_000),
      ...u16(12345),
      ...wireName('example.com'),
      ...octets(128),
    ],
  ],
  [
    'RRSIG',
    46,
    'a type without a name',
    [...u16(65400), 13, 3, ...u32(86400), ...u32(1_767_225_600), ...u32(1_764_547_200), ...u16(1), 0, ...octets(64)],
  ],
  [
    'NSEC',
    47,
    'types of several blocks',
    [...wireName('b.example.com'), ...bitmap(1, 2, 6, 15, 16, 28, 46, 47, 48, 257, 1234, 65280)],
  ],
  ['DNSKEY', 48, 'zone key', [...u16(256), 3, 8, ...octets(132)]],
  ['DNSKEY', 48, 'key signing key', [...u16(257), 3, 13, ...octets(64)]],
  ['NSEC3', 50, 'with a salt', [1, 1, ...u16(12), 4, 0xaa, 0xbb, 0xcc, 0xdd, 20, ...octets(20), ...bitmap(1, 46, 51)]],
  ['NSEC3', 50, 'without salt or types', [1, 0, ...u16(0), 0, 20, ...octets(20, 200)]],
  ['NSEC3PARAM', 51, 'with a salt', [1, 0, ...u16(10), 2, 0xab, 0xcd]],
  ['NSEC3PARAM', 51, 'without a salt', [1, 0, ...u16(0), 0]],
  ['TLSA', 52, 'SHA-256', [3, 1, 1, ...octets(32)]],
  ['SMIMEA', 53, 'a whole certificate', [3, 0, 0, ...octets(90)]],
  ['CDS', 59, 'delete', [...u16(0), 0, 0, 0]],
  ['CDNSKEY', 60, 'delete', [...u16(0), 3, 0, 0]],
  ['OPENPGPKEY', 61, 'long', octets(200)],
  ['CSYNC', 62, 'plain', [...u32(66), ...u16(3), ...bitmap(1, 2, 28)]],
  ['ZONEMD', 63, 'SHA-384', [...u32(2018031500), 1, 1, ...octets(48)]],
  ['SVCB', 64, 'alias', [...u16(0), ...wireName('svc.example.net')]],
  [
    'SVCB',
    64,
    'a path template',
    [
      ...u16(1),
      ...wireName('dns.example.net'),
      ...parameter(1, wireText('h2')),
      ...parameter(7, text('/dns-query{?dns}')),
    ],
  ],
  ['SVCB', 64, 'unknown keys', [...u16(1), 0, ...parameter(667, text('hel"lo\\, \u00ff')), ...parameter(668, [])]],
  [
    'SVCB',
    64,
    'commas and backslashes in a protocol',
    [...u16(16), ...wireName('foo.example.org'), ...parameter(1, [...wireText('f\\oo,bar'), ...wireText('h2')])],
  ],
  [
    'HTTPS',
    65,
    'every key',
    [
      ...u16(1),
      0,
      ...parameter(0, [...u16(1), ...u16(4)]),
      ...parameter(1, [...wireText('h3'), ...wireText('h2')]),
      ...parameter(2, []),
      ...parameter(3, u16(8443)),
      ...parameter(4, [192, 0, 2, 1, 192, 0, 2, 2]),
      ...parameter(5, octets(70)),
      ...parameter(6, v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    ],
  ],
  ['SPF', 99, 'plain', wireText('v=spf1 -all')],
  ['EUI48', 108, 'plain', [0x00, 0x00, 0x5e, 0x00, 0x53, 0x2a]],
  ['EUI64', 109, 'plain', [0x00, 0x00, 0x5e, 0xef, 0x10, 0x00, 0x00, 0x2a]],
  ['URI', 256, 'plain', [...u16(10), ...u16(1), ...text('ftp://ftp1.example.com/public?q="x"')]],
  ['CAA', 257, 'issue', [0, ...wireText('issue'), ...text('letsencrypt.org; validationmethods=dns-01')]],
  ['CAA', 257, 'critical, with quotes', [128, ...wireText('iodef'), ...text('mailto:"a\\b"@example.com')]],
  ['CAA', 257, 'an empty value', [0, ...wireText('issuewild')]],
  ['MD', 3, 'plain', wireName('md.example.com')],
  ['MF', 4, 'plain', wireName('mf.example.com')],
  ['MB', 7, 'plain', wireName('mb.example.com')],
  ['MG', 8, 'plain', wireName('mg.example.com')],
  ['MR', 9, 'plain', wireName('mr.example.com')],
  ['MINFO', 14, 'plain', [...wireName('requests.example.com'), ...wireName('.')]],
  ['X25', 19, 'plain', wireText('311061700956')],
  ['ISDN', 20, 'with a subaddress', [...wireText('150862028003217'), ...wireText('004')]],
  ['ISDN', 20, 'without', wireText('150862028003217')],
  ['RT', 21, 'plain', [...u16(10), ...wireName('relay.example.com')]],
  ['NSAP-PTR', 23, 'plain', wireName('host.example.com')],
  ['KEY', 25, 'plain', [...u16(512), 255, 1, ...octets(90)]],
  ['KEY', 25, 'without a key', [...u16(0xc000), 3, 5]],
  ['PX', 26, 'plain', [...u16(10), ...wireName('net2.it'), ...wireName('PRMD-net2.ADMD-p400.C-it')]],
  ['GPOS', 27, 'plain', [...wireText('-32.6882'), ...wireText('116.8652'), ...wireText('10.0')]],
  ['APL', 42, 'both families', [0, 1, 24, 3, 192, 0, 2, 0, 2, 32, 0x84, 0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 0]],
  ['APL', 42, 'none', []],
  ['IPSECKEY', 45, 'no gateway', [10, 0, 2, ...octets(90)]],
  ['IPSECKEY', 45, 'an IPv6 gateway', [10, 2, 2, ...v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), ...octets(33)]],
  ['IPSECKEY', 45, 'a gateway by name', [10, 3, 2, ...wireName('gateway.example.com'), ...octets(33)]],
  ['DHCID', 49, 'long', octets(67)],
  ['HIP', 55, 'plain', [16, 2, ...u16(100), ...octets(16), ...octets(100)]],
  [
    'HIP',
    55,
    'with servers',
    [16, 2, ...u16(30), ...octets(16), ...octets(30), ...wireName('a.example'), ...wireName('b.example')],
  ],
  ['NINFO', 56, 'plain', [...wireText('one'), ...wireText('two')]],
  ['RKEY', 57, 'plain', [...u16(0), 0, 8, ...octets(40)]],
  ['TALINK', 58, 'plain', [...wireName('a.example.com'), ...wireName('.')]],
  ['NID', 104, 'plain', [...u16(10), ...u16(0x14), ...u16(0x4fff), ...u16(0), ...u16(0xee64)]],
  ['L32', 105, 'plain', [...u16(10), 10, 1, 2, 0]],
  ['L64', 106, 'plain', [...u16(10), ...u16(0x2001), ...u16(0xdb8), ...u16(0), ...u16(0)]],
  ['LP', 107, 'plain', [...u16(10), ...wireName('l64.example.com')]],
  ['AVC', 258, 'plain', wireText('app-name:WOLFGANG|app-class:OAM')],
  ['AMTRELAY', 260, 'no relay', [10, 0x80]],
  ['AMTRELAY', 260, 'an IPv4 relay', [10, 1, 203, 0, 113, 15]],
  ['AMTRELAY', 260, 'an IPv6 relay, discovery optional', [10, 0x82, ...v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x15)]],
  ['AMTRELAY', 260, 'a relay by name', [10, 3, ...wireName('amtrelays.example.com')]],
  ['WKS', 11, 'mail and the web over TCP', [192, 0, 2, 1, 6, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0x80]],
  ['WKS', 11, 'no service', [192, 0, 2, 1, 17]],
  ['NSAP', 22, 'plain', [0x47, 0, 5, 0x80, 0, 0x5a, 0, 0, 0, 0, 1, 0xe1, 0x33, 0xff, 0xff, 0xff, 0, 1, 0x61, 0]],
  [
    'SIG',
    24,
    'plain',
    [...u16(1), 8, 2, ...u32(300), ...u32(1_800_000_000), ...u32(1_700_000_000), ...u16(1), 0, ...octets(64)],
  ],
  ['NXT', 30, 'plain', [...wireName('b.example.com'), 0x62, 0x01, 0x00, 0x08]],
  ['EID', 31, 'plain', octets(9)],
  ['NIMLOC', 32, 'plain', octets(40)],
  ['ATMA', 34, 'a number of E.164', [1, ...text('61200000000')]],
  ['ATMA', 34, 'an address of an ATM end system', [0, ...octets(20)]],
  ['A6', 38, 'a whole address', [0, ...v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)]],
  ['A6', 38, 'a suffix and a name', [64, 0, 1, 2, 3, 4, 5, 6, 7, ...wireName('prefix.example.com')]],
  ['A6', 38, 'a name alone', [128, ...wireName('prefix.example.com')]],
  ['SINK', 40, 'plain', [1, 2, 3, ...octets(70)]],
  ['SINK', 40, 'without data', [1, 2, 3]],
  ['DSYNC', 66, 'plain', [...u16(59), 1, ...u16(5359), ...wireName('notify.example.com')]],
  ['DSYNC', 66, 'another type and scheme', [...u16(62), 77, ...u16(53), 0]],
  ['HHIT', 67, 'plain', octets(70)],
  ['BRID', 68, 'plain', octets(70)],
  ['DOA', 259, 'plain', [...u32(1234), ...u32(5), 1, ...wireText('text/plain'), ...octets(70)]],
  ['DOA', 259, 'without data', [...u32(0), ...u32(0), 2, 0]],
  ['RESINFO', 261, 'plain', [...wireText('qnamemin'), ...wireText('exterr=15,16,17')]],
  ['WALLET', 262, 'plain', [...wireText('BTC'), ...wireText('1A1zP1')]],
  ['TA', 32768, 'plain', [...u16(1), 8, 2, ...octets(32)]],
  ['DLV', 32769, 'plain', [...u16(1), 8, 2, ...octets(32)]],
  ['TYPE65280', 65280, 'unknown', octets(70)],
  ['TYPE65281', 65281, 'unknown and empty', []],
];

/** Record data of every type that the codec presents, made by hand. */
export const sampleRecords: readonly SampleRecord[] = rows.map(([type, code, reason, data]) => {
  return { type, code, reason, data: Uint8Array.from(data) };
});
