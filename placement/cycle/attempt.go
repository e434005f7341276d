package cycle

import (
	"math"
	"slices"

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
	terms := r.Scratch.CountsByDomain[len(r.Replacement.Spread.Hard):][:len(r.Replacement.InterPod.ExistingAnti)]
	return !slices.ContainsFunc(terms, func(counts []int32) bool {
		return slices.ContainsFunc(counts, func(pods int32) bool { return pods > 0 })
	})
}

// CountHardSpread counts the matching pods of each domain. The result is the lowest count among the
// domains of eligible nodes; 0 if there are fewer than minDomains domains.
func (b *Scratch) CountHardSpread(slot int, c *SpreadConstraint, hasKeys []bool) int64 {
	d := b.ResetCounts(slot, c.Topology.Size)
	for _, x := range c.Pods.Nodes {
		if hasKeys[x.Node] && c.CountedNodes[x.Node] {
			d[c.Topology.Domain[x.Node]] += x.Pods
		}
	}
	if len(c.Domains) < c.MinDomains {
		return 0
	}
	least := int64(math.MaxInt32)
	for _, x := range c.Domains {
		least = min(least, int64(d[x]))
	}
	return least
}

// ResizeSlice returns a slice of length n that reuses s if s is large enough. ResizeSlice does not clear the
// values.
func ResizeSlice[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// ResizeZeroed resizes a slice like ResizeSlice and sets every value to zero.
func ResizeZeroed[T any](s []T, n int) []T {
	s = ResizeSlice(s, n)
	clear(s)
	return s
}

// Scratch holds slices that every prediction reuses.
type Scratch struct {
	CountsByDomain  [][]int32 // for hard constraints, required affinity, anti-affinity, that of pods on nodes, then scores
	MinSpreadCounts []int64
}

// ResetCounts returns the i-th slice of counts by domain, with every count 0.
func (b *Scratch) ResetCounts(i, size int) []int32 {
	for len(b.CountsByDomain) <= i {
		b.CountsByDomain = append(b.CountsByDomain, nil)
	}
	b.CountsByDomain[i] = ResizeZeroed(b.CountsByDomain[i], size)
	return b.CountsByDomain[i]
}

// CountTerm counts the pods of a term in each domain. CountTerm stores the counts in the i-th slice
// of CountsByDomain.
func (b *Scratch) CountTerm(i int, t TermWithTopology) []int32 {
	d := b.ResetCounts(i, t.Topology.Size)
	for _, x := range t.Pods.Nodes {
		if domain := t.Topology.Domain[x.Node]; domain != model.NoDomain {
			d[domain] += x.Pods
		}
	}
	return d
}
