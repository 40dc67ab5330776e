/* See opt_help.h. */
#include "run/opt_help.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/msg.h"

#define WIDTH 78
#define COLUMN 24       /* where the texts begin */
#define RECORD_SCHEMA 1 /* key "v", DESIGN.md 2 */

static const struct opt common[] = {
	{ OPT_FLAG, 'q', "quiet", NULL, NULL, "only the message of a failure", 0, 0, NULL },
	{ OPT_FLAG, 'v', "verbose", NULL, NULL, "more messages, repeatable", 0, 0, NULL },
	{ OPT_FLAG, 'h', "help", NULL, NULL, "print this help", 0, 0, NULL },
	{ OPT_FLAG, 'V', "version", NULL, NULL, "print the version", 0, 0, NULL },
	{ OPT_END, 0, NULL, NULL, NULL, NULL, 0, 0, NULL },
};

static void print_wrapped(const char *text, int column)
{
	int at = column;

	while (*text) {
		int word = (int)strcspn(text, " ");

		if (at > column && at + 1 + word > WIDTH) {
			printf("\n%*s", column, "");
			at = column;
		} else if (at > column) {
			putchar(' ');
			at++;
		}
		printf("%.*s", word, text);
		at += word;
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_option(const struct opt *o)
{
	char label[80], letter[8] = "    ";
	int n;

	if (o->key)
		snprintf(letter, sizeof letter, "-%c, ", o->key);
	n = snprintf(label, sizeof label, "  %s--%s%s%s", letter, o->name, o->arg ? " " : "",
		o->arg ? o->arg : "");
	if (n + 2 <= COLUMN)
		printf("%-*s", COLUMN, label);
	else
		printf("%s\n%*s", label, COLUMN, "");
	print_wrapped(o->help, COLUMN);
}

static void finish(void)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		die(EXIT_RUNTIME, "standard output: %s", strerror(errno));
}

void opt_help(const struct opt_tool *tool)
{
	printf("usage: %s [OPTION]...%s%s\n", tool->name, tool->operands[0] ? " " : "",
		tool->operands);
	print_wrapped(tool->about, 0);
	putchar('\n');
	for (const struct opt *o = tool->opts; o->kind != OPT_END; o++)
		print_option(o);
	for (const struct opt *o = common; o->kind != OPT_END; o++)
		print_option(o);
	printf("\nsee %s(1)\n", tool->name);
	finish();
}

void opt_version(const struct opt_tool *tool)
{
	printf("%s %s\nrecord schema %d\n", tool->name, TELEOP_VERSION, RECORD_SCHEMA);
	finish();
}
