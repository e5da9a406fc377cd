import { unpackPackages } from '@vantage/test-support/debian-packages';
import { labFamilies, labPorts, type LabNode, type ServicesLab } from './services-lab.ts';

/**
 * Payload size of pings; of the echo requests with this size, the target refuses every second one, beginning with the
 * first.
 */
export const FLAKY_PAYLOAD_BYTES = 114;

/**
 * Adds packet filters on the target (see `labPorts`) and on the router. The router does not refuse by routes (`ip route
 * add prohibit`): for those, Linux sends few ICMP errors in a row, a limit that is not per namespace.
 */
export async function filterPackets(lab: ServicesLab): Promise<void> {
  const both = 'meta l4proto { tcp, udp } th dport';
  await filter(lab, 'target', 'input', [
    `${both} ${labPorts.dropped} drop`,
    `tcp dport ${labPorts.reset} reject with tcp reset`,
    `${both} ${labPorts.prohibited} reject with icmpx admin-prohibited`,
    `${both} ${labPorts.rejected} reject`,
    `icmp type echo-request ip length ${20 + 8 + FLAKY_PAYLOAD_BYTES} numgen inc mod 2 == 0 reject with icmpx host-unreachable`,
    `icmpv6 type echo-request ip6 length ${8 + FLAKY_PAYLOAD_BYTES} numgen inc mod 2 == 0 reject with icmpx host-unreachable`,
  ]);
  const refusals = labFamilies.flatMap(({ family, prohibited, unreachable }) => {
    const destination = family === 4 ? 'ip daddr' : 'ip6 daddr';
    return [
      `${destination} ${prohibited} reject with icmpx admin-prohibited`,
      `${destination} ${unreachable} reject with icmpx host-unreachable`,
    ];
  });
  await filter(lab, 'router', 'forward', refusals);
}

async function filter(lab: ServicesLab, node: LabNode, hook: string, rules: readonly string[]): Promise<void> {
  const packages = await unpackPackages('nftables');
  const chain = [`type filter hook ${hook} priority 0;`, ...rules].join('\n');
  const table = `table inet ports {\nchain ${hook} {\n${chain}\n}\n}\n`;
  const libraries = `LD_LIBRARY_PATH=${packages.environment['LD_LIBRARY_PATH'] ?? ''}`;
  await lab.run(node, 'env', libraries, packages.program('nft'), table);
}
