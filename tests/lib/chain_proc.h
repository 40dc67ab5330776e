/* The stages as processes: started with pipes of our own, ended by their pid. */
#ifndef LIB_CHAIN_PROC_H
#define LIB_CHAIN_PROC_H

#include <spawn.h>
#include <sys/stat.h>

#include "chain_hand.h"

extern char **environ;

struct rig_opts {
	bool relative;   /* pose-xform follows the arm */
	bool feed;       /* no rctp-recv: rig_source is the pipe into pose-xform; no stop channel */
	bool keep_pipes; /* keep write ends, of small pipes, to see whether they are full */
	bool runner;     /* the stages run under pipelines/lib.sh */
	const char *more; /* an argument more for the writer, or NULL */
	const char *more_value;
};
static struct rig_opts opts;
static int rig_source = -1;
static pid_t spawned[64];
static int n_spawned;

static void make_pipe(int p[2])
{
	if (pipe2(p, O_CLOEXEC) < 0)
		give_up("pipe: %s", strerror(errno));
}

/* fds -1: /dev/null; err: a log file per program. */
static pid_t spawn(const char *const *argv, int in, int out, bool session)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	char err[220];
	sigset_t none, dfl;
	pid_t pid;
	int rc;

	snprintf(err, sizeof err, "%s/%s.err", rig.dir,
		strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0]);
	posix_spawn_file_actions_init(&fa);
	if (in < 0)
		posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	else
		posix_spawn_file_actions_adddup2(&fa, in, 0);
	if (out < 0)
		posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	else
		posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_addopen(&fa, 2, err, O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawnattr_init(&at);
	sigemptyset(&none);
	sigemptyset(&dfl);
	sigaddset(&dfl, SIGPIPE);
	sigaddset(&dfl, SIGINT);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setsigdefault(&at, &dfl);
	posix_spawnattr_setflags(&at, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
					      (session ? POSIX_SPAWN_SETSID : 0)));
	rc = posix_spawnp(&pid, argv[0], &fa, &at, (char *const *)(uintptr_t)argv, environ);
	if (rc)
		give_up("%s: %s", argv[0], strerror(rc));
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	for (int i = 0; i < n_spawned; i++)
		if (spawned[i] == 0) {
			spawned[i] = pid;
			return pid;
		}
	if (n_spawned == 64)
		give_up("too many processes");
	spawned[n_spawned++] = pid;
	return pid;
}

/* Reaps a child within ms; its wait status, -1: it is still there. */
static int reap(pid_t pid, int ms)
{
	int64_t until = clock_now() + (int64_t)ms * MS;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (clock_now() > until)
			return -1;
		observe(1);
	}
	for (int i = 0; i < n_spawned; i++)
		if (spawned[i] == pid)
			spawned[i] = 0;
	return status;
}

static void end_all(void)
{
	for (int i = 0; i < n_spawned; i++)
		if (spawned[i]) {
			kill(spawned[i], SIGCONT);
			kill(spawned[i], SIGKILL);
			waitpid(spawned[i], NULL, 0);
		}
	n_spawned = 0;
	__atomic_store_n(&rig.ending, true, __ATOMIC_RELAXED);
}

static pid_t sim_begin(void)
{
	int p[2];
	const char *const argv[] = { "piper-sim", "--start", "0,86,-45,0,24,0", "--log", "-",
		"--control", rig.control, rig.bus, NULL };

	make_pipe(p);
	rig.sim_out = p[0];
	rig.pid[SIM] = spawn(argv, -1, p[1], false);
	close(p[1]);
	return rig.pid[SIM];
}

static bool is_there(const void *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* NULL-terminated list with room for more. */
struct args {
	const char *v[24];
	int n;
};

static void arg(struct args *a, const char *s)
{
	a->v[a->n++] = s;
	a->v[a->n] = NULL;
}

static void stages_begin(void)
{
	int p[4][2];
	char port[16];
	struct args recv = { 0 }, xform = { 0 }, clamp = { 0 }, writer = { 0 };

	for (int i = 0; i < 4; i++) {
		make_pipe(p[i]);
		if (opts.keep_pipes)
			(void)fcntl(p[i][1], F_SETPIPE_SZ, 8192); /* full sooner */
	}
	snprintf(port, sizeof port, "%d", rig.port);
	arg(&recv, "rctp-recv"), arg(&recv, "--port"), arg(&recv, port);
	arg(&recv, "-e"), arg(&recv, rig.stop);
	arg(&xform, "pose-xform");
	if (opts.relative)
		arg(&xform, "--relative"), arg(&xform, "--arm"), arg(&xform, rig.fb);
	arg(&clamp, "clamp"), arg(&clamp, "--preset"), arg(&clamp, "piper");
	arg(&writer, "piper-can-write"), arg(&writer, "-v");
	arg(&writer, "-o"), arg(&writer, "-"), arg(&writer, "-o"), arg(&writer, rig.fb);
	if (!opts.feed)
		arg(&writer, "-e"), arg(&writer, rig.stop);
	if (opts.more)
		arg(&writer, opts.more), arg(&writer, opts.more_value);
	arg(&writer, rig.bus);
	if (opts.feed)
		rig_source = fcntl(p[0][1], F_DUPFD_CLOEXEC, 10);
	else
		rig.pid[RECV] = spawn(recv.v, -1, p[0][1], false);
	rig.pid[XFORM] = spawn(xform.v, p[0][0], p[1][1], false);
	rig.pid[CLAMP] = spawn(clamp.v, p[1][0], p[2][1], false);
	rig.pid[WRITER] = spawn(writer.v, p[2][0], p[3][1], false);
	rig.writer_out = p[3][0];
	for (int i = 0; i < 4; i++) {
		if (i < 3)
			close(p[i][0]);
		if (opts.keep_pipes && i < 2)
			rig.fill[i] = p[i][1];
		else
			close(p[i][1]);
	}
}

/* The same stages, as a script would run them (tests/lib/chain_runner). */
static pid_t runner_begin(const char *script)
{
	int p[2];
	char port[16];
	const char *const argv[] = { script, NULL };

	make_pipe(p);
	snprintf(port, sizeof port, "%d", rig.port);
	setenv("CHAIN_PORT", port, 1);
	setenv("CHAIN_STOP", rig.stop, 1);
	setenv("CHAIN_FB", rig.fb, 1);
	setenv("CHAIN_BUS", rig.bus, 1);
	setenv("TELEOP_RUNTIME_DIR", rig.dir, 1);
	pid_t pid = spawn(argv, -1, p[1], true);
	close(p[1]);
	rig.writer_out = p[0];
	return pid;
}

static void rig_begin(const char *dir)
{
	pthread_condattr_t ca;

	signal(SIGPIPE, SIG_IGN);
	atexit(end_all);
	snprintf(rig.dir, sizeof rig.dir, "%s", dir);
	snprintf(rig.bus, sizeof rig.bus, "slcan:%.80s/arm", dir);
	snprintf(rig.fb, sizeof rig.fb, "ipc://%.80s/fb", dir);
	snprintf(rig.stop, sizeof rig.stop, "ipc://%.80s/stop", dir);
	snprintf(rig.control, sizeof rig.control, "%.80s/orders", dir);
	rig.port = free_port();
	rig.writer_out = rig.fill[0] = rig.fill[1] = -1;
	pthread_condattr_init(&ca);
	pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
	pthread_cond_init(&rig.news, &ca);
	sim_begin();
	if (!await(is_there, rig.control, 5000) || !await(is_there, strchr(rig.bus, ':') + 1, 5000))
		give_up("piper-sim does not come up");
	for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN) && i < CPUS_MAX; i++)
		pthread_create(&rig.clock[i], NULL, watch_clock, (void *)(intptr_t)i);
	pthread_create(&rig.reader, NULL, read_all, NULL);
	hand_begin();
}

static void sim_order(const char *line)
{
	int fd = open(rig.control, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || dprintf(fd, "%s\n", line) < 0)
		give_up("%s: %s", rig.control, strerror(errno));
	close(fd);
}

#endif
