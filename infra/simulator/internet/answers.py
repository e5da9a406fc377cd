"""Answers of routers and targets to a packet whose path ended there."""

from collections import namedtuple

from packets import (
    ICMP,
    PORT_UNREACHABLE,
    QUOTED_BYTES,
    TCP,
    TIME_EXCEEDED,
    TOO_BIG,
    UDP,
    UNREACHABLE,
    address_bytes,
    changed_quotation,
    echo_reply,
    icmp_error,
    icmp_packet,
    ip_packet,
    tcp_answer,
    udp_answer,
)
from paths import home_delay, remaining_ttl

ROUTER_TTL, TARGET_TTL = 255, 64

# A packet for the probe: `delay` is in seconds from now; `sender`, `what` and `is_sound` are for the log.
Answer = namedtuple("Answer", "delay data sender what is_sound")


def answers_to(case, packet, fate, state, now):
    """The answers that reach the probe, if any."""
    if fate.what == "lost" or (fate.what == "too big" and fate.at is None):
        return []
    place = case.places[fate.at]
    is_target = fate.at == case.target
    if is_target and "refuse" not in place:
        made = target_answer(case, packet, place, fate, state, now)
    else:
        made = router_answer(case, packet, place, fate, state, now)
    if made is None:
        return []
    sender, what, data, is_sound = made
    answers = []
    for copy in range(1 + place.get("duplicates", 0)):
        home = home_delay(case, fate.trail, state, len(data))
        if home is None:
            continue
        thinking = slow_for(place, state, packet.protocol)
        answers.append(Answer(fate.delay + thinking + home + copy * 0.002, data, sender, what, is_sound))
    return answers


def slow_for(place, state, protocol):
    """Seconds until a place answers: `answerDelayOfMs`, by number of the answer, or else `answerDelayMs`."""
    by_number = place.get("answerDelayOfMs")
    count = state.count("answered", id(place), protocol)
    if by_number is not None:
        return by_number.get(str(count), 0) / 1000
    return place.get("answerDelayMs", 0) / 1000


def sender_of(place, state, key):
    addresses = place["addresses"]
    return address_bytes(addresses[(state.count(*key) - 1) % len(addresses)])


def is_silent(place, node, state, now):
    if place.get("silent") or state.random.random() >= place.get("answers", 1):
        return True
    return "limit" in place and not state.may_answer(node, place["limit"], now)


def router_answer(case, packet, place, fate, state, now):
    version = packet.version
    if is_silent(place, fate.at, state, now):
        return None
    word = 0
    if fate.what == "expired":
        kind, code, what = TIME_EXCEEDED[version], 0, "exceeded"
    elif fate.what == "too big":
        beyond = case.places[fate.place]
        if beyond.get("isBlackHole"):
            return None
        (kind, code), what, word = TOO_BIG[version], "too big", beyond.get("mtuWord", beyond["mtu"])
    else:
        kind, code, what = place["refuse"]["type"], place["refuse"]["code"], "refused"
    ttl = ROUTER_TTL - len(fate.trail) + 1
    source = sender_of(place, state, ("from", fate.at))
    return error_from(packet, place, fate, source, (kind, code, word), ttl, what)


def error_from(packet, place, fate, source, message, ttl, what):
    version = packet.version
    kind, code, word = message
    quoted = packet.as_it_arrives(remaining_ttl(packet, fate.trail))[: place.get("quote", QUOTED_BYTES[version])]
    changed_quotation(quoted, version, place.get("quoteChanged", []))
    broken = place.get("broken")
    if broken == "empty":
        quoted = quoted[:0]
    if broken == "foreign":
        changed_quotation(quoted, version, ["destination"])
        payload = (20 if version == 4 else 40) + 8
        quoted[payload:] = bytes(byte ^ 0xA5 for byte in quoted[payload:])
    if broken == "noise":
        quoted = bytearray(byte ^ 0xA5 for byte in quoted)
    body = icmp_error(version, kind, code, quoted, word, place.get("labels"))
    data = icmp_packet(version, source, packet.source, ttl, body, broken == "checksum")
    return source, what, data, broken is None


def target_answer(case, packet, place, fate, state, now):
    version = packet.version
    own = [address_bytes(one) for one in place.get("addresses", [])] or [case.address]
    source = own[(state.count("from", fate.at) - 1) % len(own)]
    first = remaining_ttl(packet, fate.trail) if place.get("copiesTtl") else place.get("ttl", TARGET_TTL)
    ttl = first - len(fate.trail) + 1
    if ttl <= 0 or state.random.random() >= place.get("answers", 1):
        return None
    if packet.protocol == ICMP[version]:
        if place.get("echo", "reply") == "none":
            return None
        is_damaged = place.get("broken") == "checksum"
        reply = echo_reply(packet, place.get("echoCode", 0))
        if place.get("broken") == "payload":
            reply[-3] ^= 0x55
        data = icmp_packet(version, source, packet.source, ttl, reply, is_damaged)
        return source, "reply", data, "broken" not in place
    if packet.protocol == TCP:
        does = place.get("tcp", "open")
        if does == "none":
            return None
        return source, "reply", ip_packet(version, source, packet.source, TCP, ttl, tcp_answer(packet, source, does == "open")), True
    does = place.get("udp", "unreachable")
    if does == "none" or packet.protocol != UDP:
        return None
    if does == "reply":
        return source, "reply", ip_packet(version, source, packet.source, UDP, ttl, udp_answer(packet, source)), True
    if "limit" in place and not state.may_answer(fate.at, place["limit"], now):
        return None
    return error_from(packet, place, fate, source, (UNREACHABLE[version], PORT_UNREACHABLE[version], 0), ttl, "reply")
