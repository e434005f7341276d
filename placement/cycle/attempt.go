package cycle

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// Attempt is one scheduling attempt: the counts by domain that its filters read.
type Attempt struct {
	Model       *model.Cluster
	Scratch     *Scratch
	Replacement *Replacement
	Victim      cluster.PodID // whose replacement is placed
	// ClaimInUse is one of the newcomer's that another pod has to itself.
	ClaimInUse string
	// Nominated are waiting pods that are taken to stand; noInterPod says that
	// inter-pod affinity is not asked about them.
	Nominated       []cluster.PodID
	SkipInterPod    bool
	NoInterPodTerms bool // what idleInterPod says, where pods wait for nodes
	// slots of scratch.byDomain: hard constraints, then required affinity,
	// anti-affinity, the standing pods' anti-affinity.
	NoPodMatches bool // no pod anywhere satisfies the required affinity
	FilterSlots  int  // slots taken; scores use those from here on
}

// NewAttempt counts by domain what the filters read.
func NewAttempt(m *model.Cluster, b *Scratch, in *Replacement, pod cluster.PodID) Attempt {
	slot := 0
	b.MinSpreadCounts = b.MinSpreadCounts[:0]
	for i := range in.Spread.Hard {
		b.MinSpreadCounts = append(b.MinSpreadCounts, b.CountHardSpread(slot, &in.Spread.Hard[i], in.Spread.HardKeyNodes))
		slot++
	}
	r := Attempt{Model: m, Scratch: b, Replacement: in, Victim: pod, ClaimInUse: m.Disks.ClaimInUse(in.Class.Namespace, in.Volumes.ExclusiveClaims), NoPodMatches: true}
	for _, t := range in.InterPod.Required {
		for _, k := range b.CountTerm(slot, t) {
			r.NoPodMatches = r.NoPodMatches && k <= 0
		}
		slot++
	}
	for _, list := range [...][]TermWithTopology{in.InterPod.Anti, in.InterPod.ExistingAnti} {
		for _, t := range list {
			b.CountTerm(slot, t)
			slot++
		}
	}
	r.FilterSlots = slot
	r.NoInterPodTerms = len(m.Nominated) > 0 && r.hasNoInterPodTerms()
	return r
}

// hasNoInterPodTerms reports that inter-pod affinity had nothing to judge before the
// waiting pods were added; then it is not asked about them either.
func (r *Attempt) hasNoInterPodTerms() bool {
	if len(r.Replacement.InterPod.Required)+len(r.Replacement.InterPod.Anti) > 0 {
		return false
	}
	slot := len(r.Replacement.Spread.Hard)
	for range r.Replacement.InterPod.ExistingAnti {
		for _, k := range r.Scratch.CountsByDomain[slot] {
			if k > 0 {
				return false
			}
		}
		slot++
	}
	return true
}
