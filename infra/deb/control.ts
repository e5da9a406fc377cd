export interface Release {
  readonly version: string;
  /** Debian's name of the architecture. */
  readonly architecture: string;
  /** Oldest C library that the program loads with. */
  readonly libc: string;
  /** Size when installed. */
  readonly kibibytes: number;
}

export function controlFile({ version, architecture, libc, kibibytes }: Release): string {
  return `Package: vantage-agent
Version: ${version}
Architecture: ${architecture}
Maintainer: Vantage <vantage@localhost>
Installed-Size: ${kibibytes}
Section: net
Priority: optional
Depends: libc6 (>= ${libc}), libstdc++6, passwd
Recommends: chromium-headless-shell | chromium, iproute2
Description: probe agent of Vantage, a network diagnostics service
 Measures targets (ping, traceroute, tcp, udp, dns, http) for a Vantage
 service, to which it connects by WebSocket. "vantage-agent enrol" gives it
 its identity; the package has its own Node.js.
`;
}

/**
 * The newest version of a symbol that native files ask a library for, such as `2.34` of `GLIBC`; `0.0` if they ask for
 * none.
 */
export function libraryVersion(files: readonly Buffer[], library: string): string {
  const pattern = new RegExp(`\\b${library}_(\\d+)\\.(\\d+)\\b`, 'g');
  const versions = files
    .flatMap((file) => [...file.toString('latin1').matchAll(pattern)])
    .map(([, major, minor]) => [Number(major), Number(minor)] as const)
    .toSorted(([a, b], [c, d]) => a - c || b - d);
  const [major, minor] = versions.at(-1) ?? [0, 0];
  return `${major}.${minor}`;
}

/** Replacements that turn the systemd unit for a bare host into that of the package. */
const CHANGES: readonly (readonly [from: string, to: string])[] = [
  ['/usr/bin/node ', '/usr/lib/vantage-agent/node '],
  ['/opt/vantage-agent/dist/', '/usr/lib/vantage-agent/dist/'],
  ['BROWSER=/opt/vantage-agent/', 'BROWSER=/usr/lib/vantage-agent/'],
  [
    '# Files: /opt/vantage-agent (the program, as the image has it below /vantage), /etc/vantage/agent.env (mode 0600, of root).\n',
    '',
  ],
  [
    '# A user that exists only while the agent runs.\nDynamicUser=yes\nUser=vantage-agent\n',
    'User=vantage-agent\nGroup=vantage-agent\n',
  ],
];

/**
 * The unit of the package: that of a bare host with other paths and the user of the package.
 *
 * @throws Error if a text to be replaced is missing in that unit
 */
export function unitFile(bareHost: string): string {
  return CHANGES.reduce((unit, [from, to]) => {
    if (!unit.includes(from)) throw new Error(`the unit has no "${from.trim()}"`);
    return unit.replaceAll(from, to);
  }, bareHost);
}
