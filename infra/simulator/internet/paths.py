"""The path of a packet: which routers it passes, and where it ends."""

import hashlib
import random
from collections import Counter, namedtuple

from packets import address_bytes

DEFAULT_DELAY_MS = 1

# The end of a packet's path: `at` is the place that would answer (None if none would), `place` the last place that it
# reached, or the one that it could not enter (too big, or lost on the link). `delay` is in seconds.
Fate = namedtuple("Fate", "what at trail delay place")


class State:
    """The state of a case for one probe: counts, limits and random numbers of probes are separate."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counts = Counter()
        self.buckets = {}

    def count(self, *key):
        self.counts[key] += 1
        return self.counts[key]

    def may_answer(self, node, limit, now):
        """Takes a token from the bucket of a node, as routers limit their ICMP errors; False if there is none."""
        tokens, seen = self.buckets.get(node, (limit["burst"], now))
        tokens = min(limit["burst"], tokens + (now - seen) * limit["perSecond"])
        self.buckets[node] = max(0, tokens - 1) if tokens >= 1 else tokens, now
        return tokens >= 1


class Case:
    """One destination address with the routers before it. The target is the place after the last router."""

    def __init__(self, plan, number, seed):
        self.number = number
        self.seed = seed
        self.address = address_bytes(plan["address"])
        self.version = 6 if ":" in plan["address"] else 4
        self.places = [*plan["routers"], plan["target"]]
        self.target = len(self.places) - 1
        self.entries = plan["entries"]
        self.change_after = plan.get("changeAfter", [])
        self.states = {}

    def state(self, probe):
        if probe not in self.states:
            self.states[probe] = State(f"{self.seed}/{self.number}/{probe}")
        return self.states[probe]

    def travel(self, packet, probe, state):
        sent = state.count("sent", packet.protocol)
        path = sum(sent > after for after in self.change_after)
        node, before = self.entries[path][probe], None
        ttl, trail, delay = packet.ttl, [], 0
        while True:
            place = self.places[node]
            if len(packet.data) > place.get("mtu", 65_535) and packet.protocol in place.get("mtuOf", [packet.protocol]):
                return Fate("too big", before, trail, delay, node)
            if state.random.random() < place.get("loss", 0):
                return Fate("lost", None, trail, delay, node)
            delay += link_delay(place, state)
            trail.append(node)
            if node == self.target:
                return Fate("arrived", node, trail, delay, node)
            if refuses(place, state.count("at", node, packet.protocol), packet.protocol):
                return Fate("refused", node, trail, delay, node)
            if ttl <= 1 and not (place.get("zeroTtl") and ttl == 1):
                return Fate("expired", node, trail, delay, node)
            if place.get("hole"):
                return Fate("lost", None, trail, delay, node)
            ttl -= 1
            node, before = self.next_of(node, place, packet, state), node

    def next_of(self, node, place, packet, state):
        choices = place["next"]
        if len(choices) == 1:
            return choices[0]
        if place["by"] == "packet":
            return choices[state.random.randrange(len(choices))]
        return choices[flow_hash(packet, place["by"], f"{self.seed}/{node}") % len(choices)]


def link_delay(place, state):
    jitter = place.get("jitterMs")
    return (place.get("delayMs", DEFAULT_DELAY_MS) + (state.random.uniform(0, jitter) if jitter else 0)) / 1000


def refuses(place, count, protocol):
    refusal = place.get("refuse")
    if refusal is None or protocol not in refusal.get("protocols", [protocol]):
        return False
    return count in refusal.get("packets", [count])


def flow_hash(packet, by, seed):
    """Hash of addresses, protocol and either the IPv6 flow label or the first four bytes of the transport header."""
    ports = packet.label.to_bytes(3, "big") if by == "label" else packet.transport[:4]
    key = packet.source + packet.destination + bytes([packet.protocol]) + ports
    return int.from_bytes(hashlib.blake2b(key, digest_size=4, key=seed.encode()[:64]).digest(), "big")


def home_delay(case, trail, state, size):
    """Seconds that an answer of this size takes back over the links of the trail; None if one of them loses it."""
    delay = 0
    for node in trail:
        place = case.places[node]
        if size > place.get("mtuBack", 65_535) or state.random.random() < place.get("lossBack", 0):
            return None
        delay += link_delay(place, state)
    return delay


def remaining_ttl(packet, trail):
    """The TTL that a packet has left at the last place of a trail."""
    return max(0, packet.ttl - (len(trail) - 1))


