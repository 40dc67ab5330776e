/*
 * What the files behind record.h share: ranges, the pose's own checks, and the two writers.
 * Nobody else includes this.
 */
#ifndef REC_RECORD_PARTS_H
#define REC_RECORD_PARTS_H

#include "rec/record.h"

/* Whole numbers above this are mangled by jq 1.6 and by every reader that holds doubles. */
#define REC_INT_MAX INT64_C(9007199254740992)
/* |x| of every number of a pose: the nine decimals are then a 64-bit integer. */
#define REC_POSE_MAX 9e9

extern const char *const rec_type_names[];  /* REC_POSE .. REC_STATUS, then NULL */
extern const char *const rec_frame_names[]; /* each list ends with NULL */
extern const char *const rec_level_names[];
extern const char *const rec_set_names[];
extern const char *const rec_kind_names[];
extern const char *const rec_state_names[];

/* A name of a clamped list or a src: 1..31 letters, digits, . _ - */
bool rec_name_ok(const char *s, size_t n);
/* NULL, or why these values are no pose (for people; static text). */
const char *rec_pose_refusal(const struct rec_pose *p);
/* | |q| - 1 | <= 1e-2; false for anything not finite. */
bool rec_quat_ok(struct quat q);

/* Copies UTF-8 text, cut at a character when it does not fit. */
void rec_copy_text(char *out, size_t room, const char *text);

/* rec_print for REC_POSE, and for every other type. */
int rec_print_pose(const struct rec *r, char *buf, size_t n);
int rec_print_json(const struct rec *r, char *buf, size_t n);
/* body[0..len) ends before its closing brace; adds extra, brace, newline, NUL. As rec_print. */
int rec_print_tail(const struct rec *r, const char *body, size_t len, char *buf, size_t n);

/* x with nine decimals, ties to even on the exact value, never -0.000000000; |x| <= 9e9.
 * Returns the end; at most 21 bytes, no NUL. */
char *rec_put_fixed9(char *p, double x);
/* What a reader gets of that; |x| <= 9e9. */
double rec_as_fixed9(double x);

#endif
