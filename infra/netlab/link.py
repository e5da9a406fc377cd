"""A link of the lab in user space: two TUN devices, and impairments of the packets between them.

The first argument is JSON (`LinkPlan` of user-link.ts). Prints `ready` once both devices are there, and ends with its
standard input. What happens to a packet follows from its network and its sequence number, so that tests know the
ground truth; only `loseShare` is random.
"""

import heapq
import json
import os
import random
import socket
import struct
import sys

# Python's isolated mode does not search the folder of the program for modules.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from tun import ICMP, Clock, checksum, open_tun, prefer_this_process

ECHO_REQUEST = {4: 8, 6: 128}
ECHO_REPLY = {4: 0, 6: 129}
TIME_EXCEEDED = {4: 11, 6: 3}
HEADER_BYTES = {4: 20, 6: 40}


def pseudo_header(packet, length):
    """The pseudo-header that the checksum of ICMPv6 covers in addition to the message (RFC 4443 section 2.3)."""
    return bytes(packet[8:40]) + struct.pack("!I3xB", length, ICMP[6])


def with_icmp_checksum(packet, version):
    message = HEADER_BYTES[version]
    packet[message + 2 : message + 4] = b"\0\0"
    covered = bytes(packet[message:])
    if version == 6:
        covered = pseudo_header(packet, len(covered)) + covered
    struct.pack_into("!H", packet, message + 2, checksum(covered))
    return packet


def with_ip_checksum(packet):
    packet[10:12] = b"\0\0"
    struct.pack_into("!H", packet, 10, checksum(bytes(packet[:20])))
    return packet


class Packet:
    """The fields of a packet on which impairments depend; `sequence` is None unless it is an echo request or reply."""

    def __init__(self, data, is_outward):
        self.data = bytearray(data)
        self.version = data[0] >> 4
        v4 = self.version == 4
        self.source = bytes(data[12:16] if v4 else data[8:24])
        self.destination = bytes(data[16:20] if v4 else data[24:40])
        self.ttl = data[8 if v4 else 7]
        there = self.destination if is_outward else self.source
        # The third group of an IPv6 address is the number in decimal digits, as people write it.
        digits = "%x" % struct.unpack("!H", there[4:6]) if not v4 else "x"
        self.network = str(there[2]) if v4 else digits
        message = HEADER_BYTES[self.version]
        protocol = data[9 if v4 else 6]
        self.sequence = None
        self.conversation = None
        kind = ECHO_REQUEST if is_outward else ECHO_REPLY
        if protocol == ICMP[self.version] and len(data) >= message + 8 and data[message] == kind[self.version]:
            self.sequence = struct.unpack_from("!H", data, message + 6)[0]
            self.conversation = (self.source, self.destination, bytes(data[message + 4 : message + 6]))


def time_exceeded(packet, router, labels):
    """An ICMP error of a router on a label-switched path, with its label stack (RFC 4884 section 7, RFC 4950)."""
    version = packet.version
    quoted = bytes(packet.data[:128]).ljust(128, b"\0")
    entries = b"".join(
        struct.pack("!I", label << 12 | (2 << 9) | (index == len(labels) - 1) << 8 | 1)
        for index, label in enumerate(labels)
    )
    structure = struct.pack("!BBHHBB", 2 << 4, 0, 0, 4 + len(entries), 1, 1) + entries
    structure = structure[:2] + struct.pack("!H", checksum(structure)) + structure[4:]
    header = bytes([TIME_EXCEEDED[version], 0, 0, 0, 0, 32, 0, 0] if version == 4 else [3, 0, 0, 0, 16, 0, 0, 0])
    message = header + quoted + structure
    if version == 4:
        address = socket.inet_aton(router["ipv4"])
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(message), 0, 0, 64, 1, 0) + address + packet.source
        return with_icmp_checksum(with_ip_checksum(bytearray(ip + message)), 4)
    address = socket.inet_pton(socket.AF_INET6, router["ipv6"])
    ip = struct.pack("!IHBB", 6 << 28, len(message), ICMP[6], 64) + address + packet.source
    return with_icmp_checksum(bytearray(ip + message), 6)


def one_hop_less(packet):
    packet.data[8 if packet.version == 4 else 7] -= 1
    return with_ip_checksum(packet.data) if packet.version == 4 else packet.data


def damaged(packet, how):
    if how == "cut":
        end = len(packet.data) - 8
        packet.data = packet.data[:end]
        field = (2, end) if packet.version == 4 else (4, end - 40)
        struct.pack_into("!H", packet.data, *field)
        if packet.version == 4:
            with_ip_checksum(packet.data)
    else:
        packet.data[-3] ^= 0x55
    return packet.data if how == "checksum" else with_icmp_checksum(packet.data, packet.version)


def outward(packet, impairments, plan):
    """Yields (delay in seconds, True if it leaves at the far end, data) for each result of a packet to the far end."""
    labels = impairments.get("mpls")
    if labels is not None and packet.ttl <= 1:
        yield 0, False, time_exceeded(packet, plan["router"], labels)
        return
    if packet.sequence is not None and packet.sequence in impairments.get("lose", []):
        return
    if random.random() < impairments.get("loseShare", 0):
        return
    yield impairments.get("delayMs", 0) / 1000, True, one_hop_less(packet) if labels is not None else packet.data


def homeward(packet, impairments, held, now):
    """Yields the same for a packet from the far end; `held` keeps replies that wait until a later one has passed."""
    sequence = packet.sequence
    data = packet.data
    if random.random() < impairments.get("loseShare", 0):
        return
    copies = 1 + impairments.get("copies", {}).get(str(sequence), 0)
    how = impairments.get("damage", {}).get(str(sequence))
    if how is not None:
        data = damaged(packet, how)
    hold = (impairments.get("delayBackMs", 0) + impairments.get("holdMs", {}).get(str(sequence), 0)) / 1000
    behind = impairments.get("behind", {}).get(str(sequence))
    if behind is not None:
        held[packet.conversation, behind] = now + hold, data
        return
    for copy in range(copies):
        yield hold + copy * 0.002, False, data
    if (packet.conversation, sequence) in held:
        due, data = held.pop((packet.conversation, sequence))
        yield max(0, due - now) + 0.002, False, data


def main():
    plan = json.loads(sys.argv[1])
    near, far = open_tun(plan["near"]), open_tun(plan["far"])
    prefer_this_process()
    print("ready", flush=True)
    waiting = []
    held = {}
    count = 0
    clock = Clock()
    while True:
        readable = clock.select([near, far, 0], waiting[0][0] if waiting else None)
        now = clock.read()
        if 0 in readable and os.read(0, 64) == b"":
            return
        for descriptor in (near, far):
            while descriptor in readable:
                try:
                    data = os.read(descriptor, 65536)
                except OSError:
                    break
                if data[0] >> 4 not in (4, 6):
                    continue
                is_outward = descriptor == near
                packet = Packet(data, is_outward)
                impairments = plan["impairments"].get(packet.network, {})
                results = outward(packet, impairments, plan) if is_outward else homeward(packet, impairments, held, now)
                for delay, leaves_far, changed in results:
                    count += 1
                    heapq.heappush(waiting, (now + delay, count, far if leaves_far else near, bytes(changed)))
        while waiting and waiting[0][0] <= clock.read():
            _, _, descriptor, data = heapq.heappop(waiting)
            try:
                os.write(descriptor, data)
            except OSError:
                # The device is down, or its queue is full: the packet is lost, as on a real link.
                pass


main()
