package names

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// evictedText says what the state knows about the eviction of a pod that is gone, or returns "". The state names a pod
// while its pass runs and while its eviction is in the background. Afterwards the state has only counts of its
// workload, for an hour; evictedText then recognizes the workload by the name of the pod.
func evictedText(s *cluster.Snapshot, st *plan.PlannerState, name string) string {
	if r := reservationOf(st, name); r != nil {
		return reservedText(s, r) + backoffText(s, st, r.Workload)
	}
	i := slices.IndexFunc(st.Background, func(b plan.BackgroundEviction) bool { return b.Pod.String() == name })
	if i >= 0 {
		b := &st.Background[i]
		text := fmt.Sprintf("it was evicted from %s before %s, and its replacement was not Ready then", b.From, timeText(b.Since))
		if !b.AwaitsReplacement {
			text = fmt.Sprintf("another program was asked before %s to move it away from %s", timeText(b.Since), b.From)
		}
		last := lastEvictions(st, b.Workload)
		if last != nil && !last.First.IsZero() {
			text += newPodsText(s, b.Workload, last.First)
		}
		return text + backoffText(s, st, b.Workload)
	}
	w := evictedWorkload(s, st, name)
	if w == nil {
		return ""
	}
	text, since := countsText(st, *w)
	return text + newPodsText(s, *w, since) + backoffText(s, st, *w)
}

// reservationOf returns the last reservation by which the pod was or may have been evicted, or nil.
func reservationOf(st *plan.PlannerState, name string) (last *plan.Reservation) {
	for i := range st.Runs {
		for j := range st.Runs[i].Reservations {
			r := &st.Runs[i].Reservations[j]
			is := r.Outcome == nil || r.Outcome.Outcome == plan.Evicted || r.Outcome.Outcome == plan.UnknownOutcome || r.Outcome.Outcome == plan.InProgress
			if is && r.Pod.String() == name && (last == nil || r.At.After(last.At)) {
				last = r
			}
		}
	}
	return last
}

func reservedText(s *cluster.Snapshot, r *plan.Reservation) string {
	verb, more := "evicted", ""
	switch o := r.Outcome; {
	case o == nil:
		verb, more = "was about to evict", "; the outcome is not recorded yet"+newPodsText(s, r.Workload, r.At)
	case o.Outcome == plan.UnknownOutcome:
		verb, more = "asked to evict", "; the outcome is unknown: "+o.Reason.Message+newPodsText(s, r.Workload, r.At)
	case o.Outcome == plan.InProgress:
		verb = "asked another program to move"
	case o.Removed:
		verb, more = "removed", "; it had ended, so no replacement follows"
	case o.Replacement == nil:
		more = newPodsText(s, r.Workload, r.At)
	default:
		if more = "; its replacement is " + o.Replacement.String(); o.Landed != "" {
			more += " on " + o.Landed
		}
		if o.ReadyAfter != "" {
			more += ", Ready after " + o.ReadyAfter
		}
	}
	return fmt.Sprintf("strategy %s %s it at %s from %s (%s)%s", r.Strategy, verb, timeText(r.At), r.From, r.Reason.Code, more)
}

// evictedWorkload returns the workload with evictions in the state to which a pod of this name belongs, or nil. The
// name of a pod begins with the name of its workload. The longest name decides, also among workloads without evictions.
func evictedWorkload(s *cluster.Snapshot, st *plan.PlannerState, name string) *plan.ObjectRef {
	var best *plan.ObjectRef
	longest := 0
	fits := func(namespace, workload string) bool {
		return strings.HasPrefix(name+"-", namespace+"/"+workload+"-") && len(workload) >= longest
	}
	for i := range s.Workloads {
		if w := &s.Workloads[i]; fits(w.Namespace, w.Name) {
			longest = len(w.Name)
		}
	}
	for i := range st.Evictions {
		if w := &st.Evictions[i].Workload; fits(w.Namespace, w.Name) {
			best, longest = w, len(w.Name)
		}
	}
	return best
}

// lastEvictions returns the newest count of a workload, or nil.
func lastEvictions(st *plan.PlannerState, w plan.ObjectRef) (last *plan.EvictionCount) {
	for i := range st.Evictions {
		if e := &st.Evictions[i]; e.Workload == w && (last == nil || e.Minute.After(last.Minute)) {
			last = e
		}
	}
	return last
}

// countsText names the evictions of a workload within the last hour, and returns the time of the first.
func countsText(st *plan.PlannerState, w plan.ObjectRef) (text string, since time.Time) {
	var parts []string
	for _, e := range st.Evictions {
		if e.Workload != w {
			continue
		}
		at := e.Minute
		if !e.First.IsZero() {
			at = e.First
		}
		if since.IsZero() || at.Before(since) {
			since = at
		}
		parts = append(parts, fmt.Sprintf("%s at %s for strategy %s", plural.Count(e.Count, "pod"), timeText(at), cmp.Or(e.Strategy, "unknown")))
	}
	return fmt.Sprintf("it may be one of the evicted pods of %s/%s/%s, to which its name fits: %s", strings.ToLower(w.Kind), w.Namespace, w.Name,
		strings.Join(parts, ", ")), since
}

// maxNewPods is the largest number of possible replacements that a text names.
const maxNewPods = 3

// newPodsText names the pods of a workload that were created since a time: the replacement is one of them.
func newPodsText(s *cluster.Snapshot, w plan.ObjectRef, since time.Time) string {
	var pods []string
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Object.CreationTimestamp.Time.Before(since.Truncate(time.Second)) || !isOf(s, p, w) {
			continue
		}
		node := "no node yet"
		if p.Node != cluster.NoNode {
			node = s.Nodes[p.Node].Name
		}
		pods = append(pods, fmt.Sprintf("%s/%s on %s", p.Object.Namespace, p.Object.Name, node))
	}
	if len(pods) == 0 {
		return ""
	}
	more := ""
	if n := len(pods) - maxNewPods; n > 0 {
		pods, more = pods[:maxNewPods], fmt.Sprintf(" and %s more", plural.Count(n, "pod"))
	}
	return "; pods of this workload created since then: " + strings.Join(pods, ", ") + more
}

func isOf(s *cluster.Snapshot, p *cluster.Pod, w plan.ObjectRef) bool {
	of := s.WorkloadOf(p)
	return of != nil && of.Kind == w.Kind && of.Namespace == w.Namespace && of.Name == w.Name
}

// backoffText says how long the workload is in back-off, or returns "".
func backoffText(s *cluster.Snapshot, st *plan.PlannerState, w plan.ObjectRef) string {
	i := slices.IndexFunc(st.Backoffs, func(b plan.Backoff) bool { return b.Workload == w && s.TakenAt.Before(b.Until) })
	if i < 0 {
		return ""
	}
	b := &st.Backoffs[i]
	return fmt.Sprintf("; %s is in back-off until %s: %s (%s)", w.Name, timeText(b.Until), b.Reason.Message, b.Reason.Code)
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }
