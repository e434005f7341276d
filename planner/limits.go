package planner

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// limits counts the evictions of a pass against the configured limits.
type limits struct {
	s       *cluster.Snapshot
	opts    Limits
	hour    history.Hour // evictions that took place or are reserved
	zone    []string     // of each node
	total   population
	planned population
	// before are evictions of this pass by a plan before this one: limits of a pass
	// count them, and those of an hour have them in hour.
	before population
}

// population counts pods by what limits are about.
type population struct {
	all       int
	node      []int // by NodeID
	namespace map[string]int
	workload  []int // by WorkloadID
	bare      int   // of no workload
	zone      map[string]int
}

func newPopulation(s *cluster.Snapshot) population {
	return population{0, make([]int, len(s.Nodes)), map[string]int{}, make([]int, len(s.Workloads)), 0, map[string]int{}}
}

// owner counts the pods of a workload; those of none together.
func (p *population) owner(w cluster.WorkloadID) int {
	if w == cluster.NoWorkload {
		return p.bare
	}
	return p.workload[w]
}

func (p *population) add(s *cluster.Snapshot, zone []string, pod *cluster.Pod, d int) {
	p.all += d
	p.node[pod.Node] += d
	p.namespace[pod.Object.Namespace] += d
	if pod.Workload == cluster.NoWorkload {
		p.bare += d
	} else {
		p.workload[pod.Workload] += d
	}
	p.zone[zone[pod.Node]] += d
}

func newLimits(s *cluster.Snapshot, opts Limits, hour history.Hour) *limits {
	l := &limits{s: s, opts: opts, hour: hour, zone: zonesOf(s), total: newPopulation(s), planned: newPopulation(s), before: newPopulation(s)}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != cluster.NoNode && !p.Terminal {
			l.total.all++
			l.total.node[p.Node]++
			if p.Workload != cluster.NoWorkload {
				l.total.workload[p.Workload]++
				continue
			}
			l.total.bare++
			l.total.namespace[p.Object.Namespace]++
		}
	}
	for n, pods := range l.total.node {
		l.total.zone[l.zone[n]] += pods
	}
	for w, pods := range l.total.workload {
		l.total.namespace[s.Workloads[w].Namespace] += pods
	}
	return l
}

func (l *limits) count(pod cluster.PodID)   { l.planned.add(l.s, l.zone, &l.s.Pods[pod], 1) }
func (l *limits) uncount(pod cluster.PodID) { l.planned.add(l.s, l.zone, &l.s.Pods[pod], -1) }

// spent says which limit lets no pod go any more, whatever it is.
func (l *limits) spent() (plan.Reason, bool) {
	return strictest([]allowance{l.ofPass(), l.hourlyOfCluster()})
}

func (l *limits) ofPass() allowance {
	return allowance{plan.LimitPerPass, l.opts.PerPass, l.total.all, l.planned.all + l.before.all, "limits.perPass", "", 0, ""}
}

func (l *limits) hourlyOfCluster() allowance {
	return allowance{plan.LimitPerHour, l.opts.PerHour.Cluster, 0, l.planned.all, "limits.perHour.cluster", "", l.hour.Cluster, ""}
}

// allowance is one limit as it stands for a pod. What is past counts against
// those that outlast a pass.
type allowance struct {
	code        plan.Code
	limit       plan.CountLimit
	of, planned int
	key, at     string
	past        int
	kind        string // of what is named in at
}

// what names the limit, and what it is counted over.
func (a allowance) what() string {
	switch a.code {
	case plan.LimitPerNode:
		return a.key + " on " + a.at
	case plan.LimitPerNamespace:
		return a.key + " in " + a.at
	case plan.LimitPerHour:
		switch {
		case a.kind != "":
			return a.key + " for " + a.kind + " " + a.at
		case a.at != "":
			return a.key + " in " + a.at
		}
	case plan.LimitPerZone:
		return a.key + " " + inZone(a.at)
	}
	return a.key
}

// most is how many evictions the limit allows in this pass, and left how many
// more.
func (a allowance) most() int { return a.limit.For(a.of) - a.past }
func (a allowance) left() int { return a.most() - a.planned }

// allows says how many evictions that is, and of what a share is taken.
func (a allowance) allows() string {
	n := a.limit.For(a.of)
	switch {
	case n == math.MaxInt:
		return "unlimited"
	case a.limit.String() == strconv.Itoa(n):
		return evictions(n)
	}
	return fmt.Sprintf("%s of %s, which is %s", a.limit, pods(a.of), evictions(n))
}

// took says what is past of a limit that outlasts a pass.
func (a allowance) took() string {
	if a.code != plan.LimitPerHour {
		return ""
	}
	return fmt.Sprintf("; %d within the last hour", a.past)
}

func (a allowance) reason() plan.Reason {
	return plan.Reason{Code: a.code, Message: fmt.Sprintf("%s allows %s%s; %d planned already", a.what(), a.allows(), a.took(), a.planned)}
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

// allowances are the limits that an eviction of this pod counts against: first
// those of a pass, then those of an hour.
func (l *limits) allowances(pod cluster.PodID) [8]allowance {
	p := &l.s.Pods[pod]
	ns, zone := p.Object.Namespace, l.zone[p.Node]
	return [...]allowance{
		l.ofPass(),
		{plan.LimitPerNode, l.opts.PerNode, l.total.node[p.Node], l.planned.node[p.Node] + l.before.node[p.Node], "limits.perNode", l.s.Nodes[p.Node].Name, 0, ""},
		{plan.LimitPerNamespace, l.opts.PerNamespace, l.total.namespace[ns], l.planned.namespace[ns] + l.before.namespace[ns], "limits.perNamespace", ns, 0, ""},
		{plan.LimitPerOwner, l.opts.PerOwner, l.total.owner(p.Workload), l.planned.owner(p.Workload) + l.before.owner(p.Workload), "limits.perOwner", "", 0, ""},
		{plan.LimitPerZone, l.opts.PerZone, l.total.zone[zone], l.planned.zone[zone] + l.before.zone[zone], "limits.perZone", zone, 0, ""},
		l.hourlyOfOwner(p),
		{plan.LimitPerHour, l.opts.PerHour.Namespace, 0, l.planned.namespace[ns], "limits.perHour.namespace", ns, l.hour.Namespace[ns], ""},
		l.hourlyOfCluster(),
	}
}

// hourlyOfOwner is the hourly limit of a pod's workload. A pod of no workload
// stands for itself.
func (l *limits) hourlyOfOwner(p *cluster.Pod) allowance {
	w := workloadRef(l.s, p)
	planned := l.planned.owner(p.Workload)
	if p.Workload == cluster.NoWorkload {
		planned = 0
	}
	return allowance{plan.LimitPerHour, l.opts.PerHour.Owner, 0, planned, "limits.perHour.owner", w.Name, l.hour.Workload[w], w.Kind}
}

// workloadRef names a pod's workload as it is remembered.
func workloadRef(s *cluster.Snapshot, p *cluster.Pod) plan.ObjectRef {
	return history.WorkloadOf(plan.Move{Pod: podRef(p), Owner: ownerRef(s, p)})
}

// refuse names the strictest limit that one more eviction of this pod would
// break: the one that allows the fewest in this pass.
func (l *limits) refuse(pod cluster.PodID) (plan.Reason, bool) {
	all := l.allowances(pod)
	return strictest(all[:])
}

// refuseHourly is refuse with the limits of an hour alone.
func (l *limits) refuseHourly(pod cluster.PodID) (plan.Reason, bool) {
	all := l.allowances(pod)
	return strictest(slices.DeleteFunc(all[:], func(a allowance) bool { return a.code != plan.LimitPerHour }))
}

func strictest(list []allowance) (plan.Reason, bool) {
	var least *allowance
	for i := range list {
		if a := &list[i]; a.left() < 1 && (least == nil || a.most() < least.most()) {
			least = a
		}
	}
	if least == nil {
		return plan.Reason{}, false
	}
	return least.reason(), true
}
