"""Packets of the simulated internet: reading those of the probes, writing the answers to them."""

import socket
import struct

from tun import ICMP, checksum

HEADER_BYTES = {4: 20, 6: 40}
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
TCP, UDP = 6, 17
SYN, RST, ACK = 0x02, 0x04, 0x10

ECHO_REQUEST, ECHO_REPLY = {4: 8, 6: 128}, {4: 0, 6: 129}
TIME_EXCEEDED = {4: 11, 6: 3}
UNREACHABLE = {4: 3, 6: 1}
PORT_UNREACHABLE = {4: 3, 6: 4}
TOO_BIG = {4: (3, 4), 6: (2, 0)}
# Without `quote`: RFC 1812 section 4.3.2.3 and RFC 4443 section 2.4 bound the whole message.
QUOTED_BYTES = {4: 548, 6: 1232}
# RFC 4884 section 5.1: the extension begins after this many bytes of the quotation.
EXTENDED_BYTES = 128


class Packet:
    """A packet of a probe; `conversation` is None unless it is an echo request, a UDP datagram or a TCP SYN."""

    def __init__(self, data):
        self.data = data
        self.version = version = data[0] >> 4
        v4 = version == 4
        self.source = data[12:16] if v4 else data[8:24]
        self.destination = data[16:20] if v4 else data[24:40]
        self.ttl = data[8 if v4 else 7]
        self.protocol = data[9 if v4 else 6]
        self.label = 0 if v4 else struct.unpack_from("!I", data)[0] & 0xFFFFF
        self.transport = data[HEADER_BYTES[version] :]
        self.conversation = None
        self.number = None
        if len(self.transport) >= 8:
            self.read_transport()

    def read_transport(self):
        transport = self.transport
        if self.protocol == ICMP[self.version]:
            if transport[0] == ECHO_REQUEST[self.version]:
                identifier, self.number = struct.unpack_from("!HH", transport, 4)
                self.conversation = f"{identifier}"
        elif self.protocol == UDP:
            source, destination, _, self.number = struct.unpack_from("!HHHH", transport)
            self.conversation = f"{source}>{destination}"
        # The kernel of the probe answers a SYN-ACK to a raw SYN with RST, which is no packet of the check.
        elif self.protocol == TCP and len(transport) >= 20 and transport[13] & (SYN | ACK | RST) == SYN:
            source, destination, self.number = struct.unpack_from("!HHI", transport)
            self.conversation = f"{source}>{destination}"

    def as_it_arrives(self, ttl):
        """The packet with the TTL that it has left."""
        data = bytearray(self.data)
        data[8 if self.version == 4 else 7] = ttl
        return with_header_checksum(data) if self.version == 4 else data


def with_header_checksum(data):
    data[10:12] = b"\0\0"
    struct.pack_into("!H", data, 10, checksum(data[:20]))
    return data


def address_bytes(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def ip_packet(version, source, destination, protocol, ttl, payload):
    if version == 6:
        return struct.pack("!IHBB", 6 << 28, len(payload), protocol, ttl) + source + destination + payload
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, ttl, protocol, 0) + source + destination
    return bytes(with_header_checksum(bytearray(header))) + payload


def transport_checksum(version, source, destination, protocol, data):
    length = struct.pack("!I3xB", len(data), protocol) if version == 6 else struct.pack("!xBH", protocol, len(data))
    return checksum(source + destination + length + data)


def icmp_packet(version, source, destination, ttl, message, is_damaged=False):
    message = bytearray(message)
    message[2:4] = b"\0\0"
    if version == 4:
        total = checksum(message)
    else:
        total = transport_checksum(6, source, destination, ICMP[6], bytes(message))
    struct.pack_into("!H", message, 2, total ^ (0x5A5A if is_damaged else 0))
    return ip_packet(version, source, destination, ICMP[version], ttl, bytes(message))


def changed_quotation(quoted, version, changes):
    """Changes fields of a quoted packet, as address translation and faulty routers do."""
    start = HEADER_BYTES[version]
    if "source" in changes:
        foreign = address_bytes("100.64.0.9" if version == 4 else "fd00:64::9")
        at = 12 if version == 4 else 8
        quoted[at : at + len(foreign)] = foreign
    if "destination" in changes:
        at = 16 if version == 4 else 24
        quoted[at] ^= 0x11
    if "checksum" in changes:
        at = start + {ICMP[version]: 2, UDP: 6, TCP: 16}[quoted[9 if version == 4 else 6]]
        if len(quoted) >= at + 2:
            quoted[at] ^= 0x12
    if "length" in changes:
        quoted[2 if version == 4 else 4] ^= 0x01
    if "service" in changes and version == 4:
        quoted[1] ^= 0x20
    elif "service" in changes:
        quoted[0] ^= 0x02
    return quoted


def extension(labels):
    """An extension with the label stack of the received packet (RFC 4884 section 7, RFC 4950 section 3)."""
    entries = b"".join(
        struct.pack("!I", label << 12 | (2 << 9) | (index == len(labels) - 1) << 8 | 1) for index, label in enumerate(labels)
    )
    structure = struct.pack("!BBHHBB", 2 << 4, 0, 0, 4 + len(entries), 1, 1) + entries
    return structure[:2] + struct.pack("!H", checksum(structure)) + structure[4:]


def icmp_error(version, kind, code, quoted, word=0, labels=None):
    """An ICMP error without its checksum: type, code, the word after the checksum, the quotation, and any labels."""
    if labels is None:
        return struct.pack("!BBHI", kind, code, 0, word) + bytes(quoted)
    padded = bytes(quoted[:EXTENDED_BYTES]).ljust(EXTENDED_BYTES, b"\0")
    length = (EXTENDED_BYTES // 4) << 16 if version == 4 else (EXTENDED_BYTES // 8) << 24
    return struct.pack("!BBHI", kind, code, 0, length | word) + padded + extension(labels)


def echo_reply(packet, code=0):
    message = bytearray(packet.transport)
    message[0], message[1] = ECHO_REPLY[packet.version], code
    return message


def tcp_answer(packet, source, is_open):
    """SYN-ACK of an open port, RST of a closed one (RFC 9293 section 3.10.7)."""
    from_port, to_port, sequence = struct.unpack_from("!HHI", packet.transport)
    flags = (SYN if is_open else RST) | ACK
    segment = struct.pack("!HHIIBBHHH", to_port, from_port, 7_000, (sequence + 1) & 0xFFFFFFFF, 5 << 4, flags, 64_240, 0, 0)
    total = transport_checksum(packet.version, source, packet.source, TCP, segment)
    return segment[:16] + struct.pack("!H", total) + segment[18:]


def udp_answer(packet, source):
    from_port, to_port = struct.unpack_from("!HH", packet.transport)
    datagram = struct.pack("!HHHH", to_port, from_port, 12, 0) + b"here"
    total = transport_checksum(packet.version, source, packet.source, UDP, datagram)
    return datagram[:6] + struct.pack("!H", total or 0xFFFF) + datagram[8:]
