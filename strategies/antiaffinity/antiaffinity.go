// Package antiaffinity states one goal for each workload whose required inter-pod anti-affinity is
// violated: the pods in conflict run in different domains.
//
// The package decides which pods are in conflict. It never decides which pod of a conflict leaves. It ignores preferred
// anti-affinity.
package antiaffinity

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// Args are the arguments of the strategy.
type Args struct {
	// OtherNamespaces allows a term to evict the pods of other namespaces that it selects.
	OtherNamespaces bool `json:"otherNamespaces"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	var a Args
	errs := arg.Decode(raw, &a)
	i := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: i.goals}, errs
}

// goals returns one unmet PodsApart goal for each workload that declares a violated term, and for each pod without a
// workload that does. If both pods of a conflict declare a term, the conflict belongs to the first of the two goals.
//
// A term that selects pods of another namespace asks only its own pods to leave. Otherwise, a tenant could evict the
// pods of others with a pod of its own. No other goal has pods of several namespaces that one object of a namespace
// chooses: Services, topology spread constraints and workloads select pods of their own namespace.
func (a *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	f := newFinder(s, a.scope)
	found := f.conflicts()
	var goals []plan.Goal
	for i, c := range found {
		if i == 0 || !sameOwner(s, c.declaredBy, found[i-1].declaredBy) {
			goals = append(goals, a.goal(&s.Pods[c.declaredBy], s))
		}
		g := &goals[len(goals)-1]
		g.Conflicts = append(g.Conflicts, plan.Conflict{Pods: c.pods, TopologyKey: c.topologyKey})
		for _, id := range c.pods {
			if id == c.declaredBy || c.bothDeclare || a.args.OtherNamespaces ||
				s.Pods[id].Object.Namespace == s.Pods[c.declaredBy].Object.Namespace {
				g.Pods = append(g.Pods, id)
			} else {
				g.Staying = append(g.Staying, id)
			}
		}
	}
	for i := range goals {
		g := &goals[i]
		slices.Sort(g.Pods)
		g.Pods = slices.Compact(g.Pods)
		slices.Sort(g.Staying)
		g.Staying = slices.DeleteFunc(slices.Compact(g.Staying), func(id cluster.PodID) bool {
			_, leaves := slices.BinarySearch(g.Pods, id)
			return leaves
		})
		g.AtLeast = slices.ContainsFunc(g.Pods, func(id cluster.PodID) bool { return f.cut[id] })
		g.Reason = plan.Reason{Code: plan.AntiAffinityViolated, Message: message(s, g)}
	}
	return goals
}

// goal returns a goal without conflicts for the owner of a pod that declares a term.
func (a *configuredStrategy) goal(p *cluster.Pod, s *cluster.Snapshot) plan.Goal {
	o := p.Object
	subject := plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}
	if p.Workload != cluster.NoWorkload {
		w := &s.Workloads[p.Workload]
		subject = plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID}
	}
	return plan.Goal{Strategy: a.name, Kind: plan.PodsApart, Subject: subject, Weight: 1}
}

// message describes the first conflict. Events show the message in the namespaces of the pods that leave. If the goal
// is about pods of several namespaces, the message names none of them.
func message(s *cluster.Snapshot, g *plan.Goal) string {
	c := g.Conflicts[0]
	first, second := &s.Pods[c.Pods[0]], &s.Pods[c.Pods[1]]
	value, _ := s.Nodes[first.Node].Label(c.TopologyKey)
	text := fmt.Sprintf("the anti-affinity of %s keeps %s and %s apart, but both run in the domain %s=%s", g.Subject.Name,
		first.Object.Name, second.Object.Name, c.TopologyKey, value)
	if slices.ContainsFunc(slices.Concat(g.Pods, g.Staying), func(id cluster.PodID) bool { return s.Pods[id].Object.Namespace != g.Subject.Namespace }) {
		text = fmt.Sprintf("the anti-affinity of a %s in namespace %s keeps pods of several namespaces apart, but two of them run in the domain %s=%s",
			g.Subject.Kind, g.Subject.Namespace, c.TopologyKey, value)
	}
	if more := len(g.Conflicts) - 1; more > 0 {
		text += ", plus "
		if g.AtLeast {
			text += "at least "
		}
		text += plural.Count(more, "more conflict")
	}
	return text
}

// sameOwner reports whether two pods belong to the same workload, or are the same pod.
func sameOwner(s *cluster.Snapshot, a, b cluster.PodID) bool {
	return a == b || s.Pods[a].Workload != cluster.NoWorkload && s.Pods[a].Workload == s.Pods[b].Workload
}

// byOwner orders conflicts by the workload that declares the term, and by pods.
func byOwner(s *cluster.Snapshot) func(a, b conflict) int {
	return func(a, b conflict) int {
		return cmp.Or(cmp.Compare(s.Pods[a.declaredBy].Workload, s.Pods[b.declaredBy].Workload),
			cmp.Compare(a.declaredBy, b.declaredBy), slices.Compare(a.pods[:], b.pods[:]), cmp.Compare(a.topologyKey, b.topologyKey))
	}
}
