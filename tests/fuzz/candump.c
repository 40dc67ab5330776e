/* candump -L text: what is read prints as a line that reads the same; and so does any frame. */
#include "fuzz.h"
#include "wire/can.h"

static bool same(const struct can_frame *a, const struct can_frame *b)
{
	return a->can_id == b->can_id && a->len == b->len &&
	       memcmp(a->data, b->data, sizeof a->data) == 0;
}

static void print(const struct can_frame *f, int64_t t_us, const char *bus)
{
	struct can_frame again;
	char text[200], bus2[20];
	int64_t t2_us;

	CLAIM(can_print(f, t_us, bus, text, sizeof text) == (int)strlen(text));
	CLAIM(can_scan(text, &again, &t2_us, bus2, sizeof bus2));
	CLAIM(same(f, &again) && t2_us == t_us && strcmp(bus, bus2) == 0);
}

/* A frame as the kernel would give it. */
static void any_frame(struct bytes in)
{
	struct can_frame f = { .can_id = take_u32(&in) };
	int64_t t_us = (int64_t)(take_u64(&in) % UINT64_C(1000000000000000000));

	f.len = take_u8(&in) % 9;
	if (f.can_id & CAN_ERR_FLAG)
		f.can_id &= CAN_ERR_FLAG | CAN_ERR_MASK;
	else if (!(f.can_id & CAN_EFF_FLAG))
		f.can_id &= CAN_RTR_FLAG | CAN_SFF_MASK;
	if (!(f.can_id & CAN_RTR_FLAG))
		take(&in, f.data, f.len);
	print(&f, t_us, "can0");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct can_frame f;
	char *line = malloc(n + 1), bus[17];
	int64_t t_us;

	if (line == NULL)
		abort();
	memcpy(line, data, n);
	line[n] = '\0';
	if (can_scan(line, &f, &t_us, bus, sizeof bus)) {
		CLAIM(f.len <= CAN_MAX_DLEN && t_us >= 0 && bus[0] != '\0');
		print(&f, t_us, bus);
	}
	free(line);
	any_frame((struct bytes){ data, n });
	return 0;
}
