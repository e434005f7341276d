package schedule

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// maxSetBack is the longest time by which the clock may be set back while no firing runs twice. If
// the clock is set back by more, its earlier readings were wrong, and the schedules continue from
// the new time.
const maxSetBack = time.Hour

// Timetable knows which strategies are due. Its times never depend on how often the caller asks.
type Timetable struct {
	entries []*entry
	seen    time.Time // the latest time that the caller passed
	// recalled is set once Recall was called.
	recalled bool
}

// entry is the state of one strategy.
type entry struct {
	rule Rule
	next time.Time // the next firing; zero: none
	// consumed is the last firing that ran or was skipped.
	consumed time.Time
	// Nodes that became Ready at the time covered or earlier cause no run: a run has covered them, or their run was due
	// before the entry existed.
	covered time.Time
	// byEvent is the start of the last run for a node.
	byEvent time.Time
	// wanted is the time of the run that covers all nodes so far, and atMost is the time until
	// which further nodes may postpone it. Both are zero if no node waits for a run.
	wanted, atMost time.Time
	// running is set during the run of a firing.
	running bool
}

// New returns the timetable of rules from the time after on.
func New(rules []Rule, after time.Time) *Timetable {
	t := &Timetable{seen: after}
	for _, r := range rules {
		t.entries = append(t.entries, &entry{rule: r, next: r.next(after), covered: after.Add(-r.OnNodeReady)})
	}
	return t
}

// Replace returns a timetable of new rules. Strategies that keep their name keep the times of their runs and the nodes
// that wait. Another delay causes no run for nodes that a run has covered. If a pass is due now, it stays due under a
// new schedule that fires at the same time.
func (t *Timetable) Replace(rules []Rule, now time.Time) *Timetable {
	after := now
	if at := t.Next(); !at.IsZero() && !at.After(now) {
		after = at.Add(-1)
	}
	out := New(rules, after)
	out.recalled, out.seen = t.recalled, later(t.seen, now)
	for _, e := range out.entries {
		if old := t.find(e.rule.Name); old != nil {
			e.covered, e.byEvent, e.consumed = old.covered, old.byEvent, old.consumed
			if old.rule.OnNodeReady == 0 {
				e.covered = now
			}
			if e.rule.OnNodeReady == old.rule.OnNodeReady {
				e.wanted, e.atMost = old.wanted, old.atMost
			}
			e.next = e.rule.next(e.floor(after))
		}
	}
	return out
}

func (t *Timetable) find(name string) *entry {
	if i := slices.IndexFunc(t.entries, func(e *entry) bool { return e.rule.Name == name }); i >= 0 {
		return t.entries[i]
	}
	return nil
}

// Remembers reports whether a strategy needs the times of earlier runs after a restart.
func (t *Timetable) Remembers() bool {
	return slices.ContainsFunc(t.entries, func(e *entry) bool { return e.rule.OnNodeReady > 0 })
}

// Recall sets the times of runs that other processes made for nodes. Recall ignores a time more than an hour ahead of
// now, because the clock of that process was wrong.
func (t *Timetable) Recall(runs map[string]plan.StrategyRun, now time.Time) {
	t.recalled = true
	for _, e := range t.entries {
		if at := runs[e.rule.Name].ByEvent; at.After(e.byEvent) && !at.After(now.Add(maxSetBack)) {
			e.byEvent = at
		}
	}
}

// Recalled reports whether the timetable, or the one that it replaced, knows the runs that other processes made.
func (t *Timetable) Recalled() bool { return t.recalled }

// Runs returns the times to store for Recall, for at most plan.MaxStrategyRuns strategies. The result is nil if no
// strategy ran for a node.
func (t *Timetable) Runs() map[string]plan.StrategyRun {
	var out map[string]plan.StrategyRun
	for _, e := range t.entries {
		if !e.byEvent.IsZero() && len(out) < plan.MaxStrategyRuns {
			if out == nil {
				out = map[string]plan.StrategyRun{}
			}
			out[e.rule.Name] = plan.StrategyRun{ByEvent: e.byEvent.UTC()}
		}
	}
	return out
}

// Next returns the earliest time at which a strategy is due, or zero if no strategy is ever due.
func (t *Timetable) Next() time.Time {
	var first time.Time
	for _, e := range t.entries {
		first = earlier(first, e.due())
	}
	return first
}

// NextByStrategy returns the time at which each strategy is due next. Strategies that are never due are left out.
func (t *Timetable) NextByStrategy() map[string]time.Time {
	out := map[string]time.Time{}
	for _, e := range t.entries {
		if at := e.due(); !at.IsZero() {
			out[e.rule.Name] = at
		}
	}
	return out
}

// Due returns the strategies that are due at now. Of strategies with only a cron schedule, those
// with the earliest firing share a pass, and later firings are skipped.
func (t *Timetable) Due(now time.Time) []string {
	var first time.Time
	for _, e := range t.entries {
		if e.rule.OnNodeReady == 0 {
			first = earlier(first, e.next)
		}
	}
	var out []string
	for _, e := range t.entries {
		due := e.due()
		if !due.IsZero() && !due.After(now) && (e.rule.OnNodeReady > 0 || due.Equal(first)) {
			out = append(out, e.rule.Name)
		}
	}
	return out
}

// Started records that a pass of the named strategies begins.
func (t *Timetable) Started(names []string, now time.Time) {
	for _, e := range t.entries {
		if !slices.Contains(names, e.rule.Name) {
			continue
		}
		e.covered = later(e.covered, now.Add(-e.rule.OnNodeReady))
		if at := e.next; !at.IsZero() && !at.After(now) {
			e.running, e.consumed = true, at
			e.next = e.rule.next(at)
		}
		if at := e.eventDue(); !at.IsZero() && !at.After(now) {
			e.byEvent = now
		}
		if e.wanted.After(now) {
			e.atMost = e.wanted
		} else {
			e.wanted, e.atMost = time.Time{}, time.Time{}
		}
	}
}

// Ended records that the pass has ended, and returns the strategies whose firings came during the pass and are skipped.
func (t *Timetable) Ended(now time.Time) (skipped []string) {
	t.SetTime(now)
	for _, e := range t.entries {
		if e.ended(now) {
			skipped = append(skipped, e.rule.Name)
		}
		e.running = false
	}
	return skipped
}

// ended computes the next firing after a pass. It reports whether a firing is skipped.
func (e *entry) ended(now time.Time) bool {
	skipped := !e.next.IsZero() && !e.next.After(now)
	if skipped {
		e.consumed = e.next
	}
	if skipped || e.running { // @every counts from the end of its pass
		e.next = e.rule.next(e.floor(now))
	}
	return skipped
}

// SetTime tells the timetable the time. If the clock was set back, schedules continue from the new
// time, but no firing of the last hour runs twice.
func (t *Timetable) SetTime(now time.Time) {
	if now.Before(t.seen) {
		for _, e := range t.entries {
			e.setBack(now, t.seen.Sub(now))
		}
	}
	t.seen = now
}

// setBack adapts the entry to a clock that was set back to now by the duration by.
func (e *entry) setBack(now time.Time, by time.Duration) {
	e.next = earlier(e.next, e.rule.next(e.floor(now)))
	if e.byEvent.After(now.Add(maxSetBack)) {
		e.byEvent = time.Time{}
	}
	if e.wanted.After(now) {
		latest := now.Add(2 * e.rule.OnNodeReady)
		e.wanted, e.atMost = earlier(e.wanted, latest), earlier(e.atMost, latest)
	}
	if e.covered.After(now) {
		e.covered = e.covered.Add(-by)
	}
}

// floor returns the time after which the next firing is searched: now, or the last firing if the clock was set back.
func (e *entry) floor(now time.Time) time.Time {
	if e.consumed.After(now) && !e.consumed.After(now.Add(maxSetBack)) {
		return e.consumed
	}
	return now
}

// due returns the time at which the strategy is due, or zero.
func (e *entry) due() time.Time {
	return earlier(e.next, e.eventDue())
}

// earlier returns the earlier of two times. A zero time means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
