/*
 * Lawicel ASCII, both sides.  A line is collected byte by byte and judged at its CR; nothing is
 * taken from a line that is not wholly right.
 */
#include <linux/can/error.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "wire/slcan.h"

#define BEL '\a'

void slcan_init(struct slcan *s, bool adapter)
{
	memset(s, 0, sizeof *s);
	s->adapter = adapter;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* n hex digits at p; false when one is none (also at the terminating zero). */
static bool hex_number(const char *p, size_t n, uint32_t *out)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++) {
		int d = hex_digit(p[i]);
		if (d < 0)
			return false;
		v = v << 4 | (uint32_t)d;
	}
	*out = v;
	return true;
}

static bool parse_data(const char *p, uint8_t *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t v;
		if (!hex_number(p + 2 * i, 2, &v))
			return false;
		data[i] = (uint8_t)v;
	}
	return true;
}

/* t III L DD.. [SSSS], T IIIIIIII L DD.. [SSSS], r and R without data; SSSS: adapter's time. */
static bool parse_frame(const char *p, struct can_frame *f)
{
	bool ext = *p == 'T' || *p == 'R', rtr = *p == 'r' || *p == 'R';
	size_t id_n = ext ? 8 : 3, left;
	uint32_t id, stamp;

	memset(f, 0, sizeof *f);
	if (!hex_number(p + 1, id_n, &id) || id > (ext ? CAN_EFF_MASK : CAN_SFF_MASK))
		return false;
	p += 1 + id_n;
	if (*p < '0' || *p > '8')
		return false;
	f->len = (uint8_t)(*p++ - '0');
	f->can_id = id | (ext ? CAN_EFF_FLAG : 0) | (rtr ? CAN_RTR_FLAG : 0);
	if (!rtr) {
		if (!parse_data(p, f->data, f->len))
			return false;
		p += 2 * (size_t)f->len;
	}
	left = strlen(p);
	return left == 0 || (left == 4 && hex_number(p, 4, &stamp));
}

static bool decimal3(const char *p, uint8_t *out)
{
	unsigned v = 0;

	for (int i = 0; i < 3; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		v = v * 10 + (unsigned)(p[i] - '0');
	}
	*out = (uint8_t)(v > 255 ? 255 : v);
	return true;
}

static void error_frame(struct can_frame *f, canid_t what)
{
	memset(f, 0, sizeof *f);
	f->can_id = CAN_ERR_FLAG | what;
	f->len = CAN_ERR_DLC;
}

/* s + state + receive errors + transmit errors, three decimals each: "sb200255".  The error frame
 * is what the kernel's own slcan driver makes of it. */
static bool parse_state(const char *p, struct can_frame *f)
{
	uint8_t rx, tx, by_tx, by_rx;

	if (strlen(p) != 8 || !decimal3(p + 2, &rx) || !decimal3(p + 5, &tx))
		return false;
	error_frame(f, CAN_ERR_CRTL | CAN_ERR_CNT);
	f->data[6] = tx;
	f->data[7] = rx;
	switch (p[1]) {
	case 'b': f->can_id = CAN_ERR_FLAG | CAN_ERR_BUSOFF | CAN_ERR_CNT; return true;
	case 'a': f->data[1] = CAN_ERR_CRTL_ACTIVE; return true;
	case 'w': by_tx = CAN_ERR_CRTL_TX_WARNING, by_rx = CAN_ERR_CRTL_RX_WARNING; break;
	case 'p': by_tx = CAN_ERR_CRTL_TX_PASSIVE, by_rx = CAN_ERR_CRTL_RX_PASSIVE; break;
	default: return false;
	}
	f->data[1] = (uint8_t)((tx >= rx ? by_tx : 0) | (rx >= tx ? by_rx : 0));
	return true;
}

/* e + count + one letter per error: a no acknowledge, b B bit, c CRC, f form, s stuff,
 * o O overrun of receiver, transmitter. */
static bool parse_errors(const char *p, struct can_frame *f)
{
	size_t n = strlen(p);

	if (n < 3 || p[1] < '1' || p[1] > '9' || n != 2 + (size_t)(p[1] - '0'))
		return false;
	error_frame(f, 0);
	for (p += 2; *p; p++) {
		canid_t prot = CAN_ERR_PROT | CAN_ERR_BUSERROR;
		switch (*p) {
		case 'a':
			f->can_id |= CAN_ERR_ACK | CAN_ERR_BUSERROR;
			f->data[3] = CAN_ERR_PROT_LOC_ACK;
			break;
		case 'b': f->can_id |= prot, f->data[2] |= CAN_ERR_PROT_BIT0; break;
		case 'B': f->can_id |= prot, f->data[2] |= CAN_ERR_PROT_BIT1; break;
		case 'c': f->can_id |= prot, f->data[3] = CAN_ERR_PROT_LOC_CRC_SEQ; break;
		case 'f': f->can_id |= prot, f->data[2] |= CAN_ERR_PROT_FORM; break;
		case 's': f->can_id |= prot, f->data[2] |= CAN_ERR_PROT_STUFF; break;
		case 'o': f->can_id |= CAN_ERR_CRTL, f->data[1] |= CAN_ERR_CRTL_RX_OVERFLOW; break;
		case 'O': f->can_id |= CAN_ERR_CRTL, f->data[1] |= CAN_ERR_CRTL_TX_OVERFLOW; break;
		default: return false;
		}
	}
	return true;
}

static enum slcan_event host_line(const char *p, struct can_frame *f)
{
	switch (*p) {
	case 't':
	case 'T':
	case 'r':
	case 'R': return parse_frame(p, f) ? SLCAN_FRAME : SLCAN_DAMAGED;
	case '\0': return SLCAN_ACK;
	case 'z':
	case 'Z': return p[1] ? SLCAN_DAMAGED : SLCAN_ACK;
	case 's': return parse_state(p, f) ? SLCAN_STATE : SLCAN_DAMAGED;
	case 'e': return parse_errors(p, f) ? SLCAN_STATE : SLCAN_DAMAGED;
	case 'V':
	case 'v':
	case 'N':
	case 'F': return SLCAN_COMMAND;
	default: return SLCAN_DAMAGED;
	}
}

static enum slcan_event adapter_line(const char *p, struct can_frame *f)
{
	if (*p == '\0')
		return SLCAN_COMMAND;
	if (strchr("tTrR", *p))
		return parse_frame(p, f) ? SLCAN_FRAME : SLCAN_DAMAGED;
	return strchr("SsOLCFVvNZMmXWQPAU", *p) ? SLCAN_COMMAND : SLCAN_DAMAGED;
}

enum slcan_event slcan_byte(struct slcan *s, char c, struct can_frame *f)
{
	enum slcan_event e;

	if (c == BEL && !s->adapter) {
		s->n = 0;
		s->skipping = false;
		return SLCAN_NAK;
	}
	if (c != '\r') {
		if (s->n + 1 >= sizeof s->buf || c < ' ' || c > '~')
			s->skipping = true;
		if (!s->skipping)
			s->buf[s->n++] = c;
		return SLCAN_NONE;
	}
	s->buf[s->n] = '\0';
	if (s->skipping)
		e = SLCAN_DAMAGED;
	else if (s->adapter)
		e = adapter_line(s->buf, f);
	else
		e = host_line(s->buf, f);
	if (e == SLCAN_COMMAND || e == SLCAN_ACK)
		memcpy(s->cmd, s->buf, s->n + 1);
	s->n = 0;
	s->skipping = false;
	return e;
}

int slcan_print(const struct can_frame *f, char buf[SLCAN_TEXT_MAX])
{
	bool ext = f->can_id & CAN_EFF_FLAG, rtr = f->can_id & CAN_RTR_FLAG;
	canid_t id = f->can_id & CAN_EFF_MASK;
	int n;

	if (f->can_id & CAN_ERR_FLAG || f->len > CAN_MAX_DLEN || (!ext && id > CAN_SFF_MASK))
		return -1;
	n = snprintf(buf, SLCAN_TEXT_MAX, "%c%0*X%u", ext ? (rtr ? 'R' : 'T') : (rtr ? 'r' : 't'),
		ext ? 8 : 3, (unsigned)id, (unsigned)f->len);
	for (int i = 0; !rtr && i < f->len; i++)
		n += snprintf(buf + n, SLCAN_TEXT_MAX - (size_t)n, "%02X", (unsigned)f->data[i]);
	buf[n++] = '\r';
	buf[n] = '\0';
	return n;
}
