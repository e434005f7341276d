package auditverifier

import (
	"fmt"
	"slices"
	"time"
)

// A report may say that a replacement stays Pending (docs/reference/strategies.md, "Moves without a predicted place").
// Its eviction is no longer in flight then. The claim must be true: at the end of the report, a pod of the workload has
// no node.

// pendingSince returns when a report said that the replacement of a pod stays Pending, by the UID of the evicted pod.
func (c Evidence) pendingSince() map[string]time.Time {
	out := map[string]time.Time{}
	for _, r := range c.Reports {
		for _, o := range r.Outcomes {
			if at, known := out[o.Pod.UID]; o.Pending && (!known || r.Finished.Before(at)) {
				out[o.Pod.UID] = r.Finished
			}
		}
	}
	return out
}

// checkPending returns a violation for each replacement that is reported as Pending, although every pod of its workload
// had a node at the end of the report.
func (c Evidence) checkPending(done []*completedEviction) (out []Violation) {
	for _, r := range c.Reports {
		for _, o := range r.Outcomes {
			i := slices.IndexFunc(done, func(e *completedEviction) bool { return e.UID == o.Pod.UID })
			if !o.Pending || i < 0 || c.hasUnboundPod(done[i].pod.workloadKey(), r.Finished) {
				continue
			}
			out = append(out, Violation{Kind: FalseClaim, At: r.Finished, User: r.User, What: fmt.Sprintf(
				"run %s reports the replacement of %s/%s (%s) as Pending, but every pod of its workload has a node", r.RunID,
				o.Pod.Namespace, o.Pod.Name, o.Pod.UID)})
		}
	}
	return out
}

// hasUnboundPod reports whether a pod of the workload had no node at a time. The changes must be in order.
func (c Evidence) hasUnboundPod(workload string, at time.Time) bool {
	unbound := map[string]bool{}
	for _, ch := range c.Changes {
		if p := ch.Pod; p != nil && !ch.Seen.After(at) && p.workloadKey() == workload {
			unbound[p.UID] = p.Node == "" && !p.Terminating && !p.Ended && !ch.Gone
		}
	}
	for _, is := range unbound {
		if is {
			return true
		}
	}
	return false
}
