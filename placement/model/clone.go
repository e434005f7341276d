package model

import (
	"maps"
	"slices"
)

// Clone copies the model: moves in one do not change the other. What depends on the
// snapshot alone is shared. It costs O(pods + nodes + classes). The copy of a counter
// is found by Cloned.
func (w *Cluster) Clone() (*Cluster, *ClonedCounters) {
	c := *w
	c.PodNode = slices.Clone(w.PodNode)
	c.Profiles, c.Topologies, c.NodesWithKeys = maps.Clone(w.Profiles), maps.Clone(w.Topologies), maps.Clone(w.NodesWithKeys)
	c.ChangedNodes, c.OnChange = slices.Clone(w.ChangedNodes), nil
	if w.Packing != nil {
		p := *w.Packing
		p.Nodes = slices.Clone(p.Nodes)
		c.Packing = &p
	}
	c.Requests = slices.Clone(w.Requests)
	for i := range c.Requests {
		c.Requests[i].Extended = maps.Clone(c.Requests[i].Extended)
	}
	c.Disks, c.Ports, c.Attachments = w.Disks.Clone(), w.Ports.clone(), w.Attachments.Clone()
	k := &ClonedCounters{counters: map[*PodCounter]*PodCounter{}}
	k.cloneTerms(w, &c)
	k.cloneClasses(w, &c)
	return &c, k
}

// ClonedCounters knows the copy of each counter.
type ClonedCounters struct {
	counters map[*PodCounter]*PodCounter
}

// Counter returns the copy of a counter; nil for nil.
func (k *ClonedCounters) Counter(c *PodCounter) *PodCounter {
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

func (k *ClonedCounters) counterList(list []*PodCounter) []*PodCounter {
	list = slices.Clone(list)
	for i := range list {
		list[i] = k.Counter(list[i])
	}
	return list
}

// cloneTerms copies the counters and the terms of the pods on nodes.
func (k *ClonedCounters) cloneTerms(w, c *Cluster) {
	c.SpreadCounters, c.TermCounters = maps.Clone(w.SpreadCounters), maps.Clone(w.TermCounters)
	for _, m := range [...]map[string]*PodCounter{c.SpreadCounters, c.TermCounters} {
		for id, x := range m {
			m[id] = k.Counter(x)
		}
	}
	terms := make(map[*ExistingTerm]*ExistingTerm, len(w.TermsByID))
	c.TermsByID = make(map[string]*ExistingTerm, len(w.TermsByID))
	for id, o := range w.TermsByID {
		x := *o
		x.Pods = k.Counter(o.Pods)
		terms[o], c.TermsByID[id] = &x, &x
	}
	c.AntiAffinityTerms, c.ScoredTerms = slices.Clone(w.AntiAffinityTerms), slices.Clone(w.ScoredTerms)
	for _, list := range [...][]*ExistingTerm{c.AntiAffinityTerms, c.ScoredTerms} {
		for i := range list {
			list[i] = terms[list[i]]
		}
	}
}

// cloneClasses copies the equivalence classes with the counters that count them.
func (k *ClonedCounters) cloneClasses(w, c *Cluster) {
	copies := make([]EquivalenceClass, len(w.ClassList))
	c.ClassList, c.PodClass = make([]*EquivalenceClass, len(copies)), slices.Clone(w.PodClass)
	for i, x := range w.ClassList {
		copies[i] = *x
		c.ClassList[i] = &copies[i]
		copies[i].SpreadCounters, copies[i].TermCounters = k.counterList(x.SpreadCounters), k.counterList(x.TermCounters)
	}
	for i, x := range c.PodClass {
		if x != nil {
			c.PodClass[i] = c.ClassList[x.Number]
		}
	}
	c.ClassesByNamespace, c.ClassesByLabel = make(map[string][]*EquivalenceClass, len(w.ClassesByNamespace)), map[labelKey]map[string][]*EquivalenceClass{}
	for _, x := range c.ClassList {
		c.ClassesByNamespace[x.Namespace] = append(c.ClassesByNamespace[x.Namespace], x)
	}
}
