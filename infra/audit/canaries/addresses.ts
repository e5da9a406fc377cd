/** Addresses of the agent, which has a single link. */
export const AGENT = { ipv4: '10.99.0.2', ipv6: 'fd00:99::2', public: '45.79.1.1' } as const;
/** Addresses of the other end of that link, through which the agent reaches everything. */
export const WORLD = { ipv4: '10.99.0.1', ipv6: 'fd00:99::1' } as const;

/** Port of the agent’s Redis. Redis, gateway and resolver are no canaries: the agent itself sends packets to them. */
export const REDIS_PORT = 6_379;
/** Port of the agent’s gateway. */
export const GATEWAY_PORT = 6_443;
export const DNS_PORT = 53;

/** Public addresses that clients may measure, assigned inside the lab; no packet leaves it. */
export const PUBLIC = { ipv4: '45.33.32.10', ipv6: '2606:2800:21f::10' } as const;

/** Public addresses without a host in the lab. */
export const VACANT = Array.from({ length: 12 }, (_, index) => `45.33.32.${index + 20}`);

/** The root servers, at their real addresses. */
export const ROOTS = [
  '198.41.0.4',
  '170.247.170.2',
  '192.33.4.12',
  '199.7.91.13',
  '192.203.230.10',
  '192.5.5.241',
  '192.112.36.4',
  '198.97.190.53',
  '192.36.148.17',
  '192.58.128.30',
  '193.0.14.129',
  '199.7.83.42',
  '202.12.27.33',
  '2001:503:ba3e::2:30',
  '2801:1b8:10::b',
  '2001:500:2::c',
  '2001:500:2d::d',
  '2001:500:a8::e',
  '2001:500:2f::f',
  '2001:500:12::d0d',
  '2001:500:1::53',
  '2001:7fe::53',
  '2001:503:c27::2:30',
  '2001:7fd::1',
  '2001:500:9f::42',
  '2001:dc3::35',
] as const;

/**
 * Addresses that must not receive a packet, each with its description; packets to them arrive in the namespace `world`.
 */
export const CANARIES = {
  '10.0.0.1': 'private',
  '172.16.0.1': 'private',
  '192.168.1.1': 'private',
  '100.64.0.1': 'shared by carriers',
  '169.254.169.254': 'metadata of clouds',
  '169.254.1.1': 'link-local',
  '192.0.2.1': 'documentation',
  '198.18.0.1': 'benchmarks',
  '240.0.0.1': 'reserved',
  'fd00:ec2::254': 'metadata of a cloud',
  'fd12:3456::1': 'private',
  'fec0::1': 'site-local',
  '2001:db8::1': 'documentation',
  '64:ff9b::a00:1': '10.0.0.1 behind NAT64',
  '64:ff9b:1::a00:1': '10.0.0.1 behind a NAT64 of one’s own',
  '2002:a00:1::1': '10.0.0.1 as 6to4',
  '2001:0:a00:1::1': 'Teredo',
} as const;

/**
 * Further addresses that the agent must refuse: of its own machine and its link, multicast, broadcast, and IPv4
 * addresses in notations of IPv6.
 */
export const OWN = [
  '127.0.0.1',
  '127.8.8.8',
  '0.0.0.0',
  '0.1.2.3',
  '::1',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::127.0.0.1',

  AGENT.ipv4,
  AGENT.ipv6,
  AGENT.public,
  WORLD.ipv4,
  WORLD.ipv6,
  'fe80::1',
  '224.0.0.1',
  'ff02::1',
  '255.255.255.255',
] as const;

/** Other notations of addresses that the agent must refuse, some of which lenient parsers read, and local names. */
export const SPELLINGS = [
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '127.0.0.1.',
  '0',
  '①②⑦.⓪.⓪.①',
  '１２７.0.0.1',
  '127。0。0。1',
  '10.0.0.1%00',
  '10.0.0.1\u0000.net',
  '10.0.0.1 ',
  ' 10.0.0.1',

  '[::1]',
  '[::ffff:10.0.0.1]',
  '::1%lo',
  'fe80::1%agent',
  '[fe80::1%25agent]',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:a00:1',

  'localhost',
  'LOCALHOST.',
  'a.localhost',
  'metadata.google.internal',
  'router.lan',
  'printer.local',
  'ip6-localhost',
  '169.254.169.254.',
  '0xa9fea9fe',
  '2852039166',
  'user@10.0.0.1',
  '10.0.0.1:80',
  '10.0.0.1#.net',
  '10.0.0.1/24',
] as const;

/** Zone of the lab's name server. */
export const ZONE = 'vantage-canary.net';
