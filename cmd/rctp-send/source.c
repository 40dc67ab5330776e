#include "rctp-send/source.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static bool has_packet(FILE *f)
{
	uint8_t bytes[RCTP_SIZE];
	struct rctp r;
	bool found = false;

	while (!found && fread(bytes, 1, RCTP_SIZE, f) == RCTP_SIZE)
		found = rctp_decode(bytes, RCTP_SIZE, &r) == RCTP_OK;
	rewind(f);
	return found;
}

int source_open_file(struct source *s, const char *path, char *why, size_t n)
{
	struct stat st;

	s->kind = SOURCE_FILE;
	s->file = fopen(path, "re");
	if (s->file == NULL || fstat(fileno(s->file), &st) < 0) {
		snprintf(why, n, "%s: %s", path, strerror(errno));
		return -1;
	}
	if (!S_ISREG(st.st_mode) || st.st_size < RCTP_SIZE) {
		snprintf(why, n, "%s: not a regular file with 45 bytes or more", path);
		return -1;
	}
	if (!has_packet(s->file)) {
		snprintf(why, n, "%s: no RCTP packet in it", path);
		return -1;
	}
	return 0;
}

static int next_of_motion(struct source *s, struct packet *p)
{
	struct rctp r = { .flags = RCTP_VALID };

	p->at_us = llround((double)s->n++ * 1e6 / s->rate_hz);
	r.time_s = (double)p->at_us * 1e-6;
	/* Whoever has been told an end does not go past it. */
	if (s->motion.total_s > 0 && r.time_s >= s->motion.total_s)
		return 0;
	motion_at(&s->motion, r.time_s, &r.pose, &r.grip);
	rctp_encode(&r, p->bytes);
	p->time_s = r.time_s;
	return 1;
}

static int next_of_file(struct source *s, struct packet *p)
{
	struct rctp r;

	while (fread(p->bytes, 1, RCTP_SIZE, s->file) != RCTP_SIZE) {
		if (ferror(s->file))
			return -1;
		if (!s->loop)
			return 0;
		rewind(s->file);
		s->tape = (struct rctp_tape)RCTP_TAPE_INIT;
		s->pass_us = s->last_us + s->step_us;
		s->again = true;
	}
	bool is_ok = rctp_decode(p->bytes, RCTP_SIZE, &r) == RCTP_OK;
	s->bad += !is_ok;
	p->time_s = is_ok ? r.time_s : (double)NAN;
	int64_t t_us = rctp_tape_next(&s->tape, p->time_s);
	if (ftello(s->file) == RCTP_SIZE)
		s->first_us = t_us;
	p->at_us = s->pass_us + t_us - s->first_us;
	if (s->rate_hz > 0)
		p->at_us = llround((double)s->n * 1e6 / s->rate_hz);
	if (p->at_us > s->last_us)
		s->step_us = p->at_us - s->last_us;
	s->last_us = p->at_us;
	s->n++;
	if (s->again)
		p->time_s = (double)NAN;
	return 1;
}

int source_next(struct source *s, struct packet *p)
{
	return s->kind == SOURCE_MOTION ? next_of_motion(s, p) : next_of_file(s, p);
}

int source_record(struct source *s, const char *line, size_t n, struct packet *p)
{
	struct rctp out;
	struct rec r;
	char why[128];

	if (rec_parse(line, n, &r, why, sizeof why) < 0) {
		s->bad++;
		return 0;
	}
	if (r.type != REC_POSE || r.u.pose.frame != REC_VR) {
		s->others++;
		return 0;
	}
	if (s->n++ == 0)
		s->first_us = r.t_us;
	if (r.u.pose.has_grip)
		s->grip = r.u.pose.grip;
	out.pose = r.u.pose.pose;
	out.grip = s->grip;
	out.flags = r.u.pose.has_flags ? (uint8_t)r.u.pose.flags : RCTP_VALID;
	/* What is not valid must not become so on the other side. */
	if (!r.u.pose.valid)
		out.flags &= (uint8_t)~RCTP_VALID;
	out.time_s = r.u.pose.has_ts ? r.u.pose.ts : (double)r.t_us * 1e-6;
	rctp_encode(&out, p->bytes);
	p->time_s = out.time_s;
	p->at_us = r.t_us > s->first_us ? r.t_us - s->first_us : 0;
	return 1;
}
