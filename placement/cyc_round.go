package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// round is one scheduling attempt: the counts by domain that its filters read.
type round struct {
	m   *clusterState
	buf *scratch
	in  *incoming
	pod cluster.PodID // whose replacement is placed
	// claim is one of the newcomer's that another pod has to itself.
	claim string
	// beside are waiting pods that are taken to stand; noInterPod says that
	// inter-pod affinity is not asked about them.
	beside     []cluster.PodID
	noInterPod bool
	idle       bool // what idleInterPod says, where pods wait for nodes
	// slots of scratch.byDomain: hard constraints, then required affinity,
	// anti-affinity, the standing pods' anti-affinity.
	bootstrap bool // no pod anywhere satisfies the required affinity
	slots     int  // slots taken; scores use those from here on
}

// newRound counts by domain what the filters read.
func newRound(m *clusterState, b *scratch, in *incoming, pod cluster.PodID) round {
	slot := 0
	b.min = b.min[:0]
	for i := range in.spread.hard {
		b.min = append(b.min, b.countHard(slot, &in.spread.hard[i], in.spread.hardNode))
		slot++
	}
	r := round{m: m, buf: b, in: in, pod: pod, claim: m.held.claimTaken(in.class.namespace, in.vol.oncePod), bootstrap: true}
	for _, t := range in.inter.required {
		for _, k := range b.sumDomains(slot, t) {
			r.bootstrap = r.bootstrap && k <= 0
		}
		slot++
	}
	for _, list := range [...][]placedTerm{in.inter.anti, in.inter.existingAnti} {
		for _, t := range list {
			b.sumDomains(slot, t)
			slot++
		}
	}
	r.slots = slot
	r.idle = len(m.nominated) > 0 && r.idleInterPod()
	return r
}

// idleInterPod reports that inter-pod affinity had nothing to judge before the
// waiting pods were added; then it is not asked about them either.
func (r *round) idleInterPod() bool {
	if len(r.in.inter.required)+len(r.in.inter.anti) > 0 {
		return false
	}
	slot := len(r.in.spread.hard)
	for range r.in.inter.existingAnti {
		for _, k := range r.buf.byDomain[slot] {
			if k > 0 {
				return false
			}
		}
		slot++
	}
	return true
}
