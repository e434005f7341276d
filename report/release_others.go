package report

import "strings"

// otherDescheduler is the code of the notice about another program that evicts pods to move them.
const otherDescheduler = "OtherDescheduler"

// otherDeschedulers names other programs that evict pods to move them.
func (r *Release) otherDeschedulers() *finding {
	if r.Object == nil {
		return nil
	}
	var what []string
	for _, n := range r.Object.Status.Notices {
		if n.Code == otherDescheduler {
			what = append(what, escape(n.Message))
		}
	}
	if what == nil {
		return nil
	}
	return &finding{head: "another descheduler runs", what: "Another program moves pods: " + strings.Join(what, "; ") + ".",
		wrong: "If both evict, each may undo what the other does.", todo: []string{"Let only one of them evict: suspend or remove the other one."}}
}
