"""A whole internet behind the TUN devices of the probes: each destination address is a case with separate routers.

The first line of standard input is JSON (`World` of compile.ts). Prints `ready` once the devices are there, and ends with
its standard input. Every packet of a check and every answer that is delivered is a line of the log; times are
milliseconds of CLOCK_MONOTONIC.
"""

import heapq
import json
import os
import sys
import time

# Python's isolated mode does not search the folder of the program for modules.
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "../../netlab")]

from answers import answers_to
from packets import Packet, address_bytes
from paths import Case
from tun import Clock, open_tun, prefer_this_process

READ_AT_ONCE = 32
LOG_BUFFER_BYTES = 1 << 20


class Internet:
    def __init__(self, world):
        self.cases = {}
        for plan in world["cases"]:
            self.cases[address_bytes(plan["address"])] = Case(plan, plan["number"], world["seed"])
        self.devices = [open_tun(name) for name in world["devices"]]
        self.log = open(world["log"], "w", buffering=LOG_BUFFER_BYTES, encoding="utf-8")
        self.clock = Clock()
        self.waiting = []
        self.count = 0

    def receive(self, probe, data):
        packet = Packet(data) if data[0] >> 4 in (4, 6) and len(data) >= 28 else None
        case = self.cases.get(packet.destination) if packet is not None else None
        if case is None or packet.conversation is None:
            return
        at, now = time.monotonic(), self.clock.read()
        state = case.state(probe)
        fate = case.travel(packet, probe, state)
        self.count += 1
        number = self.count
        key = [packet.protocol, packet.conversation, packet.label, packet.number, packet.ttl, len(data)]
        self.write(["in", number, at * 1000, case.number, probe, *key, fate.trail, fate.what])
        for answer in answers_to(case, packet, fate, state, now):
            self.count += 1
            heapq.heappush(self.waiting, (now + answer.delay, self.count, probe, number, answer))

    def deliver(self):
        while self.waiting and self.waiting[0][0] <= self.clock.read():
            _, _, probe, number, answer = heapq.heappop(self.waiting)
            at = time.monotonic()
            try:
                os.write(self.devices[probe], answer.data)
            except OSError:
                # The device is down: its probe has ended.
                continue
            self.write(["out", number, at * 1000, answer.sender.hex(), answer.what, answer.is_sound])

    def write(self, line):
        self.log.write(json.dumps(line, separators=(",", ":")) + "\n")

    def run(self):
        while True:
            readable = self.clock.select([*self.devices, 0], self.waiting[0][0] if self.waiting else None)
            if 0 in readable and os.read(0, 64) == b"":
                self.log.close()
                return
            for probe, device in enumerate(self.devices):
                for _ in range(READ_AT_ONCE if device in readable else 0):
                    try:
                        data = os.read(device, 65536)
                    except OSError:
                        break
                    self.receive(probe, data)
            self.deliver()


internet = Internet(json.loads(sys.stdin.readline()))
prefer_this_process()
print("ready", flush=True)
internet.run()
