package annotation

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Workload holds the requests about how a workload's pods are spread.
type Workload struct {
	// SpreadBy is a topology key, or "" if there is no request. A request on the pod takes
	// precedence over one on its owners, which takes precedence over one on the namespace.
	SpreadBy string
	// MaxSkew is the smallest requested skew, or 0 if there is no request.
	MaxSkew int
	// ZoneSLO is the worst failure category that is allowed: 3, 4, or 0 if there is no request.
	// If there are several requests, the highest category applies.
	ZoneSLO  int
	Problems []Problem
}

const (
	wantSpreadBy = "a topology key, such as topology.kubernetes.io/zone"
	wantMaxSkew  = "an integer of 1 or more"
	wantZoneSLO  = "3 or 4, the worst failure category allowed"
)

// OfWorkload collects the spread requests that apply to a pod's workload.
func OfWorkload(s *cluster.Snapshot, p *cluster.Pod) Workload {
	var r Workload
	if p.Mark == cluster.Unmarked && !ownersOrNamespaceHaveRequests(s, p) {
		return r
	}
	for _, o := range requestObjects(s, p) {
		r.readObject(o)
	}
	return r
}

func (r *Workload) readObject(o object) {
	for _, src := range o.requestValues(SpreadBy) {
		if len(validation.IsQualifiedName(src.Value)) > 0 {
			r.Problems = append(r.Problems, newProblem(src, wantSpreadBy))
		} else if r.SpreadBy == "" {
			r.SpreadBy = src.Value
		}
	}
	for _, src := range o.requestValues(MaxSkew) {
		n, err := strconv.Atoi(src.Value)
		if err != nil || n < 1 || strings.HasPrefix(src.Value, "+") {
			r.Problems = append(r.Problems, newProblem(src, wantMaxSkew))
		} else if r.MaxSkew == 0 || n < r.MaxSkew {
			r.MaxSkew = n
		}
	}
	for _, src := range o.requestValues(ZoneSLO) {
		if src.Value == "3" || src.Value == "4" {
			r.ZoneSLO = max(r.ZoneSLO, int(src.Value[0]-'0'))
		} else {
			r.Problems = append(r.Problems, newProblem(src, wantZoneSLO))
		}
	}
}
