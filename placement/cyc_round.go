package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// Attempt is one scheduling attempt: the counts by domain that its filters read.
type Attempt struct {
	Model       *Cluster
	Buf         *Scratch
	Replacement *Replacement
	Victim      cluster.PodID // whose replacement is placed
	// ClaimInUse is one of the newcomer's that another pod has to itself.
	ClaimInUse string
	// Nominated are waiting pods that are taken to stand; noInterPod says that
	// inter-pod affinity is not asked about them.
	Nominated    []cluster.PodID
	SkipInterPod bool
	InterPodIdle bool // what idleInterPod says, where pods wait for nodes
	// slots of scratch.byDomain: hard constraints, then required affinity,
	// anti-affinity, the standing pods' anti-affinity.
	NoPodMatches bool // no pod anywhere satisfies the required affinity
	slots        int  // slots taken; scores use those from here on
}

// NewAttempt counts by domain what the filters read.
func NewAttempt(m *Cluster, b *Scratch, in *Replacement, pod cluster.PodID) Attempt {
	slot := 0
	b.MinCount = b.MinCount[:0]
	for i := range in.spread.hard {
		b.MinCount = append(b.MinCount, b.CountHard(slot, &in.spread.hard[i], in.spread.hardNode))
		slot++
	}
	r := Attempt{Model: m, Buf: b, Replacement: in, Victim: pod, ClaimInUse: m.Disks.ClaimInUse(in.class.namespace, in.Volumes.ExclusiveClaims), NoPodMatches: true}
	for _, t := range in.InterPod.required {
		for _, k := range b.sumDomains(slot, t) {
			r.NoPodMatches = r.NoPodMatches && k <= 0
		}
		slot++
	}
	for _, list := range [...][]TermWithTopology{in.InterPod.anti, in.InterPod.existingAnti} {
		for _, t := range list {
			b.sumDomains(slot, t)
			slot++
		}
	}
	r.slots = slot
	r.InterPodIdle = len(m.Nominated) > 0 && r.interPodIdle()
	return r
}

// interPodIdle reports that inter-pod affinity had nothing to judge before the
// waiting pods were added; then it is not asked about them either.
func (r *Attempt) interPodIdle() bool {
	if len(r.Replacement.InterPod.required)+len(r.Replacement.InterPod.anti) > 0 {
		return false
	}
	slot := len(r.Replacement.spread.hard)
	for range r.Replacement.InterPod.existingAnti {
		for _, k := range r.Buf.byDomain[slot] {
			if k > 0 {
				return false
			}
		}
		slot++
	}
	return true
}
