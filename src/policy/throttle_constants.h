/*
 * policy/throttle_constants.h
 *		All numbers by which the throttle decides, with the reason of each.
 *
 * For throttle*.c only.  "Larger" and "smaller" tell what would happen if a number
 * were so.
 */
#ifndef SWEEP_POLICY_THROTTLE_CONSTANTS_H
#define SWEEP_POLICY_THROTTLE_CONSTANTS_H

#include "rates.h"

/* ---- times: how long it takes to know something, and to forget it */

/*
 * A cut shows in the readings after this time, and no second cut is made before.
 * What is true now is an average over as long.  A standby's lag is looked ahead by
 * as much, because standbys tell theirs late.  Larger: users wait longer for each
 * further cut.  Smaller: one trouble is answered twice.
 */
#define REACTION_S		1.0

/*
 * In this time it is known what users do.  A vacuum listens for so long to users whom
 * it does not know.  After so long at the floor it is not the vacuum that they wait
 * for.  What they wait for is averaged over so long after a cut, and a rate comes back
 * fast only after that.  Who was active within this time is remembered.  Larger: each
 * vacuum begins later.  Smaller: chance is taken for what is usual.
 */
#define LISTEN_S		3.0

/*
 * Before a vacuum comes users are listened to until so much is known of them, and anew
 * when that has faded to LISTEN_S.  Larger: the governor looks often for a longer time.
 * Smaller: it begins to do so more often.
 */
#define LISTEN_AHEAD_S	(1.5 * LISTEN_S)

/*
 * After so much listening beside a vacuum too, what users usually wait for is known.
 * Larger: chance makes it less.  Smaller: what they waited for before the vacuum, in a
 * load that is over, counts for longer.
 */
#define LISTEN_MOST_S	(3 * LISTEN_S)

/*
 * Users without any activity for so long have gone.  Those who come back soon and are
 * hurt have paused: the next time it takes longer by the factor until they have gone.
 * Larger: a vacuum of what they leave behind begins later.  Smaller: they feel more of
 * it after pauses.
 */
#define GONE_S			1.0
#define PATIENCE_GROWS	4.0

/*
 * The highest rate of late is forgotten in this time.  Larger: a rate that is no
 * longer used seems to be harmless.  Smaller: a vacuum that pauses for a moment may
 * not grow.
 */
#define PEAK_TAU_S		5.0

/*
 * What is usual is an average over this time.  Larger: a vacuum yields to a new load
 * that is not known as usual yet.  Smaller: what a vacuum does to users becomes usual.
 */
#define LEARN_S			10.0

/*
 * Where a rate was too much, this time after the cut it is tried whether that is
 * still so.  When a cut has helped nobody, this time after it another one may be
 * made.  Larger: a short trouble is remembered for too long.  Smaller: users feel the
 * trial too often.
 */
#define RETRY_S			45.0

/*
 * What was known is out of date after this time: users without a vacuum, how far the
 * sum of their waiting goes by itself, rows that were removed.  While garbage piles
 * up the floor doubles in this time.  Larger: a vacuum begins with what is no longer
 * so.  Smaller: checkpoints are a surprise each time.
 */
#define CALM_S			60.0

/*
 * Users who were listened to are forgotten in this time.  After cuts that helped nobody the next is made after so long at the
 * latest.  Larger: what was so in another hour decides.  Smaller: what does not change
 * is tried again and again.
 */
#define LONG_S			480.0

/* ---- how much is much */

/*
 * A reading above this share of its limit is near it, and the rate stays as it is.  A
 * lag that is near its limit has brought the rate to the floor.  What is less than
 * this share of a rate is another rate.  Larger: the limit is passed again and again.
 * Smaller: the limit is not used.
 */
#define NEAR			0.9

/*
 * Above this share of the rate that was too much, growth is slow.  Above this share
 * of what is allowed, a limit is felt.  A cut has helped when less than this share of
 * the excess is left.  Larger: a vacuum comes fast to where users feel it.  Smaller:
 * each return takes longer.
 */
#define MOST			0.75

/*
 * Less than this share is far from a limit.  A rate of which so little is used is not
 * known to be harmless and does not grow.  A lag below this share of its limit is not
 * answered.  Larger: a lag has less time to be answered in.  Smaller: an unused rate
 * grows until the first burst hurts.
 */
#define FAR				0.5

/*
 * What is over by this factor is clearly over, and not by chance.  The sum of the
 * waiting must be so far over what it reaches by itself, and the rate is halved when
 * it is so far over again.  A rate that was too much counts no more when the rate is
 * so far over it.  Larger: a
 * moment's burst holds a fast disk for minutes.  Smaller: chance decides.
 */
#define CLEARLY			1.25

/*
 * Within this factor two rates, or two waits, are about the same.  A rate is about
 * the floor: then it is hardly the vacuum that users wait for.  Or users wait about
 * as they did when a cut helped nobody: then another would not help, either.  Larger:
 * a vacuum is taken for harmless that is not.  Smaller: a rate that swings a little
 * above the floor is cut again and again.
 */
#define ABOUT			2.0

/* ---- the rate */

/*
 * Growth begins here when nothing is known.  Larger: the first second hurts on a slow
 * disk.  Smaller: the first seconds are wasted on any other.
 */
#define START			(4 * RATES_MB)

/*
 * Growth goes on from here once users have left, or were looked for and are not
 * there.  Larger: a slow disk has more to do when they come.  Smaller: what a large
 * statement leaves behind is vacuumed later.
 */
#define NOBODY_RATE		(256 * RATES_MB)

/*
 * More than this is no limit.  Larger: it says nothing more.  Smaller: a fast device
 * would be limited by it.
 */
#define UNLIMITED		(65536 * RATES_MB)

/*
 * One rule down.  A cut leaves at least this share of a rate, and a step while WAL is
 * in danger leaves this share.  Larger: users wait through several cuts.  Smaller: one
 * wrong reading costs most of the rate.
 */
#define CUT_LEAVES		0.5

/*
 * One rule up.  Before anything was too much a rate grows by a factor in each STEP_S.
 * With nobody there, and under a limit that is a number, that is FAST_STEP.  Larger:
 * it is far over a limit before that is measured.  Smaller: a vacuum of a few seconds
 * never gets its speed.
 *
 * Beside users, with a limit for standbys, and where WAL was in danger it is
 * GENTLE_STEP, also on a device that seems to have room.  A limit that it does not
 * tell (a container's, a provider's) shows only once it is passed, by up to so much.
 * Larger: the first visit to such a limit is felt.  Smaller: 300 MB/s take longer
 * than 20 s.
 *
 * Where an earlier vacuum was too much it is KNOWN_STEP.  Larger: users feel each
 * vacuum there.  Smaller: a disk that has become faster is not found to be.
 */
#define STEP_S			0.25
#define FAST_STEP		2.0
#define GENTLE_STEP		1.07
#define KNOWN_STEP		1.01

/*
 * After a cut it grows by so much a second at START, and the slower the higher the
 * rate (inverse increase: Bansal and Balakrishnan 2001, "Binomial Congestion Control
 * Algorithms").  So two who share a device meet, although chance decides which of
 * them is cut.  Larger: the next cut comes soon.  Smaller: it takes minutes to come
 * back.
 */
#define GROW_INVERSE	(0.6 * RATES_MB)

/*
 * Where the rate that was too much is a large one, that would take too long.  So much
 * of what it is above LARGE_KNEE is added a second.  With a lower LARGE_KNEE two
 * servers on an ordinary disk do not meet.  With a higher one, or less growth, a fast
 * disk that stands still for a moment is not used for minutes.
 */
#define LARGE_KNEE		(40 * RATES_MB)
#define GROW_OF_KNEE	0.02

/*
 * After RETRY_S it goes beyond, t seconds later by so much times t^3 (CUBIC).  That is
 * 24 MB/s after 20 s and 192 after 40.  Larger: the first seconds of the trial hurt.
 * Smaller: a disk that has become faster is not used.
 */
#define GROW_CUBIC		(0.003 * RATES_MB)

/* ---- users */

/*
 * Waiting up to this multiple of the usual is no excess.  Larger: users wait so much
 * longer for ever.  Smaller: what varies by itself is an excess.
 */
#define TOLERANCE		1.5

/*
 * So few users on average are nobody: somebody who looks now and then, or what is
 * left of an excess.  Larger: a single user is overlooked.  Smaller: one sample in a
 * hundred holds a vacuum.
 */
#define FEW_USERS		0.02

/*
 * So many user seconds of excess are answered, and as many for each user who usually
 * waits, because their number varies by itself.  Larger: users wait longer before a
 * cut.  Smaller: chance cuts.
 */
#define HURT_S			0.1

/*
 * The sum is answered at this at the latest, however far it goes by itself.  Larger:
 * after a checkpoint users wait for long before they are heard.  Smaller: what others
 * do to a shared disk cuts as well.
 */
#define HURT_MAX_S		0.4

/*
 * A commit waits for so long on an ordinary disk.  This is for users who begin to
 * write before it is known how long they wait.  Larger: a slow disk seems to be usual.
 * Smaller: the first writers seem to be hurt.
 */
#define USUAL_PER_COMMIT_S	0.002

/*
 * With fewer transactions that write, it is not these that wait, and the share of the
 * users' time counts.  Larger: a load that grows is taken for a slower disk.  Smaller:
 * readers' waiting is put down to a single commit.
 */
#define COMMITS_MIN		5.0

/*
 * Without a vacuum users are seldom sampled: a second tells as much as this part of
 * one with a vacuum.  Larger: a few samples are the usual.  Smaller: nothing is
 * learned between vacuums.
 */
#define SPARSE			0.1

/* ---- the device */

/*
 * A device has room when it is busy for less of the time than this, and the kernel
 * says that somebody waits for it, the vacuum included, for less of the time than
 * this.  It must answer within IDLE_LATENCY_MS, too.  The processors are free when
 * somebody waits for one for less of the time than this.  Larger: users wait for a
 * device that is said to have room.  Smaller: a vacuum yields to users who wait for a
 * processor.
 */
#define IDLE_PCT		40.0
#define IDLE_LATENCY_MS	1.0

/* ---- WAL in danger */

/*
 * So much WAL that waits to be archived is too much.  A segment or two are normal.
 * Larger: the disk fills up.  Smaller: one slow copy stops vacuums.
 */
#define ARCHIVER_BEHIND	(1024 * RATES_MB)

/*
 * A slot with less left than this share of max_slot_wal_keep_size is in danger.
 * Larger: it is so in daily work.  Smaller: it is lost before vacuums are slow.
 */
#define SLOT_LEFT		0.2

/*
 * A danger that has become worse counts as growing for so long, and the floor does
 * not rise.  Larger: garbage piles up for nothing.  Smaller: the floor rises between
 * two segments.
 */
#define DANGER_GROWS_S	60.0

#endif							/* SWEEP_POLICY_THROTTLE_CONSTANTS_H */
