package auditverifier

import (
	"cmp"
	"slices"
)

// Result is the outcome of a verification.
type Result struct {
	// Evictions counts evictions that took place; Requested counts requests to evict.
	Evictions, Requested int
	Violations           []Violation
}

// Verify checks every eviction, write and report against the rules.
func (c Evidence) Verify() Result {
	l := c.readLog()
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	slices.SortStableFunc(l.evictions, func(a, b Eviction) int { return a.At.Compare(b.At) })
	done, wrong := c.completedEvictions(l.evictions)
	v := Result{Evictions: len(done), Requested: len(l.evictions), Violations: append(l.foreignWrites, wrong...)}
	r := newReplay(c.Rules, l.holders, done)
	r.pendingSince = c.pendingSince()
	for _, ch := range c.Changes {
		r.apply(ch)
	}
	v.Violations = append(v.Violations, r.violations...)
	v.Violations = append(v.Violations, r.evictionsWithoutChange()...)
	v.Violations = append(v.Violations, c.checkLimits(r.done)...)
	v.Violations = append(v.Violations, c.checkReports(l.evictions, done)...)
	v.Violations = append(v.Violations, c.checkPending(r.done)...)
	slices.SortStableFunc(v.Violations, func(a, b Violation) int { return a.At.Compare(b.At) })
	return v
}

// completedEvictions returns the evictions that took place, each pod once, and a violation for each pod that was
// evicted twice.
func (c Evidence) completedEvictions(all []Eviction) ([]*completedEviction, []Violation) {
	byName, disrupted := map[string]string{}, map[string]bool{}
	for _, ch := range c.Changes {
		if p := ch.Pod; p != nil {
			byName[p.Namespace+"/"+p.Name] = p.UID
			if p.ByEviction && (p.Terminating || ch.Gone) {
				disrupted[p.UID] = true
			}
		}
	}
	var out []*completedEviction
	var wrong []Violation
	seen := map[string]bool{}
	for i, e := range all {
		if e.UID == "" {
			e.UID = byName[e.Namespace+"/"+e.Name]
		}
		switch {
		case e.accepted() && seen[e.UID]:
			wrong = append(wrong, newViolation(EvictedTwice, e.At, e.User, "%s/%s (%s) was evicted before", e.Namespace, e.Name, e.UID))
		case seen[e.UID]:
		case e.accepted(), e.outcomeUnknown() && disrupted[e.UID] &&
			!slices.ContainsFunc(all[i+1:], func(o Eviction) bool { return o.UID == e.UID && o.accepted() }):
			seen[e.UID] = true
			out = append(out, &completedEviction{Eviction: e})
		}
	}
	return out, wrong
}
