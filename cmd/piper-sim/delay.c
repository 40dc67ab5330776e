#include "piper-sim/delay.h"

#include <stddef.h>

struct delay_burst *delay_put(struct delay *d)
{
	if (d->head - d->tail == DELAY_BURSTS)
		d->tail++;
	return &d->b[d->head++ % DELAY_BURSTS];
}

const struct delay_burst *delay_get(struct delay *d, int64_t now_us)
{
	const struct delay_burst *b = &d->b[d->tail % DELAY_BURSTS];

	if (d->head == d->tail || b->made_us + d->delay_us > now_us)
		return NULL;
	d->tail++;
	return b;
}

void delay_clear(struct delay *d)
{
	d->tail = d->head;
}
