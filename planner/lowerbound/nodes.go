package lowerbound

import "github.com/evenkeel-project/evenkeel/planner/goal"

// nodes adds the largest need of any goal for each node: the fewest pods that may leave and cover
// its excess. It adds the excess that they cannot cover to the residual, as a share of the goal's
// excess.
func (p *proof) nodes() {
	for n := range p.Snapshot.Nodes {
		most, planned := 0, 0
		var hot []int32
		for _, g := range p.start.ByNode[n] {
			if p.start.Goals[g].Constraint || p.start.Excess(int(g)) == 0 {
				continue
			}
			hot = append(hot, g)
			b := p.start.Measures[g].(*goal.NodeMeasure)
			all, some, rest := p.coverLargestFirst(b, b.Excess(), b.Excess()-p.Goals.Excess(int(g)))
			most, planned = max(most, all), max(planned, some)
			p.addResidual(p.start.Goals[g], float64(rest)/float64(b.Excess()), float64(rest)/float64(b.Total))
		}
		if most == 0 {
			continue
		}
		p.full.node(most)
		p.planned.node(planned)
		for _, g := range hot {
			p.amounts(int(g))
		}
	}
}

// amounts adds the need of a node goal, with all pods whose eviction can serve it.
func (p *proof) amounts(g int) {
	b, gone := p.start.Measures[g].(*goal.NodeMeasure), p.start.Excess(g)-p.Goals.Excess(g)
	if p.full.alone && (p.planned.alone || gone == 0) {
		return
	}
	var pods []sized
	var sum int64
	for _, x := range p.podsBySize(b) {
		if p.canLeaveForGood(x.id) {
			pods = append(pods, x)
			sum += x.size
		}
	}
	p.full.amount(min(b.Excess(), sum), pods)
	p.planned.amount(gone, pods)
}

// coverLargestFirst takes the largest pods that may leave until they cover an amount. all is their
// number, some is the number that covers part, and rest is the uncovered amount. It checks
// eligibility only for the pods that it needs.
func (p *proof) coverLargestFirst(b *goal.NodeMeasure, amount, part int64) (all, some int, rest int64) {
	rest = amount
	for _, x := range p.podsBySize(b) {
		if rest <= 0 {
			break
		}
		if !p.canLeaveForGood(x.id) {
			continue
		}
		if amount-rest < part {
			some++
		}
		rest -= x.size
		all++
	}
	return all, some, max(0, rest)
}
