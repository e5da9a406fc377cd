/**
 * Loaded into a program by LD_PRELOAD. The file CHAOS_CLOCK_FILE, mapped as shared memory, has four words:
 * 1. milliseconds by which the time of day is wrong; the monotonic clock stays right;
 * 2. milliseconds by which each flush of a file to disk takes longer;
 * 3. time at which the time of day stands still, milliseconds since the epoch; 0 lets it run;
 * 4. the only local port that the kernel may choose for new sockets; 0 allows all.
 * libfaketime cannot be used: Redis’ allocator asks for the time while it is being loaded.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define WORDS 4
/* Since Linux 6.3; missing in older headers. */
#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE 51
#endif

static volatile const long *page;

__attribute__((constructor)) static void open_page(void) {
  const char *file = getenv("CHAOS_CLOCK_FILE");
  int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *mapped = mmap(0, WORDS * sizeof(long), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) page = mapped;
  close(fd);
}

int clock_gettime(clockid_t id, struct timespec *at) {
  int failed = syscall(SYS_clock_gettime, id, at);
  if (failed || !page || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return failed;
  if (page[2]) {
    at->tv_sec = page[2] / 1000;
    at->tv_nsec = page[2] % 1000 * 1000000L;
    return 0;
  }
  long ms = page[0];
  long ns = at->tv_nsec + ms % 1000 * 1000000L;
  at->tv_sec += ms / 1000 + ns / 1000000000L;
  at->tv_nsec = ns % 1000000000L;
  if (at->tv_nsec < 0) {
    at->tv_nsec += 1000000000L;
    at->tv_sec -= 1;
  }
  return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}

int socket(int domain, int type, int protocol) {
  int fd = syscall(SYS_socket, domain, type, protocol);
  uint32_t port = page ? page[3] : 0;
  uint32_t range = port << 16 | port;
  if (fd >= 0 && port && (domain == AF_INET || domain == AF_INET6))
    setsockopt(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, &range, sizeof range);
  return fd;
}

static void slow_disk(void) {
  long ms = page ? page[1] : 0;
  if (ms > 0) usleep(ms * 1000);
}

int fdatasync(int fd) {
  slow_disk();
  return syscall(SYS_fdatasync, fd);
}

int fsync(int fd) {
  slow_disk();
  return syscall(SYS_fsync, fd);
}
