/* See pick.h. */
#include "rec-cat/pick.h"

#include <stdio.h>
#include <string.h>

static bool is_type(const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < n; i++)
		if (word[i] <= ' ' || word[i] == '"' || word[i] == '\\' || word[i] == 0x7f)
			return false;
	return n > 0 && n < sizeof(((struct rec *)0)->type_name);
}

int pick_check(const struct pick *p, const char **word)
{
	for (int i = 0; i < p->types.n; i++) {
		*word = p->types.v[i];
		if (!is_type(*word))
			return -1;
	}
	for (int i = 0; i < p->srcs.n; i++) {
		*word = p->srcs.v[i];
		if (!rec_src_ok(*word))
			return -1;
	}
	return 0;
}

static bool has(const struct opt_list *l, const char *word)
{
	for (int i = 0; i < l->n; i++)
		if (strcmp(l->v[i], word) == 0)
			return true;
	return l->n == 0;
}

bool pick_takes(const struct pick *p, const struct rec *r)
{
	return has(&p->types, r->type_name) && has(&p->srcs, r->src);
}

unsigned long pick_watch(struct pick *p, const struct rec *r)
{
	unsigned long missing = 0;
	int i = 0;

	while (i < p->n_seen &&
		(strcmp(p->seen[i].type, r->type_name) != 0 || strcmp(p->seen[i].src, r->src) != 0))
		i++;
	if (i == p->n_seen) {
		if (i == PICK_SEEN)
			return 0;
		p->n_seen++;
		(void)snprintf(p->seen[i].type, sizeof p->seen[i].type, "%s", r->type_name);
		(void)snprintf(p->seen[i].src, sizeof p->seen[i].src, "%s", r->src);
	} else if (r->seq > p->seen[i].seq) {
		missing = (unsigned long)(r->seq - p->seen[i].seq - 1);
	}
	p->seen[i].seq = r->seq;
	p->missing += missing;
	return missing;
}
