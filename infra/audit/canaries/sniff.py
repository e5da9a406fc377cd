"""Counts packets that a device receives, by protocol, destination and port; prints JSON when standard input ends."""

import json
import socket
import struct
import sys
import threading

DEVICE = sys.argv[1]
ETH_P_ALL = 3
PACKET_OUTGOING = 4
# Types that are not counted: the kernel sends neighbour discovery, router solicitations and multicast reports without
# being asked, and errors answer received packets.
ICMPV6_OF_THE_KERNEL = {1, 3, 130, 131, 132, 133, 134, 135, 136, 137, 143}
ICMP_ERRORS = {3, 11}
HEADERS_BEFORE = {0, 43, 60}

seen = {}
# Protocol 0 until the socket is bound to the device: otherwise it would receive packets of all devices in between.
receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
receiver.bind((DEVICE, ETH_P_ALL))
receiver.settimeout(0.2)


def note(protocol, destination, port):
    key = (protocol, destination, port)
    seen[key] = seen.get(key, 0) + 1


def read(frame):
    kind = struct.unpack_from("!H", frame, 12)[0]
    packet = frame[14:]
    if kind == 0x0800:
        rest = packet[(packet[0] & 0xF) * 4 :]
        upper(packet[9], socket.inet_ntop(socket.AF_INET, packet[16:20]), rest, ICMP_ERRORS)
    elif kind == 0x86DD:
        protocol, rest = packet[6], packet[40:]
        while protocol in HEADERS_BEFORE and len(rest) >= 8:
            protocol, rest = rest[0], rest[(rest[1] + 1) * 8 :]
        upper(protocol, socket.inet_ntop(socket.AF_INET6, packet[24:40]), rest, ICMPV6_OF_THE_KERNEL)


def upper(protocol, destination, rest, ignored):
    if protocol in (1, 58):
        if rest and rest[0] not in ignored:
            note("icmp", destination, 0)
    elif protocol in (6, 17) and len(rest) >= 4:
        note("tcp" if protocol == 6 else "udp", destination, struct.unpack_from("!H", rest, 2)[0])
    else:
        note(str(protocol), destination, 0)


ending = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ending.set()), daemon=True).start()
print("ready", flush=True)
idle = False
# Packets that are still queued when the input ends are counted too.
while not (ending.is_set() and idle):
    try:
        frame, address = receiver.recvfrom(65535)
        idle = False
    except TimeoutError:
        idle = True
        continue
    if address[2] != PACKET_OUTGOING:
        read(frame)
print(json.dumps([{"protocol": a, "address": b, "port": c, "packets": n} for (a, b, c), n in seen.items()]))
