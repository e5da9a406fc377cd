import type { Family } from '@vantage/contract';

import type { Libc } from '../libc.ts';
import type { PacketProtocol } from '../packet-socket.ts';
import { ICMP_TYPES } from '../wire/icmp.ts';
import { IPPROTO } from '../wire/ip.ts';

/** Selects the identifiers (ICMP) or local ports whose packets must pass. */
export type SelectIdentifiers = (identifiers: readonly number[]) => void;

type Instruction = readonly [code: number, jumpIfTrue: number, jumpIfFalse: number, constant: number];

/** From `asm-generic/socket.h` of Linux. */
const LINUX = { SOL_SOCKET: 1, SO_ATTACH_FILTER: 26, SO_DETACH_FILTER: 27 } as const;
/** Operations of classic BPF: X := length of the IPv4 header at 0; A := byte or half word at X + k; jumps; return. */
const BPF = { headerToX: 0xb1, byte: 0x50, half: 0x48, jump: 0x05, ifEqual: 0x15, return: 0x06 } as const;
const INSTRUCTION_BYTES = 8;
const PROGRAM_BYTES = 16;
/** A jump passes over at most 255 instructions, and each identifier takes one. */
const MAX_IDENTIFIERS = 250;

/**
 * Makes the kernel drop packets of other identifiers before they take space in the receive buffer: a flood of them
 * would fill the buffer, and replies to a check that no longer fit would count as lost.
 *
 * For more than `MAX_IDENTIFIERS`, or if the kernel refuses the filter (a sandbox such as gVisor), there is none, and
 * the process itself drops such packets.
 */
export function identifierFilter(
  libc: Libc,
  descriptor: number,
  family: Family,
  protocol: PacketProtocol,
): SelectIdentifiers {
  let isRefused = false;
  return (identifiers) => {
    if (isRefused) return;
    const program = filterProgram(family, protocol, identifiers);
    if (program !== undefined && attach(libc, descriptor, program)) return;
    // The filter attached before would drop replies to the further identifiers.
    libc.setIntOption(descriptor, LINUX.SOL_SOCKET, LINUX.SO_DETACH_FILTER, 0);
    isRefused = program !== undefined;
  };
}

function attach(libc: Libc, descriptor: number, program: readonly Instruction[]): boolean {
  const memory = libc.allocate(PROGRAM_BYTES + program.length * INSTRUCTION_BYTES);
  const { view, address } = memory;
  view.setBigUint64(0, BigInt(program.length), true);
  view.setBigUint64(8, address + BigInt(PROGRAM_BYTES), true);
  for (const [index, [code, jumpIfTrue, jumpIfFalse, constant]] of program.entries()) {
    const at = PROGRAM_BYTES + index * INSTRUCTION_BYTES;
    view.setUint16(at, code, true);
    view.setUint8(at + 2, jumpIfTrue);
    view.setUint8(at + 3, jumpIfFalse);
    view.setUint32(at + 4, constant, true);
  }
  const isAttached = libc.setMemoryOption(descriptor, LINUX.SOL_SOCKET, LINUX.SO_ATTACH_FILTER, memory, PROGRAM_BYTES);
  memory.free();
  return isAttached;
}

/**
 * The instructions of a filter for these identifiers; undefined for more than a program can compare. The kernel drops a
 * packet that is too short for a load.
 */
function filterProgram(
  family: Family,
  protocol: PacketProtocol,
  identifiers: readonly number[],
): readonly Instruction[] | undefined {
  if (identifiers.length > MAX_IDENTIFIERS) return undefined;
  // The kernel shows a filter the header of IPv4, but not that of IPv6; there X is 0.
  const start: readonly Instruction[] = family === 4 ? [[BPF.headerToX, 0, 0, 0]] : [];
  const load: readonly Instruction[] = protocol === 'icmp' ? loadIcmp(family) : [[BPF.half, 0, 0, 2]];
  const compare = identifiers.map((identifier, index): Instruction => [
    BPF.ifEqual,
    identifiers.length - index,
    0,
    identifier,
  ]);
  return [...start, ...load, ...compare, [BPF.return, 0, 0, 0], [BPF.return, 0, 0, 0xffff_ffff]];
}

/**
 * Loads the identifier of an echo reply or of the echo request that an error quotes. Passes every other message, in
 * particular errors about UDP and TCP, which a check may ask for afterwards.
 */
function loadIcmp(family: Family): readonly Instruction[] {
  const { echoReply, echoRequest } = ICMP_TYPES[family];
  const [protocolAt, protocol, headerBytes] = family === 4 ? [9, IPPROTO.icmp, 20] : [6, IPPROTO.icmpv6, 40];
  const quoted = 8 + headerBytes;
  // A quoted IPv4 header with options is left to the process.
  const plainHeader: readonly Instruction[] =
    family === 4
      ? [
          [BPF.byte, 0, 0, 8],
          [BPF.ifEqual, 0, 4, 0x45],
        ]
      : [];
  return [
    [BPF.byte, 0, 0, 0],
    [BPF.ifEqual, plainHeader.length + 7, 0, echoReply],
    ...plainHeader,
    [BPF.byte, 0, 0, 8 + protocolAt],
    [BPF.ifEqual, 0, 2, protocol],
    [BPF.byte, 0, 0, quoted],
    [BPF.ifEqual, 1, 0, echoRequest],
    [BPF.return, 0, 0, 0xffff_ffff],
    [BPF.half, 0, 0, quoted + 4],
    [BPF.jump, 0, 0, 1],
    [BPF.half, 0, 0, 4],
  ];
}
