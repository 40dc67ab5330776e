/*
 * What the fuzz targets share.  Each tests/fuzz/NAME.c is one target: it defines
 * LLVMFuzzerTestOneInput, which libFuzzer (make fuzz) or replay.c (make check, over
 * tests/fuzz/corpus/NAME/) calls with any bytes.  A claim that does not hold ends the program.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define CLAIM(so)                                                                                  \
	do {                                                                                       \
		if (!(so)) {                                                                       \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #so);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Input that is consumed; behind its end come zeros. */
struct bytes {
	const uint8_t *p;
	size_t n;
};

static inline void take(struct bytes *b, void *out, size_t n)
{
	size_t k = n < b->n ? n : b->n;

	memset(out, 0, n);
	if (k > 0)
		memcpy(out, b->p, k);
	b->p += k;
	b->n -= k;
}

static inline uint8_t take_u8(struct bytes *b)
{
	uint8_t v;

	take(b, &v, sizeof v);
	return v;
}

static inline uint16_t take_u16(struct bytes *b)
{
	uint16_t v;

	take(b, &v, sizeof v);
	return v;
}

static inline uint32_t take_u32(struct bytes *b)
{
	uint32_t v;

	take(b, &v, sizeof v);
	return v;
}

static inline uint64_t take_u64(struct bytes *b)
{
	uint64_t v;

	take(b, &v, sizeof v);
	return v;
}

static inline double take_f64(struct bytes *b)
{
	double v;

	take(b, &v, sizeof v);
	return v;
}

static inline double take_f32(struct bytes *b)
{
	float v;

	take(b, &v, sizeof v);
	return (double)v;
}

/* The same bits, so that -0 is not 0 and a NaN is itself. */
static inline bool same_bits(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n) == 0;
}

#endif
