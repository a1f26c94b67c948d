// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which cause the evidence speaks for, and in which words it is told. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/address.h"
#include "lib/shown.h"
#include "roce/packet/base.h"
#include "userspace/diagnose/qp_error/judge.h"

#define ON(status) (1u << STATUS_##status)

static const struct {
	const char *name, *words, *fix;
	__u32 statuses;
} causes[] = {
#define CAUSE(name, statuses, words, fix) { #name, words, fix, statuses },
#define PROVIDER(driver, status, vendor_err, cause, words)
#define COUNTER(name, means)
#include "userspace/diagnose/qp_error/cause.def"
};

static const struct {
	const char *driver;
	__u32 status, vendor;
	enum why_cause cause;
	const char *words;
} providers[] = {
#define CAUSE(name, statuses, words, fix)
#define PROVIDER(driver, status, vendor_err, cause, words) { #driver, STATUS_##status, vendor_err, WHY_##cause, words },
#define COUNTER(name, means)
#include "userspace/diagnose/qp_error/cause.def"
};

/* What a responder refuses, and the causes by which a requester learns nothing. */
#define REFUSALS (1u << WHY_wrong_rkey | 1u << WHY_out_of_bounds | 1u << WHY_no_access | 1u << WHY_receive_too_small)

const char *why_cause_name(enum why_cause c)
{
	static _Thread_local char names[WHY_CAUSES][32]; /* one for each: a caller may hold several */

	snprintf(names[c], sizeof(names[c]), "%s", causes[c].name);
	for (char *at = names[c]; *at; at++)
		if (*at == '_')
			*at = '-';
	return names[c];
}

const char *why_cause_words(enum why_cause c)
{
	return causes[c].words;
}

const char *why_cause_fix(enum why_cause c)
{
	return causes[c].fix;
}

const char *why_confidence_name(enum why_confidence c)
{
	static const char *const names[] = { "possible", "probable", "certain" };

	return names[c];
}

/* ---- what rules say ---- */

void judge_line(struct judge *j, const char *source, const char *format, ...)
{
	struct why_line *l = &j->v->lines[j->v->line_count];
	va_list more;

	if (j->v->line_count == WHY_LINES)
		return;
	j->v->line_count++;
	l->source = source;
	va_start(more, format);
	vsnprintf(l->text, sizeof(l->text), format, more);
	va_end(more);
}

void judge_weigh(struct judge *j, enum why_cause c, int weight)
{
	j->v->weight[c] += weight;
	if (weight >= WEIGHT_PROOF)
		j->suspects |= 1u << c;
}

void judge_detail(struct judge *j, enum why_cause c, const char *format, ...)
{
	va_list more;
	int used = 0;

	if (j->detail[c][0])
		return;
	if (j->seen_from_peer)
		used = snprintf(j->detail[c], sizeof(j->detail[c]), "%s", j->seen_from_peer);
	va_start(more, format);
	vsnprintf(j->detail[c] + used, sizeof(j->detail[c]) - used, format, more);
	va_end(more);
}

void judge_next(struct judge *j, const char *format, ...)
{
	va_list more;

	if (j->v->next_count == WHY_NEXT)
		return;
	va_start(more, format);
	vsnprintf(j->v->next[j->v->next_count++], WHY_TEXT, format, more);
	va_end(more);
}

bool judge_suspects(const struct judge *j, enum why_cause c)
{
	return j->suspects >> c & 1;
}

/* ---- what is suspected at first ---- */

static __u32 causes_of(__u32 status)
{
	__u32 found = 0;

	for (int c = 0; c < WHY_CAUSES; c++)
		if (status < 32 && causes[c].statuses >> status & 1)
			found |= 1u << c;
	return found;
}

static int bits(__u32 set)
{
	return __builtin_popcount(set);
}

static bool says(const struct judge *j, size_t provider)
{
	return j->e->own.driver && !strcmp(providers[provider].driver, j->e->own.driver) && providers[provider].status == j->status &&
	       (!providers[provider].vendor || providers[provider].vendor == j->calls->error_vendor);
}

/* What this provider means by the status, and by its own error number. */
static void suspect_by_provider(struct judge *j)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(providers); i++) {
		if (!says(j, i))
			continue;
		judge_line(j, "calls", "%s", providers[i].words);
		if (providers[i].cause == WHY_unknown)
			continue;
		judge_weigh(j, providers[i].cause, WEIGHT_HINT);
		j->suspects |= 1u << providers[i].cause;
		if (j->status == STATUS_LOC_PROT_ERR)
			judge_detail(j, providers[i].cause, "%s", strchr(providers[i].words, ':') + 2);
	}
}

/* A WRITE with immediate of the peer ends so at this end, where it reaches memory that it may not (IBTA 11.6.2). */
static void suspect_written(struct judge *j)
{
	static const enum why_cause suspects[] = { WHY_wrong_rkey, WHY_out_of_bounds, WHY_no_access };

	if (j->status != STATUS_LOC_ACCESS_ERR || !j->calls->error_is_receive)
		return;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(suspects); i++) {
		j->suspects |= 1u << suspects[i];
		judge_detail(j, suspects[i], "a WRITE with immediate of its peer reaches memory that it may not: rkey, range or access");
	}
}

/* A status with one cause only says it by itself. */
static void suspect_by_status(struct judge *j)
{
	j->suspects |= causes_of(j->status);
	suspect_written(j);
	suspect_by_provider(j);
	if (bits(j->suspects) == 1)
		judge_weigh(j, __builtin_ctz(j->suspects), WEIGHT_PROOF);
}

static void suspect(struct judge *j)
{
	bool error = j->errs = judge_came_to_error(j->q) || j->q->qp.state == QP_SQE;

	j->v->in_error = error || j->status != STATUS_NONE;
	if (j->status != STATUS_NONE)
		suspect_by_status(j);
	else if (j->stalls)
		j->suspects = causes_of(STATUS_RETRY_EXC_ERR) | 1u << WHY_no_receive | 1u << WHY_stalled;
	else if (error && j->calls)
		j->suspects = REFUSALS | 1u << WHY_own_end | 1u << WHY_refused;
	else if (error)
		j->suspects = REFUSALS | causes_of(STATUS_RETRY_EXC_ERR) | 1u << WHY_no_receive | 1u << WHY_own_end |
			      1u << WHY_refused | 1u << WHY_local_protection;
	j->blind = error && !j->calls;
	j->asks = j->status != STATUS_NONE || j->stalls;
}

/* ---- the verdict ---- */

static void choose(struct judge *j)
{
	struct why_verdict *v = j->v;
	int best = -1, second = WEIGHT_NEVER;

	for (int c = 0; c < WHY_CAUSES; c++) {
		if (!judge_suspects(j, c) || v->weight[c] <= WEIGHT_NEVER / 2)
			continue;
		if (best >= 0)
			v->alternatives |= 1u << c;
		if (best < 0) {
			best = c;
			continue;
		}
		if (v->weight[c] > v->weight[best]) {
			second = v->weight[best];
			v->alternatives |= 1u << best;
			v->alternatives &= ~(1u << c);
			best = c;
		} else if (v->weight[c] > second) {
			second = v->weight[c];
		}
	}
	v->cause = best < 0 ? WHY_unknown : best;
	if (best < 0)
		return;
	/* two proofs are none of either alone */
	v->confidence = v->weight[best] >= WEIGHT_PROOF && (second < WEIGHT_PROOF || v->weight[best] >= second + WEIGHT_PROOF) ? WHY_CERTAIN :
			(v->weight[best] >= WEIGHT_STRONG && second < WEIGHT_STRONG) || (!v->alternatives && v->weight[best] > 0) ?
			WHY_PROBABLE : WHY_POSSIBLE;
	if (v->confidence == WHY_CERTAIN)
		v->alternatives = 0;
}

/* It is gone, was not in error, and nobody saw why. */
static bool ends_unseen(const struct judge *j)
{
	return j->q->gone && !j->v->in_error && j->v->cause == WHY_unknown;
}

static void tell(struct judge *j)
{
	const struct host_qp *q = &j->q->qp;
	struct why_verdict *v = j->v;
	const char *words = j->detail[v->cause][0] ? j->detail[v->cause] : causes[v->cause].words;
	static const char *const sure[] = { "perhaps, ", "probably, ", "" };
	char who[WHY_TEXT], waits[32] = "";

	snprintf(v->words, sizeof(v->words), "%s", words);
	snprintf(who, sizeof(who), "QP %u of %s", q->qpn, shown_text(q->device).text);
	if (q->program[0])
		snprintf(who + strlen(who), sizeof(who) - strlen(who), " (%s%s%.0u)", shown_text(q->program).text, q->pid ? ", PID " : "",
			 q->pid);
	if (j->stalls)
		snprintf(waits, sizeof(waits), "%.1f s", (double)j->waits / 1e9);
	if (v->nothing_wrong)
		snprintf(v->sentence, sizeof(v->sentence), "%s is well, as far as is known here", who);
	else
		snprintf(v->sentence, sizeof(v->sentence), "%s %s%s: %s%s", who, ends_unseen(j) ? "is gone" :
			 j->stalls ? "has a request without a completion for " : v->in_error ? "is in error" :
			 v->cause == WHY_killed || v->cause == WHY_own_end ? "has ended" : "gets no further",
			 waits, v->cause == WHY_unknown ? "" : sure[v->confidence], words);
}

/* The QP's interface for a command that is copied into a shell; INTERFACE where the name is unknown, or no plain one. */
static const char *plain_interface(const struct verbs_qp *q)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@:";
	const char *name = q->interface;

	return name[0] && name[0] != '-' && !name[strspn(name, plain)] ? name : "INTERFACE";
}

static void advise(struct judge *j)
{
	const struct verbs_qp *q = j->q;

	if (j->v->confidence == WHY_CERTAIN || j->v->nothing_wrong)
		return;
	if (!j->e->peer_known)
		judge_next(j, "on the peer's host: rocescope verbs -j --calls >PEER; then here: rocescope verbs why %u --peer PEER", q->qp.qpn);
	if (!j->e->wire)
		judge_next(j, "tcpdump -i %s -w WIRE udp port 4791, where packets can be seen; then: rocescope verbs why %u --wire WIRE",
			   plain_interface(q), q->qp.qpn);
	if (!j->e->way && q->attributes.known & VERBS_KNOWS_PATH)
		judge_next(j, "rocescope path %s %s", plain_interface(q),
			   address_text(q->attributes.dgid).text);
	if (!j->calls && !q->gone)
		judge_next(j, "rocescope verbs --calls, from before the error on: completions say more than states");
}

static bool addresses_fit(const struct verbs_attributes *x, const struct verbs_attributes *y)
{
	return !(x->known & y->known & VERBS_KNOWS_PATH) || !memcmp(x->sgid, y->dgid, sizeof(x->sgid));
}

/* Whether p says that it is connected with q, or, where it does not say, both ends of the path do. */
static bool means(const struct verbs_qp *p, const struct verbs_qp *q)
{
	const struct verbs_attributes *x = &p->attributes, *y = &q->attributes;

	if (p->qp.peer_qpn)
		return p->qp.peer_qpn == q->qp.qpn;
	return x->known & y->known & VERBS_KNOWS_PATH && !memcmp(x->sgid, y->dgid, sizeof(x->sgid)) &&
	       !memcmp(x->dgid, y->sgid, sizeof(x->dgid));
}

const struct verbs_qp *why_other_end(const struct why_host *peer, const struct verbs_qp *q)
{
	const struct verbs_qp *found = NULL;
	int best = 0;

	for (size_t i = 0; i < peer->qp_count; i++) {
		const struct verbs_qp *p = peer->qps[i];
		int fits;

		if (p == q || p->qp.qpn != q->qp.peer_qpn || p->qp.qpn < 2 || !means(p, q))
			continue;
		fits = 1 + 4 * (p->qp.peer_qpn == q->qp.qpn) + 2 * addresses_fit(&p->attributes, &q->attributes) + !p->gone;
		if (fits > best) {
			best = fits;
			found = p;
		}
	}
	return found;
}

void why_judge(struct why_verdict *v, const struct why_evidence *e)
{
	struct judge j = { .v = v, .e = e, .q = e->qp, .calls = e->qp->has_calls ? &e->qp->calls : NULL };

	*v = (struct why_verdict){ .cause = WHY_unknown };
	j.other = why_other_end(&e->peer, e->qp);
	judge_calls(&j);
	suspect(&j);
	judge_state(&j);
	judge_counters(&j);
	judge_request(&j);
	judge_responder(&j);
	judge_ends(&j);
	judge_way(&j);
	judge_wire(&j);
	choose(&j);
	v->nothing_wrong = v->cause == WHY_unknown && !v->in_error && !j.stalls && !e->qp->gone;
	tell(&j);
	advise(&j);
}
