package report

import (
	"fmt"
	"strings"
	"time"
)

// breakerCauses are the keys of the configuration that the reason of an open breaker names, and what to look at.
var breakerCauses = []struct{ key, look, command string }{
	{"maxUnreadyNodesFrac", "See which nodes are not Ready, and repair them:", "kubectl get nodes"},
	{"maxPendingPods", "See which pods find no node, and make room for them:", "kubectl get pods --all-namespaces --field-selector status.phase=Pending"},
	{"maxFailedFrac", "See which evictions failed, or where replacements landed, and why:", "evenkeel history pod --since 24h"},
}

func (r *Release) breakerOpen() *finding {
	if r.Object == nil || r.Object.Status.Breaker == nil {
		return nil
	}
	b := r.Object.Status.Breaker
	until := "The first pass"
	if b.Until != nil && r.Now.Before(b.Until.Time) {
		until = fmt.Sprintf("The breaker stays open at least until %s (%s). The first pass after that", b.Until.UTC().Format(time.RFC3339), r.until(b.Until.Time))
	}
	until += " which finds the cluster healthy closes it; nobody has to."
	if name, at, estimated := r.firstPass(timeOf(b.Until)); name != "" {
		about := " "
		if estimated {
			about = " about "
		}
		until += fmt.Sprintf(" The earliest possible one is that of strategy %s,%s%s (%s).", escape(name), about, at.UTC().Format(time.RFC3339), r.until(at))
	}
	f := &finding{head: "the breaker is open, so no pod is evicted",
		what:  fmt.Sprintf("Evenkeel stopped all evictions %s to protect the cluster: %s. %s", r.ago(b.At.Time), escape(b.Reason.Message), until),
		wrong: "The cluster was not healthy enough to move pods. Evenkeel itself works as it should."}
	for _, c := range breakerCauses {
		if strings.Contains(b.Reason.Message, c.key) {
			f.todo = append(f.todo, c.look, c.command)
		}
	}
	if f.todo == nil {
		f.todo = []string{"See what the passes did:", "evenkeel history --since 24h"}
	}
	return f
}

// firstPass returns the strategy whose pass is the first one after a time and after now, as far as known. A pass after
// its next one is only estimated, from the time between two passes.
func (r *Release) firstPass(after time.Time) (strategy string, at time.Time, estimated bool) {
	for _, st := range r.Object.Status.Strategies {
		if st.NextPass == nil || r.withoutLeader() != nil {
			continue
		}
		next, later := st.NextPass.Time, false
		if period := next.Sub(timeOf(st.LastPass)); next.Before(after) {
			if st.LastPass == nil || period <= 0 {
				continue
			}
			next, later = next.Add((after.Sub(next)+period-1)/period*period), true
		}
		if strategy == "" || next.Before(at) {
			strategy, at, estimated = st.Name, next, later
		}
	}
	return strategy, at, estimated
}
