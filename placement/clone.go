package placement

import (
	"maps"
	"slices"
)

// Clone returns a world as this one stands, in which pods are moved by themselves:
// neither sees the other's moves and hints. What depends on the snapshot alone is
// shared, and what is known of each class is carried over, so that it costs O(pods +
// nodes + classes), a fraction of NewWorld. Both may be used at the same time once it
// is made.
func (w *ClusterModel) Clone() *ClusterModel {
	c := *w
	c.PodNode = slices.Clone(w.PodNode)
	c.Profiles, c.Topologies, c.nodeChecks, c.scorers = maps.Clone(w.Profiles), maps.Clone(w.Topologies), maps.Clone(w.nodeChecks), maps.Clone(w.scorers)
	c.groups, c.NodesWithKeys, c.images = w.groups.clone(), maps.Clone(w.NodesWithKeys), w.images.clone()
	c.Changes = slices.Clone(w.Changes)
	c.fast, c.OnChange, c.buf, c.sampler = nil, nil, Scratch{}, Sampler{}
	if w.Packing != nil {
		p := *w.Packing
		p.nodes = slices.Clone(p.nodes)
		c.Packing = &p
	}
	c.Requests = slices.Clone(w.Requests)
	for i := range c.Requests {
		c.Requests[i].extended = maps.Clone(c.Requests[i].extended)
	}
	c.Disks, c.Ports, c.Attachments = w.Disks.clone(), w.Ports.clone(), w.Attachments.clone()
	k := cloner{counters: map[*PodCounter]*PodCounter{}, classes: make([]*EquivalenceClass, len(w.ClassList))}
	k.cloneTerms(w, &c)
	k.cloneClasses(w, &c)
	return &c
}

// cloner keeps which copy stands for what.
type cloner struct {
	counters map[*PodCounter]*PodCounter
	classes  []*EquivalenceClass
}

func (k *cloner) counter(c *PodCounter) *PodCounter {
	if c == nil {
		return nil
	}
	x := k.counters[c]
	if x == nil {
		x = &PodCounter{Nodes: slices.Clone(c.Nodes), Total: c.Total}
		k.counters[c] = x
	}
	return x
}

func (k *cloner) counterList(list []*PodCounter) []*PodCounter {
	list = slices.Clone(list)
	for i := range list {
		list[i] = k.counter(list[i])
	}
	return list
}

// cloneTerms copies the counters and the terms of the pods that stand.
func (k *cloner) cloneTerms(w, c *ClusterModel) {
	c.SpreadCounters, c.TermCounters = maps.Clone(w.SpreadCounters), maps.Clone(w.TermCounters)
	for _, m := range [...]map[string]*PodCounter{c.SpreadCounters, c.TermCounters} {
		for id, x := range m {
			m[id] = k.counter(x)
		}
	}
	owned := make(map[*ExistingTerm]*ExistingTerm, len(w.TermByID))
	c.TermByID = make(map[string]*ExistingTerm, len(w.TermByID))
	for id, o := range w.TermByID {
		x := *o
		x.Pods = k.counter(o.Pods)
		owned[o], c.TermByID[id] = &x, &x
	}
	c.AntiAffinityTerms, c.ScoredTerms = slices.Clone(w.AntiAffinityTerms), slices.Clone(w.ScoredTerms)
	for _, list := range [...][]*ExistingTerm{c.AntiAffinityTerms, c.ScoredTerms} {
		for i := range list {
			list[i] = owned[list[i]]
		}
	}
}

// cloneClasses copies the classes with what was found out about them.
func (k *cloner) cloneClasses(w, c *ClusterModel) {
	copies := make([]EquivalenceClass, len(w.ClassList))
	for i, x := range w.ClassList {
		copies[i] = *x
		k.classes[i] = &copies[i]
	}
	c.replacements = make([]*Replacement, len(copies))
	for i := range copies {
		x := &copies[i]
		x.SpreadCounters, x.TermCounters = k.counterList(x.SpreadCounters), k.counterList(x.TermCounters)
		if in := w.replacements[i]; in != nil {
			c.replacements[i] = k.incoming(x, in)
		}
	}
	c.ClassList, c.PodClass = k.classes, slices.Clone(w.PodClass)
	for i, x := range c.PodClass {
		if x != nil {
			c.PodClass[i] = k.classes[x.number]
		}
	}
	c.ClassesByNamespace, c.ClassesByLabel = make(map[string][]*EquivalenceClass, len(w.ClassesByNamespace)), map[labelKey]map[string][]*EquivalenceClass{}
	for _, x := range c.ClassList {
		c.ClassesByNamespace[x.namespace] = append(c.ClassesByNamespace[x.namespace], x)
	}
}

// incoming copies what holds for a class; how it is read is found anew.
func (k *cloner) incoming(c *EquivalenceClass, from *Replacement) *Replacement {
	in := *from
	in.class, in.Local = c, LocalResults{}
	for _, list := range [...]*[]SpreadConstraint{&in.spread.hard, &in.spread.soft} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].pods = k.counter((*list)[i].pods)
		}
	}
	p := &in.InterPod
	for _, list := range [...]*[]TermWithTopology{&p.required, &p.anti, &p.existingAnti, &p.scored} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].pods = k.counter((*list)[i].pods)
		}
	}
	in.policy.Selected, in.policy.service = k.counter(in.policy.Selected), k.counter(in.policy.service)
	return &in
}
