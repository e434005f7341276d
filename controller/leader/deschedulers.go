package leader

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/plan"
)

// DeschedulersLabel is the label of the Lease by which its holder says which other programs evict pods. A person who
// approves a plan may read the Lease, but perhaps not the pods of other namespaces. The value is noDeschedulers, or the
// number of programs followed by kind, namespace and name of the first, with _ between them.
const (
	DeschedulersLabel = "evenkeel.io/other-deschedulers"
	noDeschedulers    = "none"
)

// SetOtherDeschedulers sets which other programs evict pods. The next renewal of the Lease announces them.
func (l *Lease) SetOtherDeschedulers(others []plan.OtherDescheduler) {
	value := noDeschedulers
	if n := len(others); n > 0 {
		value = strings.Join([]string{strconv.Itoa(n), others[0].Kind, others[0].Namespace, others[0].Name}, "_")
		if len(validation.IsValidLabelValue(value)) > 0 { // it is too long
			value = strconv.Itoa(n)
		}
	}
	l.deschedulers.Store(&value)
}

// deschedulersText returns the programs of a label, such as "CronJob kube-system/descheduler and 1 more", or "".
func deschedulersText(label string) string {
	parts := strings.Split(terminal.Escape(label), "_")
	n, err := strconv.Atoi(parts[0])
	switch {
	case err != nil || n < 1:
		return ""
	case len(parts) != 4:
		return plural.Count(n, "program")
	case n == 1:
		return fmt.Sprintf("%s %s/%s", parts[1], parts[2], parts[3])
	}
	return fmt.Sprintf("%s %s/%s and %d more", parts[1], parts[2], parts[3], n-1)
}
