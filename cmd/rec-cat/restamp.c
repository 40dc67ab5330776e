/* See restamp.h. */
#include "rec-cat/restamp.h"

#include <math.h>
#include <string.h>

#define T_MAX INT64_C(9007199254740992) /* of a record's t */

void restamp_init(struct restamp *s, double speed)
{
	*s = (struct restamp){ .speed = speed };
}

void restamp_begin(struct restamp *s, int64_t first_us, int64_t base_us)
{
	s->first_us = first_us;
	s->base_us = base_us;
	s->last_us = base_us;
}

int64_t restamp_next_base(const struct restamp *s)
{
	return s->last_us + RESTAMP_APART_US;
}

int64_t restamp_t(struct restamp *s, int64_t t_us)
{
	int64_t after = t_us - s->first_us;

	if (s->speed > 0 && s->speed != 1) {
		double scaled = (double)after / s->speed;
		after = fabs(scaled) < (double)T_MAX ? llrint(scaled) : T_MAX;
	}
	int64_t t = s->base_us + after;
	t = t < 0 ? 0 : t > T_MAX ? T_MAX : t;
	if (t > s->last_us)
		s->last_us = t;
	return t;
}

bool restamp_plays(const struct rec *r)
{
	if (r->type == REC_BEAT)
		return false;
	return r->type != REC_EVENT ||
	       (strcmp(r->u.event.name, "reset") != 0 && strcmp(r->u.event.name, "engage") != 0);
}
