package schedule

import "time"

// NodeReady tells the timetable when a node last became Ready. A strategy runs as long after it as its rule says.
// Further nodes postpone the run, so that a burst causes one run, but at most until twice that time after the first
// node. Nodes that a run has covered, and nodes whose run was due before the timetable, cause no run.
func (t *Timetable) NodeReady(at time.Time) {
	for _, e := range t.entries {
		delay := e.rule.OnNodeReady
		if delay == 0 || at.IsZero() {
			continue
		}
		if !at.After(e.covered) {
			continue
		}
		run := at.Add(delay)
		e.wanted = later(e.wanted, run)
		if e.atMost.IsZero() {
			e.atMost = run.Add(delay)
		}
	}
}

// eventDue returns the time of the run that nodes want, or zero.
func (e *entry) eventDue() time.Time {
	if e.wanted.IsZero() {
		return time.Time{}
	}
	return later(earlier(e.wanted, e.atMost), e.byEvent.Add(e.rule.OnNodeReady))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
