package cycle

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// Attempt is one scheduling attempt: the counts by domain that its filters read.
type Attempt struct {
	Model       *model.Cluster
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
	Slots        int  // slots taken; scores use those from here on
}

// NewAttempt counts by domain what the filters read.
func NewAttempt(m *model.Cluster, b *Scratch, in *Replacement, pod cluster.PodID) Attempt {
	slot := 0
	b.MinCount = b.MinCount[:0]
	for i := range in.Spread.Hard {
		b.MinCount = append(b.MinCount, b.CountHard(slot, &in.Spread.Hard[i], in.Spread.HardNode))
		slot++
	}
	r := Attempt{Model: m, Buf: b, Replacement: in, Victim: pod, ClaimInUse: m.Disks.ClaimInUse(in.Class.Namespace, in.Volumes.ExclusiveClaims), NoPodMatches: true}
	for _, t := range in.InterPod.Required {
		for _, k := range b.SumDomains(slot, t) {
			r.NoPodMatches = r.NoPodMatches && k <= 0
		}
		slot++
	}
	for _, list := range [...][]TermWithTopology{in.InterPod.Anti, in.InterPod.ExistingAnti} {
		for _, t := range list {
			b.SumDomains(slot, t)
			slot++
		}
	}
	r.Slots = slot
	r.InterPodIdle = len(m.Nominated) > 0 && r.interPodIdle()
	return r
}

// interPodIdle reports that inter-pod affinity had nothing to judge before the
// waiting pods were added; then it is not asked about them either.
func (r *Attempt) interPodIdle() bool {
	if len(r.Replacement.InterPod.Required)+len(r.Replacement.InterPod.Anti) > 0 {
		return false
	}
	slot := len(r.Replacement.Spread.Hard)
	for range r.Replacement.InterPod.ExistingAnti {
		for _, k := range r.Buf.ByDomain[slot] {
			if k > 0 {
				return false
			}
		}
		slot++
	}
	return true
}
