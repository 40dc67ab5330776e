#include "lease.h"

#include <stdio.h>
#include <string.h>

static struct lease *find(struct leases *l, const char *src)
{
	for (int i = 0; i < l->n; i++)
		if (strcmp(l->of[i].src, src) == 0)
			return &l->of[i];

	struct lease *k = NULL;

	for (int i = 0; i < l->n && !k; i++)
		if (l->n == LEASE_MAX && l->of[i].dropped)
			k = &l->of[i];
	if (!k && l->n < LEASE_MAX)
		k = &l->of[l->n++];
	if (!k)
		return NULL;

	*k = (struct lease){ .t_us = INT64_MIN };
	snprintf(k->src, sizeof(k->src), "%s", src);
	return k;
}

bool lease_beat(struct leases *l, const char *src, const struct rec_beat *b, int64_t t_us)
{
	struct lease *k = find(l, src);

	if (!k) {
		l->refused++;
		return b->stops > 0;
	}
	if (t_us > k->t_us)
		k->t_us = t_us;
	k->dropped = false;
	if (b->stops < k->stops)
		k->stops = 0;

	bool rose = b->stops > k->stops;

	k->stops = b->stops;
	return rose;
}

const char *lease_lost(const struct leases *l, int64_t now_us, int64_t lease_us)
{
	for (int i = 0; i < l->n; i++)
		if (!l->of[i].dropped && now_us - l->of[i].t_us > lease_us)
			return l->of[i].src;
	return NULL;
}

int lease_count(const struct leases *l)
{
	int n = 0;

	for (int i = 0; i < l->n; i++)
		n += !l->of[i].dropped;
	return n;
}

void lease_drop_lost(struct leases *l, int64_t now_us, int64_t lease_us)
{
	for (int i = 0; i < l->n; i++)
		if (now_us - l->of[i].t_us > lease_us)
			l->of[i].dropped = true;
}
