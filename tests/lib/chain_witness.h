/*
 * Whether the machine itself was late: a thread on each CPU that wakes each millisecond, and the
 * kernel's count of how long threads of the chain were ready and had no CPU. Included by chain_rig.h
 * behind struct rig.
 */
#ifndef LIB_CHAIN_WITNESS_H
#define LIB_CHAIN_WITNESS_H

/* One on each CPU: what waits behind others on one is not seen from another. */
static void *watch_clock(void *arg)
{
	int64_t due = clock_now();
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET((size_t)(intptr_t)arg, &only);
	(void)pthread_setaffinity_np(pthread_self(), sizeof only, &only); /* not ours: any other */
	while (!__atomic_load_n(&rig.ending, __ATOMIC_RELAXED)) {
		due += MS;
		struct timespec ts = { due / 1000000, due % 1000000 * 1000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		int64_t now = clock_now();
		if (now - due > WITNESS_LATE_US) {
			pthread_mutex_lock(&rig.lock);
			rig.late[rig.n_late++ % LATE_MAX] = (struct late){ now, now - due };
			pthread_mutex_unlock(&rig.lock);
			due = now;
		}
	}
	return NULL;
}

/* The machine was held up at some moment of from..to. */
static bool was_held_up(int64_t from, int64_t to)
{
	bool found = false;

	pthread_mutex_lock(&rig.lock);
	for (long i = 0; i < rig.n_late && i < LATE_MAX && !found; i++)
		found = rig.late[i].t >= from && rig.late[i].t - rig.late[i].by <= to;
	pthread_mutex_unlock(&rig.lock);
	return found;
}

/* How long each thread of the chain was ready to run and had no CPU, as the kernel counts it. */
struct waits {
	int n;
	struct {
		int tid;
		int64_t ns;
	} v[WAITS_MAX];
};

static void waits_of(struct waits *w, pid_t pid)
{
	char path[300];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	for (d = opendir(path); d && w->n < WAITS_MAX && (e = readdir(d));) {
		long long ran, waited;
		FILE *f;
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)pid, e->d_name);
		if (e->d_name[0] == '.' || !(f = fopen(path, "r")))
			continue;
		if (fscanf(f, "%lld %lld", &ran, &waited) == 2) {
			w->v[w->n].tid = atoi(e->d_name);
			w->v[w->n++].ns = waited;
		}
		fclose(f);
	}
	if (d)
		closedir(d);
}

static void waits_now(struct waits *w)
{
	w->n = 0;
	for (int i = 0; i < ROLES; i++)
		if (rig.pid[i] > 0)
			waits_of(w, rig.pid[i]);
}

/* The longest wait of one thread since, us. */
static int64_t waits_since(const struct waits *before)
{
	struct waits now;
	int64_t worst = 0;

	waits_now(&now);
	for (int i = 0; i < now.n; i++)
		for (int k = 0; k < before->n; k++)
			if (before->v[k].tid == now.v[i].tid &&
				now.v[i].ns - before->v[k].ns > worst)
				worst = now.v[i].ns - before->v[k].ns;
	return worst / 1000;
}

#endif
