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
func (w *World) Clone() *World {
	c := *w
	c.node = slices.Clone(w.node)
	c.profiles, c.topologies, c.views, c.scorers = maps.Clone(w.profiles), maps.Clone(w.topologies), maps.Clone(w.views), maps.Clone(w.scorers)
	c.groups, c.keyed, c.images = w.groups.clone(), maps.Clone(w.keyed), w.images.clone()
	c.changes = slices.Clone(w.changes)
	c.quick, c.onChange, c.buf, c.sampler = nil, nil, scratch{}, sampler{}
	if w.packing != nil {
		p := *w.packing
		p.nodes = slices.Clone(p.nodes)
		c.packing = &p
	}
	c.load = slices.Clone(w.load)
	for i := range c.load {
		c.load[i].extended = maps.Clone(c.load[i].extended)
	}
	c.held, c.ports, c.attachments = w.held.clone(), w.ports.clone(), w.attachments.clone()
	k := cloner{counters: map[*counter]*counter{}, classes: make([]*class, len(w.classes))}
	k.cloneTerms(w, &c)
	k.cloneClasses(w, &c)
	return &c
}

// cloner keeps which copy stands for what.
type cloner struct {
	counters map[*counter]*counter
	classes  []*class
}

func (k *cloner) counter(c *counter) *counter {
	if c == nil {
		return nil
	}
	x := k.counters[c]
	if x == nil {
		x = &counter{piles: slices.Clone(c.piles), total: c.total}
		k.counters[c] = x
	}
	return x
}

func (k *cloner) counterList(list []*counter) []*counter {
	list = slices.Clone(list)
	for i := range list {
		list[i] = k.counter(list[i])
	}
	return list
}

// cloneTerms copies the counters and the terms of the pods that stand.
func (k *cloner) cloneTerms(w, c *World) {
	c.spreads, c.matches = maps.Clone(w.spreads), maps.Clone(w.matches)
	for _, m := range [...]map[string]*counter{c.spreads, c.matches} {
		for id, x := range m {
			m[id] = k.counter(x)
		}
	}
	owned := make(map[*ownedTerm]*ownedTerm, len(w.owned))
	c.owned = make(map[string]*ownedTerm, len(w.owned))
	for id, o := range w.owned {
		x := *o
		x.pods = k.counter(o.pods)
		owned[o], c.owned[id] = &x, &x
	}
	c.anti, c.scored = slices.Clone(w.anti), slices.Clone(w.scored)
	for _, list := range [...][]*ownedTerm{c.anti, c.scored} {
		for i := range list {
			list[i] = owned[list[i]]
		}
	}
}

// cloneClasses copies the classes with what was found out about them.
func (k *cloner) cloneClasses(w, c *World) {
	copies := make([]class, len(w.classes))
	for i, x := range w.classes {
		copies[i] = *x
		k.classes[i] = &copies[i]
	}
	c.incoming = make([]*incoming, len(copies))
	for i := range copies {
		x := &copies[i]
		x.spread, x.affinity = k.counterList(x.spread), k.counterList(x.affinity)
		if in := w.incoming[i]; in != nil {
			c.incoming[i] = k.incoming(x, in)
		}
	}
	c.classes, c.classOf = k.classes, slices.Clone(w.classOf)
	for i, x := range c.classOf {
		if x != nil {
			c.classOf[i] = k.classes[x.number]
		}
	}
	c.byNS, c.byLabel = make(map[string][]*class, len(w.byNS)), map[labelKey]map[string][]*class{}
	for _, x := range c.classes {
		c.byNS[x.namespace] = append(c.byNS[x.namespace], x)
	}
}

// incoming copies what holds for a class; how it is read is found anew.
func (k *cloner) incoming(c *class, from *incoming) *incoming {
	in := *from
	in.class, in.fit = c, fit{}
	for _, list := range [...]*[]constraint{&in.spread.hard, &in.spread.soft} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].pods = k.counter((*list)[i].pods)
		}
	}
	p := &in.inter
	for _, list := range [...]*[]placedTerm{&p.required, &p.anti, &p.existingAnti, &p.scored} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].pods = k.counter((*list)[i].pods)
		}
	}
	in.policy.selected, in.policy.service = k.counter(in.policy.selected), k.counter(in.policy.service)
	return &in
}
