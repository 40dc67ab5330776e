/*
 * rec-cat: records from endpoint to endpoint, into files, and out of them again.
 */
#include "rec-cat/flow.h"
#include "rec-cat/options.h"
#include "rec-cat/play.h"

int main(int argc, char **argv)
{
	static struct cat_opts o;

	cat_options(argc, argv, &o);
	return o.file != NULL ? play_run(&o) : flow_run(&o);
}
