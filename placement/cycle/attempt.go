package cycle

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// Attempt is one scheduling attempt for a replacement, with the counts by topology domain that
// filters read.
type Attempt struct {
	Model       *model.Cluster
	Scratch     *Scratch
	Replacement *Replacement
	Victim      cluster.PodID // whose replacement is placed
	// ClaimInUse is an exclusive claim of the replacement that another pod uses; empty if there is
	// none.
	ClaimInUse string
	// Nominated lists the nominated pods that this attempt adds to a node. SkipInterPod disables
	// the filter InterPodAffinity for nominated pods.
	Nominated       []cluster.PodID
	SkipInterPod    bool
	NoInterPodTerms bool // result of hasNoInterPodTerms; only set if there are nominated pods
	NoPodMatches    bool // no pod in the cluster matches the required affinity
}

// NewAttempt starts a scheduling attempt and computes the counts by domain that the filters read.
func NewAttempt(m *model.Cluster, b *Scratch, in *Replacement, pod cluster.PodID) Attempt {
	b.MinSpreadCounts = b.MinSpreadCounts[:0]
	for i := range in.Spread.Hard {
		b.MinSpreadCounts = append(b.MinSpreadCounts, b.CountHardSpread(i, &in.Spread.Hard[i], in.Spread.HardKeyNodes))
	}
	r := Attempt{Model: m, Scratch: b, Replacement: in, Victim: pod,
		ClaimInUse: m.Disks.ClaimInUse(in.Class.Namespace, in.Volumes.ExclusiveClaims)}
	r.CountTerms(in.InterPod.Anti, in.InterPod.ExistingAnti)
	r.NoInterPodTerms = len(m.Nominated) > 0 && r.hasNoInterPodTerms()
	return r
}

// CountTerms counts the pods of the required affinity terms and of these anti-affinity terms by
// domain. The caller has counted the hard spread constraints.
func (r *Attempt) CountTerms(anti ...[]TermWithTopology) {
	slot := len(r.Replacement.Spread.Hard)
	r.NoPodMatches = true
	for _, t := range r.Replacement.InterPod.Required {
		for _, k := range r.Scratch.CountTerm(slot, t) {
			r.NoPodMatches = r.NoPodMatches && k <= 0
		}
		slot++
	}
	for _, list := range anti {
		for _, t := range list {
			r.Scratch.CountTerm(slot, t)
			slot++
		}
	}
}

// hasNoInterPodTerms reports whether InterPodAffinity checks nothing without the nominated pods. In
// that case, the scheduler skips the filter for nominated pods too.
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
