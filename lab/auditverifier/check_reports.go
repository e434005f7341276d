package auditverifier

import (
	"fmt"
)

// findDuplicateReports finds runs that appear in two reports without a recovery mark. If a process
// ends before it closes its run, the next process reports the run again and must mark that report
// as a recovery.
func (c Evidence) findDuplicateReports() []Violation {
	var out []Violation
	first := map[string]string{}
	for _, r := range c.Reports {
		if r.Recovered != "" {
			continue
		}
		if user, before := first[r.RunID]; before && r.RunID != "" {
			out = append(out, newViolation(FalseClaim, r.Finished, r.User,
				"%s already reported run %s, but this second report is not marked as a recovery", user, r.RunID))
		}
		first[r.RunID] = r.User
	}
	return out
}

// checkReports checks that every eviction is reported, and that every reported eviction took place.
func (c Evidence) checkReports(asked []Eviction, done []*completedEviction) []Violation {
	var out []Violation
	reported := map[string]string{} // UID of a pod that a report calls evicted or unknown -> run
	happened := map[string]bool{}
	for _, e := range done {
		happened[e.UID] = true
	}
	claimed := map[string]string{} // UID -> run that reports it as evicted
	out = append(out, c.findDuplicateReports()...)
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
				what = fmt.Sprintf("run %s reports %s/%s (%s) as evicted; the audit log has no such eviction", r.RunID,
					o.Pod.Namespace, o.Pod.Name, o.Pod.UID)
			case before && run != r.RunID:
				what = fmt.Sprintf("runs %s and %s both report that they evicted %s/%s (%s)", run, r.RunID, o.Pod.Namespace,
					o.Pod.Name, o.Pod.UID)
			}
			if what != "" {
				out = append(out, Violation{Kind: FalseClaim, At: r.Finished, User: r.User, What: what})
			}
			claimed[o.Pod.UID] = r.RunID
		}
	}
	for _, e := range done {
		if reported[e.UID] == "" {
			out = append(out, newViolation(UnreportedEviction, e.At, e.User,
				"%s/%s (%s) was evicted, but no report contains it", e.Namespace, e.Name, e.UID))
		}
	}
	return out
}
