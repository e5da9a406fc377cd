"""Shared by programs that are a network in user space: TUN devices, checksums, and a clock that stalls with them."""

import ctypes
import fcntl
import os
import select
import struct
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
PR_SET_TIMERSLACK = 29

ICMP = {4: 1, 6: 58}
MOST_AT_ONCE = 0.02


def open_tun(name):
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return descriptor


def checksum(data):
    if len(data) % 2:
        data = bytes(data) + b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def prefer_this_process():
    """Raises the priority of this process and the precision of its timers, as far as its rights allow."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        pass
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0)


class Clock:
    """A clock in seconds that advances by at most MOST_AT_ONCE between reads, so that it stalls with this process."""

    def __init__(self):
        self.seen = time.monotonic()
        self.now = 0.0

    def read(self):
        real = time.monotonic()
        self.now += min(real - self.seen, MOST_AT_ONCE)
        self.seen = real
        return self.now

    def select(self, readers, due):
        """Waits for readable descriptors and returns them; at most MOST_AT_ONCE and until `due`, if that is not None."""
        timeout = None if due is None else min(MOST_AT_ONCE, max(0, due - self.read()))
        readable, _, _ = select.select(readers, [], [], timeout)
        return readable
