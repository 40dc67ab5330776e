/*
 * A fuzz target without libFuzzer: runs it on every file named, and on every beginning of each, in
 * memory of just that length.
 *
 *   NAME FILE...
 *
 * Exit 0; 1: a file cannot be read; a claim that does not hold ends it by SIGABRT.
 */
#include <errno.h>

#include "fuzz.h"

#define FILE_MAX 65536

static int replay(const char *path)
{
	static uint8_t whole[FILE_MAX];
	FILE *in = fopen(path, "rb");

	if (in == NULL) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	size_t n = fread(whole, 1, sizeof whole, in);
	fclose(in);
	for (size_t k = 0; k <= n; k++) {
		uint8_t *part = malloc(k > 0 ? k : 1);
		if (part == NULL)
			abort();
		memcpy(part, whole, k);
		LLVMFuzzerTestOneInput(part, k);
		free(part);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int rc = 0;

	for (int i = 1; i < argc; i++) {
		fprintf(stderr, "%s\n", argv[i]); /* the last one named is the one that failed */
		rc |= replay(argv[i]);
	}
	return rc;
}
