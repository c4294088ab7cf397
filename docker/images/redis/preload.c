/*
 * A node's wall clock, for LD_PRELOAD: gettimeofday, time and clock_gettime answer with the skew of the clock file named
 * by LOCKFAULT_CLOCK (clock.h). The monotonic clock is left alone, as on a machine whose clock is set.
 *
 * It is this small because it runs inside everything, from before main, under jemalloc: raw system calls, no
 * allocation, no constructor, no dlsym of what it replaces (that is where libfaketime recurses and hangs Redis).
 *
 * Not skewed: timers against CLOCK_REALTIME (timerfd, clock_nanosleep, pthread_cond_timedwait) and file times; Redis
 * uses none of them for expiry.
 */
#include <sys/time.h>
#include "clock.h"

#define EXPORT __attribute__((visibility("default")))

static const struct clock_file true_clock;
static const struct clock_file *mapped; /* null until the first look at the wall clock */

extern char **environ;

/* Not getenv: Redis rewrites its environment at start, and this must not depend on who comes first. */
static const char *clock_path(void) {
	static const char name[] = CLOCK_PATH_VARIABLE "=";
	for (char **entry = environ; entry && *entry; entry++) {
		int i = 0;
		while (name[i] && (*entry)[i] == name[i])
			i++;
		if (!name[i])
			return *entry + i;
	}
	return 0;
}

static const struct clock_file *complain(void) {
	static const char text[] = "lockfault: cannot map the file that " CLOCK_PATH_VARIABLE
	                           " names; this process keeps the machine's clock\n";
	syscall(SYS_write, 2, text, sizeof text - 1);
	return &true_clock;
}

static const struct clock_file *map_clock(void) {
	const char *path = clock_path();
	if (!path || !*path)
		return &true_clock;
	int fd = clock_open(path);
	if (fd < 0)
		return complain();
	const struct clock_file *file = clock_map(fd, PROT_READ);
	syscall(SYS_close, fd);
	return file ? file : complain();
}

/* Two threads may both map at first; the one that comes second leaves its 4 KiB mapping unused. */
static const struct clock_file *clock_of_process(void) {
	const struct clock_file *file = __atomic_load_n(&mapped, __ATOMIC_ACQUIRE);
	if (file)
		return file;
	const struct clock_file *mine = map_clock(), *none = 0;
	if (__atomic_compare_exchange_n(&mapped, &none, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return mine;
	return none;
}

static int64_t node_ns(int64_t machine_ns) {
	struct clock_slot slot = clock_in_force(clock_of_process());
	return skewed_ns(&slot, machine_ns);
}

/* Rounds down, also before 1970. */
static int64_t whole_seconds(int64_t ns) {
	return ns / NS_PER_S - (ns % NS_PER_S < 0);
}

EXPORT int clock_gettime(clockid_t id, struct timespec *ts) {
	int result = machine_clock(id, ts);
	if (result != 0 || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
		return result;
	int64_t ns = node_ns(ts->tv_sec * NS_PER_S + ts->tv_nsec);
	ts->tv_sec = whole_seconds(ns);
	ts->tv_nsec = ns - ts->tv_sec * NS_PER_S;
	return 0;
}

EXPORT int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
	if (zone)
		*(struct timezone *)zone = (struct timezone){0, 0};
	int64_t ns = node_ns(machine_now_ns());
	tv->tv_sec = whole_seconds(ns);
	tv->tv_usec = (ns - tv->tv_sec * NS_PER_S) / 1000;
	return 0;
}

EXPORT time_t time(time_t *out) {
	time_t now = whole_seconds(node_ns(machine_now_ns()));
	if (out)
		*out = now;
	return now;
}
