package annotation

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Workload is what is asked about the spread of a group of pods.
type Workload struct {
	// SpreadBy is a topology key, "" for none. A pod's request goes before its
	// owners', and these before the namespace's: one key is no stricter than
	// another.
	SpreadBy string
	// MaxSkew is the least that anyone asks for; 0 for none.
	MaxSkew int
	// ZoneSLO is the worst failure category that is allowed, 3 or 4; the
	// strictest is the highest. 0 for none.
	ZoneSLO  int
	Problems []Problem
}

const (
	wantSpreadBy = "a topology key, such as topology.kubernetes.io/zone"
	wantMaxSkew  = "a number from 1"
	wantZoneSLO  = "3 or 4, the worst failure category allowed"
)

// OfWorkload collects what is asked for the spread of a pod's workload.
func OfWorkload(s *cluster.Snapshot, p *cluster.Pod) Workload {
	var r Workload
	for _, o := range requestObjects(s, p) {
		r.readObject(o)
	}
	return r
}

func (r *Workload) readObject(o object) {
	for _, src := range o.values(SpreadBy) {
		if len(validation.IsQualifiedName(src.Value)) > 0 {
			r.addProblem(src, wantSpreadBy)
		} else if r.SpreadBy == "" {
			r.SpreadBy = src.Value
		}
	}
	for _, src := range o.values(MaxSkew) {
		n, err := strconv.Atoi(src.Value)
		if err != nil || n < 1 || strings.HasPrefix(src.Value, "+") {
			r.addProblem(src, wantMaxSkew)
		} else if r.MaxSkew == 0 || n < r.MaxSkew {
			r.MaxSkew = n
		}
	}
	for _, src := range o.values(ZoneSLO) {
		if src.Value == "3" || src.Value == "4" {
			r.ZoneSLO = max(r.ZoneSLO, int(src.Value[0]-'0'))
		} else {
			r.addProblem(src, wantZoneSLO)
		}
	}
}

func (r *Workload) addProblem(src Source, want string) {
	r.Problems = append(r.Problems, Problem{Source: truncated(src), Want: want})
}
