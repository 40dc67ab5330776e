/*
 * Lawicel text, both sides, any bytes: a frame it gives is a frame, prints, and reads back the same
 * on either side; after a CR nothing is remembered of what came before.
 */
#include <linux/can/error.h>

#include "fuzz.h"
#include "wire/slcan.h"

static bool same(const struct can_frame *a, const struct can_frame *b)
{
	return a->can_id == b->can_id && a->len == b->len &&
	       memcmp(a->data, b->data, sizeof a->data) == 0;
}

static void reads_back(const struct can_frame *f, bool adapter)
{
	struct slcan s;
	struct can_frame again;
	char text[SLCAN_TEXT_MAX];
	int n = slcan_print(f, text);

	CLAIM(n > 0 && n < SLCAN_TEXT_MAX && text[n] == '\0' && text[n - 1] == '\r');
	slcan_init(&s, adapter);
	for (int i = 0; i < n - 1; i++)
		CLAIM(slcan_byte(&s, text[i], &again) == SLCAN_NONE);
	CLAIM(slcan_byte(&s, '\r', &again) == SLCAN_FRAME && same(f, &again));
}

static void look(enum slcan_event e, const struct slcan *s, const struct can_frame *f)
{
	CLAIM(memchr(s->cmd, '\0', sizeof s->cmd) != NULL);
	switch (e) {
	case SLCAN_FRAME:
		CLAIM(f->len <= CAN_MAX_DLEN && !(f->can_id & CAN_ERR_FLAG));
		CLAIM((f->can_id & CAN_EFF_FLAG) || (f->can_id & CAN_EFF_MASK) <= CAN_SFF_MASK);
		reads_back(f, false);
		reads_back(f, true);
		break;
	case SLCAN_STATE:
		CLAIM(!s->adapter && (f->can_id & CAN_ERR_FLAG) && f->len == CAN_ERR_DLC);
		break;
	case SLCAN_NAK: CLAIM(!s->adapter); break;
	case SLCAN_ACK: CLAIM(!s->adapter && strlen(s->cmd) <= 1); break;
	case SLCAN_COMMAND: CLAIM(s->adapter || strchr("VvNF", s->cmd[0]) != NULL); break;
	case SLCAN_NONE:
	case SLCAN_DAMAGED: break;
	}
}

static void side(const uint8_t *data, size_t n, bool adapter)
{
	struct slcan whole, fresh;
	struct can_frame f, g;

	slcan_init(&whole, adapter);
	slcan_init(&fresh, adapter);
	for (size_t i = 0; i < n; i++) {
		char c = (char)data[i];
		enum slcan_event e = slcan_byte(&whole, c, &f);
		look(e, &whole, &f);
		CLAIM(slcan_byte(&fresh, c, &g) == e);
		CLAIM((e != SLCAN_FRAME && e != SLCAN_STATE) || same(&f, &g));
		if (c == '\r' || e == SLCAN_NAK)
			slcan_init(&fresh, adapter);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	side(data, n, false);
	side(data, n, true);
	return 0;
}
