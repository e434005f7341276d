package witness

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Kind of a violation.
type Kind string

// What can be wrong.
const (
	BudgetExceeded Kind = "budget"     // fewer healthy pods than a budget wants, by an eviction of ours
	LimitExceeded  Kind = "limit"      // more evictions than a limit, the pace or a cap in flight allows
	Twice          Kind = "twice"      // one pod evicted twice
	Touched        Kind = "protected"  // an eviction of a pod that must stay
	Foreign        Kind = "foreign"    // a write to anything that is not ours
	NotLeading     Kind = "leader"     // an eviction without the Lease
	Unreported     Kind = "unreported" // an eviction that stands in no report
	FalseClaim     Kind = "false"      // a report of an eviction that did not happen
	Conduct        Kind = "conduct"    // a process crashed, hung, or ended as it should not
	Unseen         Kind = "unseen"     // the witness itself missed something, or the drill did not work
)

// Kinds are all kinds, in the order of tables.
var Kinds = []Kind{BudgetExceeded, LimitExceeded, Twice, Touched, Foreign, NotLeading, Unreported, FalseClaim, Conduct, Unseen}

// Violation is one thing that should not have happened.
type Violation struct {
	Kind Kind
	At   time.Time
	User string
	What string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s %s: %s", v.Kind, v.At.UTC().Format("15:04:05.000"), v.User, v.What)
}

// Rules are the limits that were configured. Zero means that there is none.
type Rules struct {
	PerPass, PerNode, PerNamespace, PerOwner, PerZone int
	HourOwner, HourNamespace, HourCluster             int
	FlightTotal, FlightNode, FlightOwner              int
	// PerMinute is the pace: evenly spaced evictions, none saved up.
	PerMinute int
	// Slack is how late a request may arrive at the API server: the pace is kept
	// where it is sent.
	Slack time.Duration
	// Watched is how long an eviction counts as in flight when its replacement is
	// not seen: the time for verification and the grace period.
	Watched time.Duration
	// MaxUnavailable is for workloads without a budget.
	MaxUnavailable int
	// OnePass: every process makes one pass. Otherwise the times of its reports
	// tell a process's passes apart.
	OnePass bool
}

// Case is everything that is known about a drill.
type Case struct {
	Changes []Change
	Events  []auditv1.Event
	Reports []Report
	Rules   Rules
	// Ours tells our users.
	Ours func(user string) bool
	// Namespace is where we may write Leases and ConfigMaps.
	Namespace string
}

// Verdict is what came out.
type Verdict struct {
	// Evictions that took place, and requests to evict that were made.
	Evictions, Asked int
	Violations       []Violation
}

// Count counts the violations of one kind.
func (v Verdict) Count(k Kind) int {
	n := 0
	for _, x := range v.Violations {
		if x.Kind == k {
			n++
		}
	}
	return n
}

// Judge looks at everything.
func (c Case) Judge() Verdict {
	l := readLog(c.Events, c.Ours, c.Namespace)
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	slices.SortStableFunc(l.evictions, func(a, b Eviction) int { return a.At.Compare(b.At) })
	done, wrong := c.carriedOut(l.evictions)
	v := Verdict{Evictions: len(done), Asked: len(l.evictions), Violations: append(l.foreign, wrong...)}
	r := newReplay(c.Rules, l.holders, done)
	for _, ch := range c.Changes {
		r.take(ch)
	}
	v.Violations = append(v.Violations, r.violations...)
	v.Violations = append(v.Violations, r.unseen()...)
	v.Violations = append(v.Violations, c.limits(r.done)...)
	v.Violations = append(v.Violations, c.claims(l.evictions, done)...)
	slices.SortStableFunc(v.Violations, func(a, b Violation) int { return a.At.Compare(b.At) })
	return v
}

// carriedOut are the evictions that took place, each pod once.
func (c Case) carriedOut(all []Eviction) ([]*carried, []Violation) {
	byName, disrupted := map[string]string{}, map[string]bool{}
	for _, ch := range c.Changes {
		if p := ch.Pod; p != nil {
			byName[p.Namespace+"/"+p.Name] = p.UID
			if p.ByEviction && (p.Terminating || ch.Gone) {
				disrupted[p.UID] = true
			}
		}
	}
	var out []*carried
	var wrong []Violation
	seen := map[string]bool{}
	for i, e := range all {
		if e.UID == "" {
			e.UID = byName[e.Namespace+"/"+e.Name]
		}
		switch {
		case e.accepted() && seen[e.UID]:
			wrong = append(wrong, Violation{Kind: Twice, At: e.At, User: e.User, What: fmt.Sprintf("%s/%s (%s) was evicted before", e.Namespace, e.Name, e.UID)})
		case seen[e.UID]:
		case e.accepted(), e.unsure() && disrupted[e.UID] && !slices.ContainsFunc(all[i+1:], func(o Eviction) bool { return o.UID == e.UID && o.accepted() }):
			seen[e.UID] = true
			out = append(out, &carried{Eviction: e})
		}
	}
	return out, wrong
}

// carried is an eviction that took place, with what the recording says of it.
type carried struct {
	Eviction
	pod  *Pod // as it was before; nil: the recording does not show it
	zone string
}

// reportedTwice are the runs of which two reports both say that they are the
// first. A process that ended before it could close its run is reported by the
// next once more, which must say so.
func (c Case) reportedTwice() []Violation {
	var out []Violation
	first := map[string]string{}
	for _, r := range c.Reports {
		if r.Recovery != nil {
			continue
		}
		if user, before := first[r.RunID]; before && r.RunID != "" {
			out = append(out, Violation{Kind: FalseClaim, At: r.Finished, User: r.User, What: fmt.Sprintf("run %s was reported by %s before, and this report does not say that it is a recovery", r.RunID, user)})
		}
		first[r.RunID] = r.User
	}
	return out
}

// claims compares evictions and reports, both ways.
func (c Case) claims(asked []Eviction, done []*carried) []Violation {
	var out []Violation
	reported := map[string]string{} // UID of pods that a report calls evicted or unknown -> run
	happened := map[string]bool{}
	for _, e := range done {
		happened[e.UID] = true
	}
	claimed := map[string]string{} // UID -> run that says evicted
	out = append(out, c.reportedTwice()...)
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
				what = fmt.Sprintf("run %s says that %s/%s (%s) was evicted; the audit log does not", r.RunID, o.Pod.Namespace, o.Pod.Name, o.Pod.UID)
			case before && run != r.RunID:
				what = fmt.Sprintf("runs %s and %s both say that they evicted %s/%s (%s)", run, r.RunID, o.Pod.Namespace, o.Pod.Name, o.Pod.UID)
			}
			if what != "" {
				out = append(out, Violation{Kind: FalseClaim, At: r.Finished, User: r.User, What: what})
			}
			claimed[o.Pod.UID] = r.RunID
		}
	}
	for _, e := range done {
		if reported[e.UID] == "" {
			out = append(out, Violation{Kind: Unreported, At: e.At, User: e.User, What: fmt.Sprintf("%s/%s (%s) was evicted; no report says so", e.Namespace, e.Name, e.UID)})
		}
	}
	return out
}
