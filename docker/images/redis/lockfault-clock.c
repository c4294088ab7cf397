/*
 * lockfault-clock: sets and shows the wall clock of the node that it runs in. A static program, so that the preload does
 * not touch it. See usage() and, for the file, clock.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include "clock.h"

#define DEFAULT_PATH "/lockfault/clock"
#define RATE_PPM_MAX (1000 * PPM)
#define OFFSET_NS_MAX (200LL * 365 * 86400 * NS_PER_S)
#define WORDS_MAX 16

static const char usage[] =
	"usage: lockfault-clock get                               show the clock\n"
	"       lockfault-clock set [--offset D] [--rate R]       offset from the machine's clock; speed, 1 is true\n"
	"       lockfault-clock step D                            move the clock by D from where it stands\n"
	"       lockfault-clock reset                             back to the machine's clock\n"
	"       lockfault-clock serve                             read such lines from stdin, answer each with one line\n"
	"D is a number with a unit: 31s, -500ms, 1.5h (ns us ms s m h d); --offset-ns N also does. R is a decimal, 0 to 1000:\n"
	"0 stands still, 2 is twice as fast. Setting the rate alone does not move the clock. Each answer is one JSON line.\n";

static const char *problem; /* why the last command was refused */

static int refuse(const char *why) {
	problem = why;
	return 0;
}

static int64_t unit_ns(const char *unit) {
	static const struct { const char *name; int64_t ns; } units[] = {
		{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", NS_PER_S},
		{"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {"d", 86400 * NS_PER_S},
	};
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (!strcmp(unit, units[i].name))
			return units[i].ns;
	return 0;
}

/* Reads a decimal and leaves *end behind it; strtod would also take hex, "inf" and "nan". */
static int parse_decimal(const char *text, long double *value, const char **end) {
	size_t sign = *text == '-' || *text == '+';
	size_t length = sign + strspn(text + sign, "0123456789.");
	char number[40];
	if (length == sign || length >= sizeof number)
		return 0;
	memcpy(number, text, length);
	number[length] = 0;
	char *stopped;
	*value = strtold(number, &stopped);
	*end = text + length;
	return !*stopped;
}

static int parse_duration(const char *text, int64_t *ns) {
	long double value;
	const char *unit;
	if (!parse_decimal(text, &value, &unit))
		return refuse("not a duration (31s, -500ms, 1.5h)");
	int64_t scale = !*unit && value == 0 ? 1 : unit_ns(unit);
	if (!scale)
		return refuse("a duration needs a unit: ns us ms s m h d");
	value *= scale;
	if (value > OFFSET_NS_MAX || value < -OFFSET_NS_MAX)
		return refuse("more than 200 years");
	*ns = (int64_t)(value + (value < 0 ? -0.5L : 0.5L));
	return 1;
}

static int parse_rate(const char *text, int64_t *rate_ppm) {
	long double value;
	const char *end;
	if (!parse_decimal(text, &value, &end) || *end)
		return refuse("not a rate (a decimal, 1 is a true clock)");
	if (value < 0 || value * PPM > RATE_PPM_MAX)
		return refuse("a rate lies between 0 and 1000");
	*rate_ppm = (int64_t)(value * PPM + 0.5L) - PPM;
	return 1;
}

static void publish(struct clock_file *file, struct clock_slot slot) {
	uint64_t generation = file->generation + 1;
	struct clock_slot *to = &file->slots[generation % 2];
	__atomic_store_n(&to->offset_ns, slot.offset_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&to->rate_ppm, slot.rate_ppm, __ATOMIC_RELEASE);
	__atomic_store_n(&to->anchor_ns, slot.anchor_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&file->generation, generation, __ATOMIC_RELEASE);
}

/* The slot that shows at machine_ns what the clock shows now, anchored there. */
static struct clock_slot rebased(const struct clock_file *file, int64_t machine_ns) {
	struct clock_slot slot = clock_in_force(file);
	slot.offset_ns = skewed_ns(&slot, machine_ns) - machine_ns;
	slot.anchor_ns = machine_ns;
	return slot;
}

static int apply_flag(const char *flag, const char *value, struct clock_slot *slot) {
	if (!value)
		return refuse("the last flag has no value");
	if (!strcmp(flag, "--offset"))
		return parse_duration(value, &slot->offset_ns);
	if (!strcmp(flag, "--rate"))
		return parse_rate(value, &slot->rate_ppm);
	if (strcmp(flag, "--offset-ns"))
		return refuse("unknown flag: --offset, --offset-ns and --rate are known");
	char with_unit[40];
	snprintf(with_unit, sizeof with_unit, "%.30sns", value);
	return parse_duration(with_unit, &slot->offset_ns);
}

static int command_set(int count, char **words, struct clock_slot *slot) {
	if (count < 2)
		return refuse("set needs --offset or --rate");
	for (int i = 1; i < count; i += 2)
		if (!apply_flag(words[i], i + 1 < count ? words[i + 1] : 0, slot))
			return 0;
	return 1;
}

static int command_step(int count, char **words, struct clock_slot *slot) {
	int64_t by_ns;
	if (count != 2)
		return refuse("step needs one duration");
	if (!parse_duration(words[1], &by_ns))
		return 0;
	if (__builtin_add_overflow(slot->offset_ns, by_ns, &slot->offset_ns))
		return refuse("the clock is too far away");
	return 1;
}

static int changed_slot(int count, char **words, struct clock_slot *slot) {
	if (!strcmp(words[0], "set"))
		return command_set(count, words, slot);
	if (!strcmp(words[0], "step"))
		return command_step(count, words, slot);
	if (strcmp(words[0], "reset") || count != 1)
		return refuse("unknown command: get, set, step, reset and serve are known");
	*slot = (struct clock_slot){0, 0, 0};
	return 1;
}

static void show(const struct clock_file *file) {
	int64_t machine_ns = machine_now_ns();
	struct clock_slot slot = rebased(file, machine_ns);
	printf("{\"machine_ns\":%" PRId64 ",\"node_ns\":%" PRId64 ",\"offset_ns\":%" PRId64 ",\"rate_ppm\":%" PRId64 "}\n",
	       machine_ns, machine_ns + slot.offset_ns, slot.offset_ns, slot.rate_ppm);
}

static int run(int fd, struct clock_file *file, int count, char **words) {
	if (count == 1 && !strcmp(words[0], "get"))
		return show(file), 1;
	flock(fd, LOCK_EX);
	struct clock_slot slot = rebased(file, machine_now_ns());
	int ok = changed_slot(count, words, &slot);
	if (ok)
		publish(file, slot);
	flock(fd, LOCK_UN);
	if (ok)
		show(file);
	return ok;
}

static void serve(int fd, struct clock_file *file) {
	char line[512], *words[WORDS_MAX];
	while (fgets(line, sizeof line, stdin)) {
		int count = 0;
		for (char *word = strtok(line, " \t\r\n"); word && count < WORDS_MAX; word = strtok(0, " \t\r\n"))
			words[count++] = word;
		if (count == 0)
			continue;
		if (!run(fd, file, count, words))
			printf("{\"error\":\"%s\"}\n", problem);
		fflush(stdout);
	}
}

int main(int argc, char **argv) {
	const char *path = getenv(CLOCK_PATH_VARIABLE);
	if (!path || !*path)
		path = DEFAULT_PATH;
	if (argc < 2 || !strcmp(argv[1], "--help"))
		return fputs(usage, argc < 2 ? stderr : stdout), argc < 2 ? 2 : 0;
	int fd = clock_open(path);
	struct clock_file *file = fd < 0 ? 0 : clock_map(fd, PROT_READ | PROT_WRITE);
	if (!file)
		return fprintf(stderr, "lockfault-clock: cannot map %s: %s\n", path, strerror(errno)), 1;
	if (!strcmp(argv[1], "serve"))
		return serve(fd, file), 0;
	if (run(fd, file, argc - 1, argv + 1))
		return 0;
	return fprintf(stderr, "lockfault-clock: %s\n%s", problem, usage), 2;
}
