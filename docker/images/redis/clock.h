/*
 * The clock file: how far a node's wall clock is from the machine's.
 *
 * Offset  Size  Field (signed or unsigned 64-bit, little-endian on every machine that lockfault supports)
 *      0     8  generation: slot generation % 2 is in force
 *      8    24  slot 0: offset_ns, rate_ppm, anchor_ns
 *     32    24  slot 1: the same
 *     56     8  reserved, zero
 *
 * The node's time is   t + offset_ns + (t - anchor_ns) * rate_ppm / 1,000,000   where t is the machine's CLOCK_REALTIME
 * in nanoseconds since 1970. rate_ppm is the excess: 0 is a true clock, 1000000 runs twice as fast, -1000000 stands
 * still. A file of 64 zero bytes is a true clock.
 *
 * A writer fills the slot that is not in force, then publishes it by adding one to the generation. So a reader never
 * waits, and a writer that is killed half-way changes nothing. Writers exclude each other with flock.
 */
#ifndef LOCKFAULT_CLOCK_H
#define LOCKFAULT_CLOCK_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

#define CLOCK_PATH_VARIABLE "LOCKFAULT_CLOCK"
#define NS_PER_S 1000000000LL
#define PPM 1000000LL

struct clock_slot {
	int64_t offset_ns;
	int64_t rate_ppm;
	int64_t anchor_ns;
};

struct clock_file {
	uint64_t generation;
	struct clock_slot slots[2];
	uint64_t reserved;
};

_Static_assert(sizeof(struct clock_file) == 64, "the layout is documented: keep it");

/* Raw, so that nothing here can come back to a function that the preload replaces. */
static inline int machine_clock(clockid_t id, struct timespec *ts) {
	return (int)syscall(SYS_clock_gettime, id, ts);
}

static inline int64_t machine_now_ns(void) {
	struct timespec ts = {0, 0};
	machine_clock(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* Divides before it multiplies, since centuries times ppm do not fit 64 bits. */
static inline int64_t drift_ns(int64_t elapsed_ns, int64_t rate_ppm) {
	return elapsed_ns / PPM * rate_ppm + elapsed_ns % PPM * rate_ppm / PPM;
}

static inline int64_t skewed_ns(const struct clock_slot *slot, int64_t machine_ns) {
	return machine_ns + slot->offset_ns + drift_ns(machine_ns - slot->anchor_ns, slot->rate_ppm);
}

/* Goes round again only when a writer published meanwhile: the slot may be the one that the next writer fills. */
static inline struct clock_slot clock_in_force(const struct clock_file *file) {
	struct clock_slot slot;
	uint64_t before, after = __atomic_load_n(&file->generation, __ATOMIC_ACQUIRE);
	do {
		before = after;
		const struct clock_slot *from = &file->slots[before % 2];
		slot.offset_ns = __atomic_load_n(&from->offset_ns, __ATOMIC_ACQUIRE);
		slot.rate_ppm = __atomic_load_n(&from->rate_ppm, __ATOMIC_ACQUIRE);
		slot.anchor_ns = __atomic_load_n(&from->anchor_ns, __ATOMIC_ACQUIRE);
		after = __atomic_load_n(&file->generation, __ATOMIC_ACQUIRE);
	} while (before != after);
	return slot;
}

/* Creates the file where there is none, and never shrinks one: a mapped page that vanishes kills its reader. */
static inline int clock_open(const char *path) {
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (syscall(SYS_lseek, fd, 0, SEEK_END) >= (long)sizeof(struct clock_file) ||
	    syscall(SYS_ftruncate, fd, sizeof(struct clock_file)) == 0)
		return fd;
	syscall(SYS_close, fd);
	return -1;
}

static inline struct clock_file *clock_map(int fd, int protection) {
	void *at = mmap(0, sizeof(struct clock_file), protection, MAP_SHARED, fd, 0);
	return at == MAP_FAILED ? 0 : at;
}

#endif
