import { BlockList, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** True if an address is in a network of one of the machine's interfaces, so that no router lies before it. */
export function isOnLink(address: string): boolean {
  const networks = new BlockList();
  for (const { cidr, family } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
    const [network, bits] = cidr?.split('/') ?? [];
    if (network !== undefined && bits !== undefined)
      networks.addSubnet(network, Number(bits), kindOf(family === 'IPv6'));
  }
  return networks.check(address, kindOf(isIPv6(address)));
}

function kindOf(isSix: boolean): 'ipv4' | 'ipv6' {
  return isSix ? 'ipv6' : 'ipv4';
}
