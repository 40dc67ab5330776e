/* See sender.h. */
#include "estop/sender.h"

#include <stdio.h>

void sender_init(struct sender *s, const char *src)
{
	*s = (struct sender){ .level = REC_HOLD };
	snprintf(s->src, sizeof s->src, "%s", src);
}

static void make_stop(struct sender *s, enum rec_level level, const struct order *o, struct rec *r)
{
	rec_init(r, REC_STOP, s->src, s->stops, o->t_us);
	s->stops++;
	s->level = level;
	r->u.stop.level = level;
	snprintf(r->u.stop.why, sizeof r->u.stop.why, "%s", o->why[0] ? o->why : "operator");
}

static void make_event(struct sender *s, const char *name, const struct order *o, struct rec *r)
{
	rec_init(r, REC_EVENT, s->src, s->events, o->t_us);
	s->events++;
	snprintf(r->u.event.name, sizeof r->u.event.name, "%s", name);
	snprintf(r->u.event.value, sizeof r->u.event.value, "%s", o->why);
	r->u.event.n = s->events;
}

bool sender_order(struct sender *s, const struct order *o, struct rec *r)
{
	switch (o->kind) {
	case ORDER_STOP: make_stop(s, REC_ESTOP, o, r); return true;
	case ORDER_HOLD:
	case ORDER_QUIT: make_stop(s, REC_HOLD, o, r); return true;
	case ORDER_RESET: make_event(s, "reset", o, r); return true;
	case ORDER_ENGAGE: make_event(s, "engage", o, r); return true;
	case ORDER_NONE: break;
	}
	return false;
}

void sender_beat(struct sender *s, int64_t now_us, struct rec *r)
{
	rec_init(r, REC_BEAT, s->src, s->beats, now_us);
	s->beats++;
	r->u.beat.stops = s->stops;
	r->u.beat.level = s->level;
}
