package plan

import (
	"fmt"
	"strings"
)

// OtherDescheduler is another program in the cluster that evicts pods to move them. Such a program ignores Evenkeel's
// goals, limits and back-offs, so each of the two may undo what the other does.
type OtherDescheduler struct {
	// Program is the name of its container image, such as "descheduler" or "koord-descheduler".
	Program string `json:"program"`
	// Kind, Namespace and Name identify the object to remove: a Deployment, StatefulSet, DaemonSet, CronJob or Job, or
	// a Pod without an owner.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String returns the program with its object, such as "descheduler (Deployment kube-system/descheduler)".
func (o OtherDescheduler) String() string {
	return o.Program + " (" + o.Kind + " " + o.Namespace + "/" + o.Name + ")"
}

// maxOtherDeschedulers bounds the programs that a text names.
const maxOtherDeschedulers = 3

// OtherDeschedulersText warns about other programs that evict pods. It names at most three unless all is true. If there
// are none, the text is "".
func OtherDeschedulersText(others []OtherDescheduler, all bool) string {
	var names []string
	for i, o := range others {
		if i == maxOtherDeschedulers && !all {
			names = append(names, fmt.Sprintf("%d more (`evenkeel plan -o wide` names them)", len(others)-i))
			break
		}
		names = append(names, o.String())
	}
	switch len(others) {
	case 0:
		return ""
	case 1:
		return "Another descheduler runs: " + names[0] + ". If both evict, each may undo what the other does; let only one evict."
	}
	return "Other deschedulers run: " + strings.Join(names, ", ") + ". If several evict, each may undo what the others do; let only one evict."
}
