package planner

import (
	"fmt"
	"math"
	"strconv"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// limits counts the evictions of a pass against the configured limits.
type limits struct {
	s       *cluster.Snapshot
	opts    Limits
	zone    []string // of each node
	total   population
	planned population
}

// population counts pods by what limits are about.
type population struct {
	all       int
	node      map[cluster.NodeID]int
	namespace map[string]int
	owner     map[cluster.WorkloadID]int
	zone      map[string]int
}

func newPopulation() population {
	return population{0, map[cluster.NodeID]int{}, map[string]int{}, map[cluster.WorkloadID]int{}, map[string]int{}}
}

func (p *population) add(s *cluster.Snapshot, zone []string, pod *cluster.Pod, d int) {
	p.all += d
	p.node[pod.Node] += d
	p.namespace[pod.Object.Namespace] += d
	p.owner[pod.Workload] += d
	p.zone[zone[pod.Node]] += d
}

func newLimits(s *cluster.Snapshot, opts Limits) *limits {
	l := &limits{s: s, opts: opts, zone: domainIndex{}.of(s, ZoneKey), total: newPopulation(), planned: newPopulation()}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != cluster.NoNode && !p.Terminal {
			l.total.add(s, l.zone, p, 1)
		}
	}
	return l
}

func (l *limits) count(pod cluster.PodID)   { l.planned.add(l.s, l.zone, &l.s.Pods[pod], 1) }
func (l *limits) uncount(pod cluster.PodID) { l.planned.add(l.s, l.zone, &l.s.Pods[pod], -1) }

// allowance is one limit as it stands for a pod.
type allowance struct {
	code        plan.Code
	limit       plan.Count
	of, planned int
	key, at     string
}

// what names the limit, and what it is counted over.
func (a allowance) what() string {
	switch a.code {
	case plan.LimitPerNode:
		return a.key + " on " + a.at
	case plan.LimitPerNamespace:
		return a.key + " in " + a.at
	case plan.LimitPerZone:
		return a.key + " " + inZone(a.at)
	}
	return a.key
}

// left is how many more evictions the limit allows.
func (a allowance) left() int { return a.limit.Of(a.of) - a.planned }

// allows says how many evictions that is, and of what a share is taken.
func (a allowance) allows() string {
	n := a.limit.Of(a.of)
	switch {
	case n == math.MaxInt:
		return "unlimited"
	case a.limit.String() == strconv.Itoa(n):
		return evictions(n)
	}
	return fmt.Sprintf("%s of %s, which is %s", a.limit, pods(a.of), evictions(n))
}

func (a allowance) reason() plan.Reason {
	return plan.Reason{Code: a.code, Message: fmt.Sprintf("%s allows %s; %d planned already", a.what(), a.allows(), a.planned)}
}

func evictions(n int) string {
	if n == 1 {
		return "1 eviction"
	}
	return strconv.Itoa(n) + " evictions"
}

func pods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return strconv.Itoa(n) + " pods"
}

func inZone(zone string) string {
	if zone == "" {
		return "outside of zones"
	}
	return "in " + zone
}

// allowances are the limits that an eviction of this pod counts against.
func (l *limits) allowances(pod cluster.PodID) [5]allowance {
	p := &l.s.Pods[pod]
	ns, zone := p.Object.Namespace, l.zone[p.Node]
	return [...]allowance{
		{plan.LimitPerPass, l.opts.PerPass, l.total.all, l.planned.all, "limits.perPass", ""},
		{plan.LimitPerNode, l.opts.PerNode, l.total.node[p.Node], l.planned.node[p.Node], "limits.perNode", l.s.Nodes[p.Node].Name},
		{plan.LimitPerNamespace, l.opts.PerNamespace, l.total.namespace[ns], l.planned.namespace[ns], "limits.perNamespace", ns},
		{plan.LimitPerOwner, l.opts.PerOwner, l.total.owner[p.Workload], l.planned.owner[p.Workload], "limits.perOwner", ""},
		{plan.LimitPerZone, l.opts.PerZone, l.total.zone[zone], l.planned.zone[zone], "limits.perZone", zone},
	}
}

// refuse names the strictest limit that one more eviction of this pod would
// break: the one that allows the fewest in all.
func (l *limits) refuse(pod cluster.PodID) (plan.Reason, bool) {
	var strictest *allowance
	for _, a := range l.allowances(pod) {
		if a.left() < 1 && (strictest == nil || a.limit.Of(a.of) < strictest.limit.Of(strictest.of)) {
			strictest = &a
		}
	}
	if strictest == nil {
		return plan.Reason{}, false
	}
	return strictest.reason(), true
}
