/* Messages: their form, and that nothing on the other side of stderr holds a process up. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "run/msg.h"

static int n, failed, rd;
static char got[8192];

static void ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++n, what);
	failed += !good;
}

/* stderr becomes a new pipe; rd is its reading end, non-blocking. */
static void new_pipe(void)
{
	int p[2];

	if (pipe(p) < 0)
		exit(1);
	dup2(p[1], STDERR_FILENO);
	close(p[1]);
	rd = p[0];
	fcntl(rd, F_SETFL, O_NONBLOCK);
}

static const char *read_all(void)
{
	ssize_t r = read(rd, got, sizeof got - 1);

	got[r > 0 ? r : 0] = '\0';
	return got;
}

static void form(void)
{
	struct msg_limit limit = { 0 };
	char big[5000];
	struct stat st;
	char env[64];

	new_pipe();
	msg_init("clamp");
	warn("%s: %s", "file", "reason");
	ok(strcmp(read_all(), "clamp: file: reason\n") == 0, "tool: what: why");
	info("detail");
	ok(read_all()[0] == '\0', "info is silent without -v");
	msg_set_level(1);
	info("detail");
	ok(strcmp(read_all(), "clamp: detail\n") == 0, "info speaks with -v");
	msg_set_level(-1);
	warn("x");
	ok(read_all()[0] == '\0', "quiet");
	msg_set_level(0);
	warn("a\nb\033[2J");
	ok(strcmp(read_all(), "clamp: a?b?[2J\n") == 0, "control bytes do not pass");
	memset(big, 'x', sizeof big);
	big[sizeof big - 1] = '\0';
	warn("%s", big);
	ok(strlen(read_all()) <= 4096 && got[strlen(got) - 1] == '\n' && strlen(got) > 4000,
		"a long line is cut to 4096 bytes and keeps its newline");
	msg_status("working");
	ok(read_all()[0] == '\0' && !msg_has_terminal(), "no status line on a pipe");

	warn_every(&limit, 1000, "bad line");
	warn_every(&limit, 2000, "bad line");
	warn_every(&limit, 1000999, "bad line");
	ok(strcmp(read_all(), "clamp: bad line\n") == 0, "one line a second");
	warn_every(&limit, 1001000, "bad line");
	ok(strcmp(read_all(), "clamp: bad line (and 2 more)\n") == 0, "the next tells how many");
	msg_line("{\"type\":\"status\"}\n");
	msg_line("{}");
	ok(strcmp(read_all(), "{\"type\":\"status\"}\n{}\n") == 0, "raw lines");

	new_pipe();
	fstat(STDERR_FILENO, &st);
	snprintf(env, sizeof env, "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", env, 1);
	warn("x");
	ok(strcmp(read_all(), "<4>clamp: x\n") == 0, "journal priorities when it is the journal");
	new_pipe();
	warn("x");
	ok(strcmp(read_all(), "clamp: x\n") == 0, "none when stderr went elsewhere");
	unsetenv("JOURNAL_STREAM");
}

static void full(void)
{
	char fill[65536] = { 0 };
	unsigned long before = msg_lost();
	int flags;

	new_pipe();
	warn("first");
	read_all();
	flags = fcntl(STDERR_FILENO, F_GETFL);
	ok(!(flags & O_NONBLOCK), "the inherited description stays as it was");
	/* Fill the pipe through a description of its own. */
	int own = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK);
	while (write(own, fill, sizeof fill) > 0)
		;
	close(own);
	alarm(5); /* a blocked write ends the test here */
	warn("lost");
	warn("lost too");
	alarm(0);
	ok(msg_lost() == before + 2, "a full pipe: lines lost are counted, nothing waits");
	while (read(rd, fill, sizeof fill) > 0)
		;
	warn("back");
	ok(strcmp(read_all(), "clamp: back\n") == 0, "and it goes on when there is room");
	close(rd);
	before = msg_lost();
	warn("nobody reads");
	ok(msg_lost() == before + 1, "a reader that went away does not end the process");
}

/* Just that comes out of a terminal, within 5 s: the kernel brings it in its own time. */
static bool arrives(const char *want)
{
	struct pollfd p = { rd, POLLIN, 0 };
	size_t at = 0;

	while (at < strlen(want) && poll(&p, 1, 5000) > 0) {
		ssize_t r = read(rd, got + at, sizeof got - 1 - at);
		if (r <= 0)
			break;
		at += (size_t)r;
	}
	got[at] = '\0';
	return strcmp(got, want) == 0;
}

/* A terminal whose output was stopped (Ctrl-S). */
static void terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	unsigned long before;
	int slave;
	struct termios tio;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
		(slave = open(ptsname(master), O_RDWR | O_NOCTTY)) < 0) {
		printf("ok %d # skip no pseudo terminal here\n", ++n);
		return;
	}
	tcgetattr(slave, &tio);
	cfmakeraw(&tio);
	tcsetattr(slave, TCSANOW, &tio);
	ioctl(slave, TIOCSWINSZ, &(struct winsize){ .ws_row = 24, .ws_col = 12 });
	dup2(slave, STDERR_FILENO);
	rd = master;
	fcntl(rd, F_SETFL, O_NONBLOCK);
	msg_status("0123456789abcdef");
	ok(msg_has_terminal() && arrives("\r0123456789a\033[K"), "a status line, cut to the width");
	warn("x");
	ok(arrives("\nclamp: x\n"), "a message ends the status line");
	msg_set_level(-1);
	msg_status("y");
	msg_set_level(0);
	warn("y");
	ok(arrives("clamp: y\n"), "none when quiet");
	before = msg_lost();
	tcflow(slave, TCOOFF);
	alarm(5);
	for (int i = 0; i < 50; i++)
		warn("stopped terminal %d", i);
	alarm(0);
	ok(msg_lost() == before + 50, "a stopped terminal holds nothing up");
	tcflow(slave, TCOON);
	warn("z");
	ok(arrives("clamp: z\n"), "and goes on");
}

static int status_of(void (*child)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		child();
		_exit(99);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void child_dies(void)
{
	die(EXIT_BADINPUT, "line %d: not a record", 7);
}

static void child_by_signal(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGTERM, SIG_IGN);
	msg_die_by_signal(SIGTERM);
}

static void endings(void)
{
	int st;

	new_pipe();
	msg_set_level(-1);
	st = status_of(child_dies);
	ok(WIFEXITED(st) && WEXITSTATUS(st) == 3 &&
			strcmp(read_all(), "clamp: line 7: not a record\n") == 0,
		"die: its code, and its line also when quiet");
	st = status_of(child_by_signal);
	ok(WIFSIGNALED(st) && WTERMSIG(st) == SIGTERM,
		"ends by the signal, blocked and ignored before");
}

int main(void)
{
	form();
	full();
	terminal();
	endings();
	printf("1..%d\n", n);
	return failed != 0;
}
