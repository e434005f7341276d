package model

import (
	"maps"
	"slices"
)

// Clone copies the model in O(pods + nodes + classes) time. Moves in the copy do not change the
// original, and the reverse. The copy shares the data that depends only on the snapshot. The second
// result maps each counter to its copy.
func (m *Cluster) Clone() (*Cluster, ClonedCounters) {
	c := *m
	c.PodNode, c.terminating = slices.Clone(m.PodNode), maps.Clone(m.terminating)
	c.profiles, c.Topologies, c.NodesWithKeys = maps.Clone(m.profiles), maps.Clone(m.Topologies), maps.Clone(m.NodesWithKeys)
	c.OnChange = nil
	if m.Packing != nil {
		p := *m.Packing
		p.Nodes = slices.Clone(p.Nodes)
		c.Packing = &p
	}
	if m.Risk != nil {
		r := *m.Risk
		r.Nodes = slices.Clone(r.Nodes)
		c.Risk = &r
	}
	c.Requests = slices.Clone(m.Requests)
	for i := range c.Requests {
		c.Requests[i].Extended = maps.Clone(c.Requests[i].Extended)
	}
	c.Disks, c.Ports, c.Attachments = m.Disks.Clone(), m.Ports.clone(), m.Attachments.Clone()
	k := ClonedCounters{}
	k.cloneTerms(m, &c)
	k.cloneClasses(m, &c)
	return &c, k
}

// ClonedCounters maps each counter of a model to the counter of its clone.
type ClonedCounters map[*PodCounter]*PodCounter

// Counter returns the copy of a counter; nil for a nil counter.
func (k ClonedCounters) Counter(c *PodCounter) *PodCounter {
	if c == nil {
		return nil
	}
	x := k[c]
	if x == nil {
		x = &PodCounter{Nodes: slices.Clone(c.Nodes)}
		k[c] = x
	}
	return x
}

func (k ClonedCounters) counterList(list []*PodCounter) []*PodCounter {
	list = slices.Clone(list)
	for i := range list {
		list[i] = k.Counter(list[i])
	}
	return list
}

func (k ClonedCounters) cloneTerms(m, c *Cluster) {
	c.spreadCounters, c.termCounters = maps.Clone(m.spreadCounters), maps.Clone(m.termCounters)
	for _, counters := range [...]map[string]*PodCounter{c.spreadCounters, c.termCounters} {
		for id, x := range counters {
			counters[id] = k.Counter(x)
		}
	}
	terms := make(map[*ExistingTerms]*ExistingTerms, len(m.termsByID))
	c.termsByID = make(map[string]*ExistingTerms, len(m.termsByID))
	for id, o := range m.termsByID {
		x := *o
		x.Pods = k.Counter(o.Pods)
		terms[o], c.termsByID[id] = &x, &x
	}
	c.AntiAffinityTerms, c.ScoredTerms = slices.Clone(m.AntiAffinityTerms), slices.Clone(m.ScoredTerms)
	for _, list := range [...][]*ExistingTerms{c.AntiAffinityTerms, c.ScoredTerms} {
		for i := range list {
			list[i] = terms[list[i]]
		}
	}
}

func (k ClonedCounters) cloneClasses(m, c *Cluster) {
	copies := make([]EquivalenceClass, len(m.ClassList))
	c.ClassList, c.PodClass = make([]*EquivalenceClass, len(copies)), slices.Clone(m.PodClass)
	for i, x := range m.ClassList {
		copies[i] = *x
		c.ClassList[i] = &copies[i]
		copies[i].spreadCounters, copies[i].termCounters = k.counterList(x.spreadCounters), k.counterList(x.termCounters)
	}
	for i, x := range c.PodClass {
		if x != nil {
			c.PodClass[i] = c.ClassList[x.Number]
		}
	}
	c.classesByNamespace = make(map[string][]*EquivalenceClass, len(m.classesByNamespace))
	c.classesByLabel = map[labelKey]map[string][]*EquivalenceClass{}
	for _, x := range c.ClassList {
		c.classesByNamespace[x.Namespace] = append(c.classesByNamespace[x.Namespace], x)
	}
}
