/* Command lines: what is taken, and the one line and exit 2 for what is not. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/msg.h"
#include "run/opt.h"
#include "run/ready.h"

static int n, failed;
static struct run_opts o;
static double num;
static int argc_of;
static char *argv_of[16];

static void ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++n, what);
	failed += !good;
}

static int parse(const char *words)
{
	static char text[256];
	struct opt table[] = {
		OPT_IN(o),
		OPT_OUT(o),
		OPT_COUNT(o),
		OPT_MAX_AGE(o),
		OPT_STRICT(o),
		OPT_STATS(o),
		OPT_CLOCK(o),
		{ OPT_NUM, 0, "speed", &num, "M", "speed [m/s] (default 0.25)", 0.001, 2, NULL },
		{ OPT_END, 0, NULL, NULL, NULL, NULL, 0, 0, NULL },
	};
	const struct opt_tool tool = { "clamp", "BUS", "Keep targets inside a box.", table, 0, 2 };

	o = (struct run_opts)RUN_OPTS_INIT;
	num = 0.25;
	msg_set_level(0);
	snprintf(text, sizeof text, "clamp %s", words);
	argc_of = 0;
	for (char *w = strtok(text, " "); w && argc_of < 15; w = strtok(NULL, " "))
		argv_of[argc_of++] = w;
	argv_of[argc_of] = NULL;
	return opt_parse(&tool, argc_of, argv_of);
}

static void taken(void)
{
	int i = parse("can0 -n 5 --speed=1.5 -o a.nd -o - --strict -vv -- --x");

	ok(i == argc_of - 2 && strcmp(argv_of[i], "can0") == 0 &&
			strcmp(argv_of[i + 1], "--x") == 0,
		"operands between options and behind --");
	ok(o.count == 5 && num == 1.5 && o.out.n == 2 && strcmp(o.out.v[1], "-") == 0 && o.strict &&
			msg_level() == 2,
		"values reach their places");
	i = parse("-i - - --max-age 0.05s --clock input -q");
	ok(i == argc_of - 1 && strcmp(argv_of[i], "-") == 0 && o.max_age_us == 50000 &&
			o.clock_input && msg_level() == -1,
		"a lone - is an operand or a value");
	i = parse("");
	ok(i == argc_of && o.max_age_us == 100000 && o.ready_fd == -1, "defaults stay");
	i = parse("-n5 -i--strict");
	ok(i == argc_of && o.count == 5 && strcmp(o.in, "--strict") == 0 && !o.strict,
		"a value that looks like an option is a value");
}

/* Runs parse in a child; its output in buf, its exit code returned. */
static int run(const char *words, int fd, char *buf, size_t size)
{
	int p[2], status;
	size_t len = 0;
	ssize_t r;
	pid_t pid;

	fflush(stdout);
	if (pipe(p) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		if (fd == STDERR_FILENO)
			dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		dup2(p[1], fd);
		close(p[0]);
		parse(words);
		_exit(0);
	}
	close(p[1]);
	while ((r = read(p[0], buf + len, size - 1 - len)) > 0)
		len += (size_t)r;
	buf[len] = '\0';
	close(p[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void refused(void)
{
	static const char *const cases[][2] = {
		{ "--cou 5", "--cou: no such option" },
		{ "--coun=5", "--coun: no such option" },
		{ "--verb", "--verb: no such option" },
		{ "--foo=1", "--foo: no such option" },
		{ "-Z", "-Z: no such option" },
		{ "-qZ", "-Z: no such option" },
		{ "-n", "-n: needs an argument" },
		{ "--count", "--count: needs an argument" },
		{ "--strict=1", "--strict: takes no argument" },
		{ "-n 1.5", "--count: '1.5' is not a whole number" },
		{ "-n -1", "--count: '-1' is not a whole number from 0" },
		{ "--speed nan", "--speed: 'nan' is not a number from 0.001 to 2" },
		{ "--speed 3", "--speed: '3' is not a number from 0.001 to 2" },
		{ "--max-age 100", "--max-age: '100' is not a duration" },
		{ "--max-age 11s", "--max-age: '11s' is not between 1ms and 10000ms" },
		{ "--max-age 0", "--max-age: '0' is not between 1ms" },
		{ "--clock wall", "--clock: 'wall' is neither mono nor input" },
		{ "a b c", "c: one operand too many" },
	};
	char buf[1024], want[128];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int rc = run(cases[i][0], STDERR_FILENO, buf, sizeof buf);
		const char *end = strstr(buf, "; try 'clamp --help'\n");

		snprintf(want, sizeof want, "clamp: %s", cases[i][1]);
		ok(rc == 2 && strncmp(buf, want, strlen(want)) == 0 && end &&
				strchr(buf, '\n') == buf + strlen(buf) - 1,
			cases[i][0]);
	}
}

/* A table in which two options share a name or a letter does not start. */
static int status_of_table(char key, const char *name)
{
	bool a, b;
	const struct opt table[] = {
		{ OPT_FLAG, 'x', "stop", &a, NULL, "", 0, 0, NULL },
		{ OPT_FLAG, key, name, &b, NULL, "", 0, 0, NULL },
		{ OPT_END, 0, NULL, NULL, NULL, NULL, 0, 0, NULL },
	};
	const struct opt_tool tool = { "clamp", "", "Text.", table, 0, 0 };
	char word[] = "clamp", *argv[] = { word, NULL };
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		opt_parse(&tool, 1, argv);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void tables(void)
{
	ok(status_of_table('y', "other") == 0, "a good table");
	ok(status_of_table(0, "stop") == 1, "a long name used twice");
	ok(status_of_table('x', "other") == 1, "a letter used twice");
	ok(status_of_table('q', "other") == 1, "a letter every tool has");
}

static void help(void)
{
	char buf[4096];
	int rc = run("--help", STDOUT_FILENO, buf, sizeof buf);
	bool narrow = true;

	ok(rc == 0 && strncmp(buf, "usage: clamp [OPTION]... BUS\n", 29) == 0, "--help: usage");
	ok(strstr(buf, "\nKeep targets inside a box.\n") && strstr(buf, "\nsee clamp(1)\n"),
		"the sentence and the page");
	ok(strstr(buf, "\n  -n, --count N         end after N records"), "GNU layout");
	ok(strstr(buf, "\n      --speed M         speed [m/s] (default 0.25)\n"),
		"without a letter");
	for (char *l = strtok(buf, "\n"); l; l = strtok(NULL, "\n"))
		narrow = narrow && strlen(l) <= 78;
	ok(narrow, "no line beyond 78 columns");
	rc = run("-V", STDOUT_FILENO, buf, sizeof buf);
	ok(rc == 0 && strcmp(buf, "clamp " TELEOP_VERSION "\nrecord schema 1\n") == 0, "-V");
	ok(run("--help", STDERR_FILENO, buf, sizeof buf) == 0 && buf[0] == '\0',
		"help says nothing on stderr");
}

static void ready(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int p[2], s = socket(AF_UNIX, SOCK_DGRAM, 0), flags;
	char buf[64] = "", name[64];
	ssize_t r;

	snprintf(name, sizeof name, "@teleop-ready-test-%d", (int)getpid());
	strcpy(sa.sun_path + 1, name + 1);
	if (pipe(p) < 0 || bind(s, (struct sockaddr *)&sa,
				   (socklen_t)(sizeof sa.sun_family + strlen(name))) < 0) {
		ok(false, "notify socket");
		return;
	}
	setenv("NOTIFY_SOCKET", name, 1);
	ready_say(p[1], "port 8888");
	r = read(p[0], buf, sizeof buf);
	ok(r == 10 && memcmp(buf, "port 8888\n", 10) == 0 && read(p[0], buf, 1) == 0 &&
			(flags = fcntl(p[1], F_GETFD)) < 0,
		"one line to the descriptor, which is then closed");
	r = recv(s, buf, sizeof buf, MSG_DONTWAIT);
	ok(r == 7 && memcmp(buf, "READY=1", 7) == 0, "READY=1 to an abstract notify socket");
	unsetenv("NOTIFY_SOCKET");
	if (pipe(p) < 0)
		return;
	close(p[0]);
	msg_set_level(-1);
	ready_say(p[1], NULL);
	ok(true, "nobody reading is no reason to die");
}

int main(void)
{
	alarm(30);
	taken();
	refused();
	tables();
	help();
	ready();
	printf("1..%d\n", n);
	return failed != 0;
}
