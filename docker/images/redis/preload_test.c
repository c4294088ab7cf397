/*
 * Runs under the preload with a clock file of its own (clock_test.sh starts it) and sets that file itself. Compares every
 * replaced function with the raw system call, and reads the file while a writer switches between two settings.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "clock.h"

#define TOLERANCE_NS (2 * NS_PER_S) /* a busy machine may stop us between two readings; every step here is greater */
#define HOUR_NS (3600 * NS_PER_S)

static int passed, failed;

static void expect(int ok, const char *law) {
	printf("%s %s\n", ok ? "ok  " : "FAIL", law);
	ok ? passed++ : failed++;
}

static int near(int64_t a_ns, int64_t b_ns) {
	int64_t gap = a_ns - b_ns;
	return gap < TOLERANCE_NS && gap > -TOLERANCE_NS;
}

static int64_t of_clock(clockid_t id) {
	struct timespec ts;
	return clock_gettime(id, &ts) ? -1 : ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int64_t of_raw(clockid_t id) {
	struct timespec ts;
	machine_clock(id, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int64_t of_day(void) {
	struct timeval tv;
	gettimeofday(&tv, 0);
	return tv.tv_sec * NS_PER_S + tv.tv_usec * 1000LL;
}

static void put(struct clock_file *file, struct clock_slot slot) {
	struct clock_slot *to = &file->slots[(file->generation + 1) % 2];
	__atomic_store_n(&to->offset_ns, slot.offset_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&to->rate_ppm, slot.rate_ppm, __ATOMIC_RELEASE);
	__atomic_store_n(&to->anchor_ns, slot.anchor_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&file->generation, file->generation + 1, __ATOMIC_RELEASE);
}

static void put_offset(struct clock_file *file, int64_t offset_ns) {
	put(file, (struct clock_slot){offset_ns, 0, 0});
}

static void every_wall_clock(struct clock_file *file, int64_t offset_ns, const char *law) {
	put_offset(file, offset_ns);
	int64_t want = of_raw(CLOCK_REALTIME) + offset_ns;
	expect(near(of_clock(CLOCK_REALTIME), want) && near(of_clock(CLOCK_REALTIME_COARSE), want) && near(of_day(), want) &&
	           near(time(0) * NS_PER_S, want), law);
}

static void other_clocks(struct clock_file *file) {
	put_offset(file, 10 * HOUR_NS);
	expect(near(of_clock(CLOCK_MONOTONIC), of_raw(CLOCK_MONOTONIC)) &&
	           near(of_clock(CLOCK_BOOTTIME), of_raw(CLOCK_BOOTTIME)) &&
	           near(of_clock(CLOCK_PROCESS_CPUTIME_ID), of_raw(CLOCK_PROCESS_CPUTIME_ID)),
	       "the other clocks are the machine's");
	expect(of_clock(12345) == -1, "an unknown clock is still an error");
}

static void before_1970(struct clock_file *file) {
	struct timespec ts;
	struct timeval tv;
	put_offset(file, -of_raw(CLOCK_REALTIME) - HOUR_NS - 1);
	clock_gettime(CLOCK_REALTIME, &ts);
	gettimeofday(&tv, 0);
	expect(ts.tv_sec < 0 && ts.tv_nsec >= 0 && ts.tv_nsec < NS_PER_S && tv.tv_sec < 0 && tv.tv_usec >= 0,
	       "a time before 1970 has a whole number of nanoseconds");
}

static void rates(struct clock_file *file) {
	int64_t now = of_raw(CLOCK_REALTIME);
	put(file, (struct clock_slot){0, -PPM, now});
	usleep(20000);
	expect(of_clock(CLOCK_REALTIME) == now, "at rate 0 the clock stands still");
	put(file, (struct clock_slot){0, PPM, now - HOUR_NS});
	expect(near(of_clock(CLOCK_REALTIME), of_raw(CLOCK_REALTIME) + HOUR_NS), "at rate 2 an hour takes half an hour");
}

#define READINGS 20000000

static const struct clock_slot two_settings[2] = {{1, 2, 3}, {-1, -2, -3}};

static int is_setting(struct clock_slot slot) {
	return !memcmp(&slot, &two_settings[0], sizeof slot) || !memcmp(&slot, &two_settings[1], sizeof slot);
}

static void torn_readings(struct clock_file *file) {
	put(file, two_settings[0]);
	pid_t writer = fork();
	for (int i = 0; writer == 0; i = !i)
		put(file, two_settings[i]);
	uint64_t from = file->generation;
	int torn = 0;
	for (int i = 0; i < READINGS; i++)
		torn += !is_setting(clock_in_force(file));
	uint64_t writes = file->generation - from;
	kill(writer, SIGKILL);
	waitpid(writer, 0, 0);
	printf("     %d readings beside %llu writes, %d torn\n", READINGS, (unsigned long long)writes, torn);
	expect(writes > 1000 && !torn, "no reading beside a writer is torn");
	expect(is_setting(clock_in_force(file)), "a writer that was killed leaves a whole setting");
}

int main(void) {
	const char *path = getenv(CLOCK_PATH_VARIABLE);
	int fd = path ? clock_open(path) : -1;
	struct clock_file *file = fd < 0 ? 0 : clock_map(fd, PROT_READ | PROT_WRITE);
	if (!file)
		return fputs("needs LOCKFAULT_CLOCK\n", stderr), 2;
	setvbuf(stdout, 0, _IOLBF, 0);
	every_wall_clock(file, 0, "a new file is a true clock");
	every_wall_clock(file, 31 * NS_PER_S, "31 s ahead on every wall clock");
	every_wall_clock(file, -24 * HOUR_NS, "a day behind on every wall clock");
	other_clocks(file);
	before_1970(file);
	rates(file);
	torn_readings(file);
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
