/*
 * checker: an independent judge of a run.
 *
 *   checker [options] LOG     candump -L text of the bus, "-" standard input; # begins a comment
 *
 * Reads what was on the bus (own frames, or both ways) and, with --records, the writer's command
 * and feedback records, and names every breach of GATE.md: one line each, then a summary with
 * maxima. Exit 0: none, 1: some, 2: usage or unreadable input.
 *
 * Exempt (end of GATE.md): hold sets from step and acceleration; acceleration and step across a
 * HOLD; a set that a hold set overtook is whole when all its frames follow. Acceleration that
 * gave way to the lead bound (gate:G9) is counted in the summary.
 */
#include <getopt.h>
#include <stdarg.h>

#include "checker_arm.h"
#include "checker_conf.h"
#include "checker_judge.h"

static int read_log(struct judge *j, const char *path)
{
	FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char line[512];
	struct frame f;

	if (!in) {
		fprintf(stderr, "checker: %s: %s\n", path, strerror(errno));
		return -1;
	}
	while (fgets(line, sizeof(line), in)) {
		j->line++;
		if (line[0] == '\n' || line[0] == '#')
			continue;
		if (!frame_read(line, &f)) {
			fprintf(stderr, "checker: %s:%ld: not candump -L text\n", path, j->line);
			return -1;
		}
		judge_frame(j, &f);
	}
	if (in != stdin)
		fclose(in);
	return 0;
}

int main(int argc, char **argv)
{
	static struct judge j;

	if (conf_parse(&j.conf, argc, argv) != 0)
		return 2;
	judge_init(&j);
	if (j.conf.records && records_read(&j.recs, j.conf.records) != 0)
		return 2;
	if (read_log(&j, argv[optind]) != 0)
		return 2;
	judge_end(&j);
	judge_summary(&j);
	return j.breaches ? 1 : 0;
}
