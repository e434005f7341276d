package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// leaves takes from a node what a pod used there that has left. A rate holds it for a
// while longer, and nobody can tell how much of it: that much is in doubt.
func (r *resolver) leaves(c *column, resource string, m *PodUsage, amount int64) {
	n := r.s.NodeByName(m.Node)
	if n == nil || c.used[n.ID] == unknownAmount {
		return
	}
	to := m.At
	if to.IsZero() {
		to = r.l.at[n.ID]
	}
	take := func(from []int64, lag []int64, statistic string) {
		part := r.partOf(statistic, amount, n.ID, time.Time{}, to)
		from[n.ID] = max(0, from[n.ID]-part)
		if resource == "cpu" && r.u.RateSeconds > 0 {
			lag[n.ID] += max(0, r.atMost(statistic, amount, n.ID, to)-part)
		}
	}
	take(c.used, c.lag, r.u.Statistic)
	if c.newest[n.ID] != unknownAmount {
		take(c.newest, c.newestLag, "latest")
	}
}

// atMost is how much of what a pod used until a time its node's statistic may hold, of
// measurements that are rates: of these each holds less of it, down to nothing after the
// time that it is taken over. The pod may have left one sample later than it was seen.
func (r *resolver) atMost(statistic string, amount int64, n NodeID, to time.Time) int64 {
	rate := seconds(r.u.RateSeconds)
	switch statistic {
	case "p90", "p95", "max", "std":
		return r.partOf(statistic, amount, n, time.Time{}, to.Add(rate))
	case "mean":
		return r.partOf(statistic, amount, n, time.Time{}, to.Add(rate/2))
	}
	left := to.Add(rate + r.l.span[n]/time.Duration(max(1, r.u.Samples))).Sub(r.l.at[n])
	return int64(min(1, max(0, float64(left)/float64(rate))) * float64(amount))
}

// came adds to a node what of a measured pod is not yet in it.
func (r *resolver) came(c *column, p *Pod, amount int64) {
	if c.used[p.Node] == unknownAmount {
		return
	}
	from, at := boundAt(p.Object), r.l.at[p.Node]
	c.used[p.Node] += amount - r.part(amount, p.Node, from, at)
	if c.newest[p.Node] != unknownAmount {
		c.newest[p.Node] += amount - r.partOf("latest", amount, p.Node, from, at)
	}
}

// doubts settles what nodes use of which there are several accounts: the higher, of
// which what the lowest lacks may have left.
func (r *resolver) doubts() {
	for _, c := range r.l.columns {
		for n, used := range c.used {
			if used == unknownAmount {
				continue
			}
			higher, lowest := used, used-c.lag[n]
			if newest := c.newest[n]; newest != unknownAmount {
				higher, lowest = max(higher, newest), min(lowest, newest-c.newestLag[n])
			}
			c.used[n], c.doubt[n] = higher, higher-max(0, lowest)
		}
	}
}

// part is how much of what a pod used stands in its node's statistic, when it was
// there from one time to another. A percentile or maximum holds it as soon as
// enough samples do; a mean holds its share of them; the latest sample all of it or
// nothing. A node that is not known holds nothing. The window is as long as its samples
// fill it: all of the first samples of a new process may hold a pod of a minute ago.
func (r *resolver) part(amount int64, n NodeID, from, to time.Time) int64 {
	return r.partOf(r.u.Statistic, amount, n, from, to)
}

func (r *resolver) partOf(statistic string, amount int64, n NodeID, from, to time.Time) int64 {
	at, window := r.l.at[n], r.l.span[n]
	enough, all := 0.0, true
	switch statistic {
	case "p90":
		enough = 0.1
	case "p95":
		enough = 0.05
	case "max", "std":
	case "mean":
		all = false
	default:
		window /= time.Duration(max(1, r.u.Samples)) // the time that the latest stands for
	}
	if at.IsZero() || from.After(at) {
		return 0
	}
	if !to.Before(at) && !from.After(at.Add(-window)) {
		return amount
	}
	if window <= 0 {
		return 0
	}
	if oldest := at.Add(-window); from.Before(oldest) {
		from = oldest
	}
	share := float64(to.Sub(from)) / float64(window)
	switch {
	case share <= enough:
		return 0
	case all:
		return amount
	}
	return int64(share * float64(amount))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// settling is how long after its binding a pod may go without a sample: it starts,
// and a rate needs two scrapes.
const settling = time.Minute

// boundSince: after its node was measured, or so shortly before that it may not have
// been itself.
func (r *resolver) boundSince(p *Pod) bool { return r.boundAfter(p, settling) }

// boundAfter the time of the node's sample, less some. A node that was not measured
// knows no such pods.
func (r *resolver) boundAfter(p *Pod, less time.Duration) bool {
	at := r.l.at[p.Node]
	return !at.IsZero() && boundAt(p.Object).After(at.Add(-less))
}

// boundAt is when the pod was bound, as far as its status tells.
func boundAt(p *corev1.Pod) time.Time {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Time
		}
	}
	if p.Status.StartTime != nil {
		return p.Status.StartTime.Time
	}
	return p.CreationTimestamp.Time
}
