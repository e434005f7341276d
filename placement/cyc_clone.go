package placement

import "slices"

// CloneFor copies a replacement for the copy of its class in a cloned model. The
// results that depend on the pods of each node are found anew.
func (r *Replacement) CloneFor(c *EquivalenceClass, k *Cloned) *Replacement {
	in := *r
	in.class, in.Local = c, LocalResults{}
	for _, list := range [...]*[]SpreadConstraint{&in.spread.hard, &in.spread.soft} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].pods = k.Counter((*list)[i].pods)
		}
	}
	p := &in.InterPod
	for _, list := range [...]*[]TermWithTopology{&p.required, &p.anti, &p.existingAnti, &p.scored} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].pods = k.Counter((*list)[i].pods)
		}
	}
	in.policy.Selected, in.policy.service = k.Counter(in.policy.Selected), k.Counter(in.policy.service)
	return &in
}
