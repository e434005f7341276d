package limits

import (
	"maps"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Use returns the share of each limit that the planned evictions use, in the order of the configuration. Limits per
// hour include the evictions of the last hour. A limit that applies to each node, namespace, owner or zone has the
// highest share of any of them. Limits that are not set and limits of single strategies are left out.
func (l *Counter) Use() (out []plan.LimitUse) {
	p, e := &l.planned, &l.earlierPlan
	node, owner := map[int]count{}, map[int]count{-1: {p.withoutWorkload + e.withoutWorkload, l.bound.withoutWorkload}}
	for i := range p.node {
		node[i] = count{p.node[i] + e.node[i], l.bound.node[i]}
	}
	for i := range p.workload {
		owner[i] = count{p.workload[i] + e.workload[i], l.bound.workload[i]}
	}
	addUse(l, &out, "limits.perPass", func(o *Options) plan.CountLimit { return o.PerPass }, one(p.all+e.all, l.bound.all))
	addUse(l, &out, "limits.perNode", func(o *Options) plan.CountLimit { return o.PerNode }, node)
	addUse(l, &out, "limits.perNamespace", func(o *Options) plan.CountLimit { return o.PerNamespace },
		counts(l.bound.namespace, p.namespace, e.namespace))
	addUse(l, &out, "limits.perOwner", func(o *Options) plan.CountLimit { return o.PerOwner }, owner)
	addUse(l, &out, "limits.perZone", func(o *Options) plan.CountLimit { return o.PerZone }, counts(l.bound.zone, p.zone, e.zone))
	addUse(l, &out, "limits.perHour.owner", func(o *Options) plan.CountLimit { return o.PerHour.Owner },
		counts(nil, l.plannedByOwner(), l.lastHour.Workload))
	addUse(l, &out, "limits.perHour.namespace", func(o *Options) plan.CountLimit { return o.PerHour.Namespace },
		counts(nil, p.namespace, l.lastHour.Namespace))
	addUse(l, &out, "limits.perHour.cluster", func(o *Options) plan.CountLimit { return o.PerHour.Cluster },
		one(p.all+l.lastHour.Cluster, 0))
	return out
}

// count is the number of evictions that a limit counts, and the number of pods on which a percentage limit is based.
type count struct{ evictions, pods int }

func one(evictions, pods int) map[int]count { return map[int]count{0: {evictions, pods}} }

// counts adds the evictions by subject.
func counts[K comparable](pods map[K]int, evictions ...map[K]int) map[K]count {
	out := map[K]count{}
	for _, m := range evictions {
		for k, n := range m {
			out[k] = count{out[k].evictions + n, pods[k]}
		}
	}
	return out
}

// addUse adds the highest share of a limit, unless the limit is not set.
func addUse[K comparable](l *Counter, out *[]plan.LimitUse, key string, pick limitPicker, subjects map[K]count) {
	general, _ := l.effective(key, 1, pick)
	if general == plan.Unlimited() {
		return
	}
	highest := 0.0
	if general.For(1) < 1 {
		highest = 1 // no eviction is allowed
	}
	for s := range maps.Values(subjects) {
		limit, _ := l.effective(key, s.pods, pick)
		highest = max(highest, float64(s.evictions)/float64(max(1, limit.For(s.pods))))
	}
	*out = append(*out, plan.LimitUse{Limit: key, Share: plan.Round(highest)})
}

// plannedByOwner returns the planned evictions by workload. Pods without a workload do not count, because each has a
// limit of its own.
func (l *Counter) plannedByOwner() map[plan.ObjectRef]int {
	out := map[plan.ObjectRef]int{}
	for i, n := range l.planned.workload {
		if n > 0 {
			w := &l.snapshot.Workloads[i]
			out[plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}] += n
		}
	}
	return out
}
