/* candump -L text, both ways (can-utils: lib.c, candump.c are the definition). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/can.h"

#define SECOND_US 1000000

int can_print(const struct can_frame *f, int64_t t_us, const char *bus, char *buf, size_t n)
{
	char id[12], data[2 * CAN_MAX_DLEN + 1] = "";
	int len;

	if (t_us < 0 || f->len > CAN_MAX_DLEN)
		return -1;
	if (f->can_id & CAN_ERR_FLAG)
		snprintf(id, sizeof id, "%08X",
			(unsigned)(f->can_id & (CAN_ERR_MASK | CAN_ERR_FLAG)));
	else if (f->can_id & CAN_EFF_FLAG)
		snprintf(id, sizeof id, "%08X", (unsigned)(f->can_id & CAN_EFF_MASK));
	else
		snprintf(id, sizeof id, "%03X", (unsigned)(f->can_id & CAN_SFF_MASK));
	if (f->can_id & CAN_RTR_FLAG)
		snprintf(data, sizeof data, f->len ? "R%u" : "R", (unsigned)f->len);
	else
		for (int i = 0; i < f->len; i++)
			snprintf(data + 2 * i, 3, "%02X", (unsigned)f->data[i]);
	len = snprintf(buf, n, "(%010" PRId64 ".%06" PRId64 ") %s %s#%s\n", t_us / SECOND_US,
		t_us % SECOND_US, bus, id, data);
	return len < 0 || (size_t)len >= n ? -1 : len;
}

static bool digits(const char **p, size_t min, size_t max, int64_t *out)
{
	size_t n = strspn(*p, "0123456789");

	if (n < min || n > max)
		return false;
	*out = strtoll(*p, NULL, 10);
	*p += n;
	return true;
}

static int nibble(char c)
{
	const char *hex = "0123456789ABCDEF", *at;

	if (c >= 'a' && c <= 'f')
		c = (char)(c - 'a' + 'A');
	at = c ? strchr(hex, c) : NULL;
	return at ? (int)(at - hex) : -1;
}

static bool scan_id(const char **p, struct can_frame *f)
{
	uint32_t id = 0;
	int n = 0;

	for (int d; n <= 8 && (d = nibble(**p)) >= 0; n++, ++*p)
		id = id << 4 | (uint32_t)d;
	if (**p != '#' || (n != 3 && n != 8))
		return false;
	++*p;
	if (n == 3)
		f->can_id = id;
	else if (id & CAN_ERR_FLAG)
		f->can_id = id;
	else
		f->can_id = id | CAN_EFF_FLAG;
	return n == 3 ? id <= CAN_SFF_MASK : id <= (CAN_ERR_MASK | CAN_ERR_FLAG);
}

static bool scan_data(const char **p, struct can_frame *f)
{
	int hi, lo;

	if (**p == 'R') {
		++*p;
		f->can_id |= CAN_RTR_FLAG;
		if (**p >= '0' && **p <= '8')
			f->len = (uint8_t)(*(*p)++ - '0');
		return true;
	}
	while ((hi = nibble(**p)) >= 0) {
		lo = nibble((*p)[1]);
		if (lo < 0 || f->len == CAN_MAX_DLEN)
			return false;
		f->data[f->len++] = (uint8_t)(hi << 4 | lo);
		*p += 2;
	}
	return true;
}

bool can_scan(const char *line, struct can_frame *f, int64_t *t_us, char *bus, size_t bus_n)
{
	const char *p = line;
	int64_t sec, us;
	size_t n;

	memset(f, 0, sizeof *f);
	if (*p++ != '(' || !digits(&p, 1, 12, &sec) || *p++ != '.' || !digits(&p, 6, 6, &us) ||
		*p++ != ')' || *p++ != ' ')
		return false;
	p += strspn(p, " ");
	n = strcspn(p, " \r\n");
	if (n == 0 || n >= bus_n || p[n] != ' ')
		return false;
	memcpy(bus, p, n);
	bus[n] = '\0';
	p += n + 1;
	if (!scan_id(&p, f) || !scan_data(&p, f))
		return false;
	if (p[0] == ' ' && (p[1] == 'R' || p[1] == 'T'))
		p += 2;
	*t_us = sec * SECOND_US + us;
	return p[strspn(p, "\r\n")] == '\0';
}
