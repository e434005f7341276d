package cycle

import (
	"github.com/evenkeel-project/evenkeel/placement/model"
	"slices"
)

// CloneFor copies a replacement for the copy of its class in a cloned model. The
// results that depend on the pods of each node are found anew.
func (r *Replacement) CloneFor(c *model.EquivalenceClass, k *model.ClonedCounters) *Replacement {
	in := *r
	in.Class, in.Local = c, LocalResults{}
	for _, list := range [...]*[]SpreadConstraint{&in.Spread.Hard, &in.Spread.Soft} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Pods = k.Counter((*list)[i].Pods)
		}
	}
	p := &in.InterPod
	for _, list := range [...]*[]TermWithTopology{&p.Required, &p.Anti, &p.ExistingAnti, &p.Scored} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Pods = k.Counter((*list)[i].Pods)
		}
	}
	in.Policy.Selected, in.Policy.Service = k.Counter(in.Policy.Selected), k.Counter(in.Policy.Service)
	return &in
}
