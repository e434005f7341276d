package auditverifier

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Kind is the kind of a violation.
type Kind string

// The kinds of violation.
const (
	BudgetExceeded      Kind = "budget"     // an eviction left fewer healthy pods than a budget requires
	LimitExceeded       Kind = "limit"      // more evictions than a limit, the pace or an in-flight limit allows
	EvictedTwice        Kind = "twice"      // one pod was evicted twice
	ProtectedEvicted    Kind = "protected"  // a protected pod was evicted
	ForeignWrite        Kind = "foreign"    // a write to an object that the program must not change
	EvictedWithoutLease Kind = "leader"     // an eviction by a process that did not hold the Lease
	UnreportedEviction  Kind = "unreported" // no report contains an eviction that happened
	FalseClaim          Kind = "false"      // a report contains an eviction that did not happen
	ProcessFailure      Kind = "conduct"    // a process crashed, hung or ended with an unexpected exit code
	IncompleteRecording Kind = "unseen"     // the recording is incomplete, or the drill did not do what it is for
)

// Kinds lists all kinds in the order of the columns in tables.
var Kinds = []Kind{BudgetExceeded, LimitExceeded, EvictedTwice, ProtectedEvicted, ForeignWrite, EvictedWithoutLease, UnreportedEviction, FalseClaim, ProcessFailure, IncompleteRecording}

// Violation is one broken rule.
type Violation struct {
	Kind Kind
	At   time.Time
	User string
	What string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s %s: %s", v.Kind, v.At.UTC().Format("15:04:05.000"), v.User, v.What)
}

// Rules are the configured limits. Zero means no limit.
type Rules struct {
	PerPass, PerNode, PerNamespace, PerOwner, PerZone int
	HourOwner, HourNamespace, HourCluster             int
	FlightTotal, FlightNode, FlightOwner              int
	// PerMinute is the pace: evictions are evenly spaced, and unused slots are not saved up.
	PerMinute int
	// Slack is the allowed delay of a request. The client keeps the pace, but the verifier sees the arrival at the
	// API server.
	Slack time.Duration
	// FlightTimeout is how long an eviction without a visible replacement counts as in flight: the verification
	// timeout plus the grace period.
	FlightTimeout time.Duration
	// MaxUnavailable applies to workloads without a budget.
	MaxUnavailable int
	// OnePass means that every process makes one pass. Otherwise the times of the reports separate a process's
	// passes.
	OnePass bool
}

// Evidence is everything that is known about a drill.
type Evidence struct {
	Changes []Change
	Events  []auditv1.Event
	Reports []Report
	Rules   Rules
	// Ours reports whether a user belongs to the program under test.
	Ours func(user string) bool
	// Namespace is the only namespace in which the program may write Leases and ConfigMaps.
	Namespace string
}

// Result is the outcome of a verification.
type Result struct {
	// Evictions counts evictions that took place; Requested counts requests to evict.
	Evictions, Requested int
	Violations           []Violation
}

// Count returns the number of violations of one kind.
func (v Result) Count(k Kind) int {
	n := 0
	for _, x := range v.Violations {
		if x.Kind == k {
			n++
		}
	}
	return n
}

// Verify checks every eviction, write and report against the rules.
func (c Evidence) Verify() Result {
	l := readLog(c.Events, c.Ours, c.Namespace)
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	slices.SortStableFunc(l.evictions, func(a, b Eviction) int { return a.At.Compare(b.At) })
	done, wrong := c.completedEvictions(l.evictions)
	v := Result{Evictions: len(done), Requested: len(l.evictions), Violations: append(l.foreignWrites, wrong...)}
	r := newReplay(c.Rules, l.holders, done)
	for _, ch := range c.Changes {
		r.apply(ch)
	}
	v.Violations = append(v.Violations, r.violations...)
	v.Violations = append(v.Violations, r.evictionsWithoutChange()...)
	v.Violations = append(v.Violations, c.checkLimits(r.done)...)
	v.Violations = append(v.Violations, c.checkReports(l.evictions, done)...)
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
			wrong = append(wrong, Violation{Kind: EvictedTwice, At: e.At, User: e.User,
				What: fmt.Sprintf("%s/%s (%s) was evicted before", e.Namespace, e.Name, e.UID)})
		case seen[e.UID]:
		case e.accepted(), e.outcomeUnknown() && disrupted[e.UID] &&
			!slices.ContainsFunc(all[i+1:], func(o Eviction) bool { return o.UID == e.UID && o.accepted() }):
			seen[e.UID] = true
			out = append(out, &completedEviction{Eviction: e})
		}
	}
	return out, wrong
}

// completedEviction is an eviction that took place, with the state of the pod from the recording.
type completedEviction struct {
	Eviction
	pod  *Pod // state before the eviction; nil if the recording does not show it
	zone string
}

// duplicateReports finds runs that two reports claim without a recovery mark. If a process ends before it closes its
// run, the next process reports the run again and must mark that report as a recovery.
func (c Evidence) duplicateReports() []Violation {
	var out []Violation
	first := map[string]string{}
	for _, r := range c.Reports {
		if r.Recovery != nil {
			continue
		}
		if user, before := first[r.RunID]; before && r.RunID != "" {
			out = append(out, Violation{Kind: FalseClaim, At: r.Finished, User: r.User,
				What: fmt.Sprintf("%s already reported run %s, and this report is not marked as a recovery", user, r.RunID)})
		}
		first[r.RunID] = r.User
	}
	return out
}

// checkReports compares evictions with reports in both directions.
func (c Evidence) checkReports(asked []Eviction, done []*completedEviction) []Violation {
	var out []Violation
	reported := map[string]string{} // UID of a pod that a report calls evicted or unknown -> run
	happened := map[string]bool{}
	for _, e := range done {
		happened[e.UID] = true
	}
	claimed := map[string]string{} // UID -> run that reports it as evicted
	out = append(out, c.duplicateReports()...)
	for _, r := range c.Reports {
		for _, o := range r.Outcomes {
			if o.Outcome != "evicted" && o.Outcome != "unknown" {
				continue
			}
			reported[o.Pod.UID] = r.RunID
			if o.Outcome == "unknown" {
				continue
			}
			what := ""
			switch run, before := claimed[o.Pod.UID]; {
			case !happened[o.Pod.UID]:
				what = fmt.Sprintf("run %s reports %s/%s (%s) as evicted; the audit log has no such eviction", r.RunID, o.Pod.Namespace, o.Pod.Name, o.Pod.UID)
			case before && run != r.RunID:
				what = fmt.Sprintf("runs %s and %s both report that they evicted %s/%s (%s)", run, r.RunID, o.Pod.Namespace, o.Pod.Name, o.Pod.UID)
			}
			if what != "" {
				out = append(out, Violation{Kind: FalseClaim, At: r.Finished, User: r.User, What: what})
			}
			claimed[o.Pod.UID] = r.RunID
		}
	}
	for _, e := range done {
		if reported[e.UID] == "" {
			out = append(out, Violation{Kind: UnreportedEviction, At: e.At, User: e.User,
				What: fmt.Sprintf("%s/%s (%s) was evicted, but no report contains it", e.Namespace, e.Name, e.UID)})
		}
	}
	return out
}
