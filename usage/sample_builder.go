package usage

import (
	"maps"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// MayBeNegative says whether what a source measures of a resource may be less than nothing.
func MayBeNegative(resource string) bool { return strings.HasPrefix(resource, cluster.HintRulePrefix) }

// Value is one number that a source gave about a node.
type Value struct {
	// Node is how the source names it.
	Node   string
	Amount float64
	At     time.Time
}

// PodValue is one number about a pod.
type PodValue struct {
	Namespace, Name string
	// Node is where the pod stood, as the source names it; empty where it does not.
	Node   string
	Amount float64
	At     time.Time
}

// SampleBuilder puts a sample together of what a source gave, leaves out what cannot be
// believed, and says so. It is good for one sample.
type SampleBuilder struct {
	index     *nodeIndex
	nodes     []Node
	now       time.Time
	maxAge    time.Duration
	readings  []Reading // by node
	pods      map[string]Reading
	problems  problemGroups
	nodeNames map[string]string // where pods stood, as found before
	maxPodUse map[string]float64
}

// NewSampleBuilder begins a sample taken now. What was measured more than maxAge ago is
// stale.
func NewSampleBuilder(nodes []Node, now time.Time, maxAge time.Duration) *SampleBuilder {
	g := &SampleBuilder{index: newNodeIndex(nodes), nodes: nodes, now: now, maxAge: maxAge, readings: make([]Reading, len(nodes)),
		pods: map[string]Reading{}, nodeNames: map[string]string{}, maxPodUse: map[string]float64{}}
	for _, n := range nodes {
		g.maxPodUse["cpu"] = max(g.maxPodUse["cpu"], float64(n.Capacity.MilliCPU))
		g.maxPodUse["memory"] = max(g.maxPodUse["memory"], float64(n.Capacity.MemoryBytes))
	}
	return g
}

// AddNodes takes in what was said about one resource of nodes. A node named twice is
// left out, whatever was said; a value that is left out is a problem, and so is a
// node without one.
func (g *SampleBuilder) AddNodes(resource string, unit Unit, values []Value) {
	if len(values) == 0 {
		g.AddProblem(Empty, resource+NoValues)
		return
	}
	if unit.isRatio() && g.rejectPercentages(resource, values) {
		return
	}
	said := make([]int, len(g.nodes)) // how often each node was named
	at := make([]int, len(g.nodes))   // by which value
	for i, v := range values {
		switch found := g.index.find(v.Node); len(found) {
		case 0:
			g.problems.add(UnknownNode, resource+": no node of the cluster is called", v.Node)
		case 1:
			said[found[0]]++
			at[found[0]] = i
		default:
			g.problems.add(Ambiguous, resource+": more than one node is called", v.Node)
		}
	}
	for n, times := range said {
		switch {
		case times == 0:
			g.problems.add(Missing, resource+": nothing is said about", g.nodes[n].Name)
		case times > 1:
			g.problems.add(Ambiguous, resource+": more than one value for", g.nodes[n].Name)
		default:
			g.addNode(n, resource, unit, values[at[n]])
		}
	}
}

func (g *SampleBuilder) addNode(n int, resource string, unit Unit, v Value) {
	name, capacity := g.nodes[n].Name, float64(g.nodes[n].Capacity.Get(resource))
	if resource == cluster.MemoryAvailable {
		capacity = float64(g.nodes[n].Capacity.MemoryBytes)
	}
	kind, what := unit.check(v.Amount, capacity)
	if kind == "" {
		kind, what = g.checkAge(v.At)
	}
	if kind != "" {
		g.problems.add(kind, resource+": "+what, name)
		return
	}
	r := &g.readings[n]
	if r.Used == nil {
		r.Used, r.Times = map[string]int64{}, map[string]time.Time{}
	}
	r.Used[resource], r.Times[resource] = unit.amount(v.Amount, capacity), v.At
}

// DeriveMemoryAvailable says that the memory gathered is working sets: what is available is
// then known as well.
func (g *SampleBuilder) DeriveMemoryAvailable() {
	for n := range g.readings {
		used, known := g.readings[n].Used["memory"]
		if capacity := g.nodes[n].Capacity.MemoryBytes; known && capacity > 0 {
			g.readings[n].Used[cluster.MemoryAvailable] = max(capacity-used, 0)
			g.readings[n].Times[cluster.MemoryAvailable] = g.readings[n].Times["memory"]
		}
	}
}

// AddPods takes in what was said about one resource of pods, cpu in cores or memory
// in bytes. A pod named twice is left out. AddPods that the cluster does not know are
// no problem: they come and go.
func (g *SampleBuilder) AddPods(resource string, unit Unit, values []PodValue) {
	if len(values) == 0 {
		g.AddProblem(Empty, resource+" of pods"+NoValues)
		return
	}
	if len(g.pods) == 0 {
		g.pods = make(map[string]Reading, len(values))
	}
	out := map[string]bool{} // pods that are left out
	for _, v := range values {
		key := v.Namespace + "/" + v.Name
		r, known := g.pods[key]
		if _, twice := r.Used[resource]; twice || out[key] {
			g.problems.add(Ambiguous, resource+" of pods: more than one value for", key)
			delete(r.Used, resource)
			out[key] = true
			continue
		}
		kind, what := unit.check(v.Amount, g.maxPodUse[resource])
		if kind == "" {
			kind, what = g.checkAge(v.At)
		}
		if v.Namespace == "" || v.Name == "" {
			kind, what = Implausible, "without a namespace or a name"
		}
		if kind != "" {
			g.problems.add(kind, resource+" of pods: "+what, key)
			out[key] = true
			continue
		}
		if !known {
			r = Reading{At: v.At, Used: make(map[string]int64, 2)}
		}
		r.Used[resource] = unit.amount(v.Amount, 0)
		if older, node := v.At.Before(r.At), r.Node == "" && v.Node != ""; !known || older || node {
			if older {
				r.At = v.At
			}
			if node {
				r.Node = g.nodeName(v.Node)
			}
			g.pods[key] = r
		}
	}
}

// nodeName is where a pod stood; empty where that cannot be told.
func (g *SampleBuilder) nodeName(text string) string {
	name, ok := g.nodeNames[text]
	if !ok {
		if found := g.index.find(text); len(found) == 1 {
			name = g.nodes[found[0]].Name
		}
		g.nodeNames[text] = name
	}
	return name
}

// AddProblemOf adds what is wrong with one of many, which all share what is wrong: such
// as "cpu: a histogram for" and n1.
func (g *SampleBuilder) AddProblemOf(kind ProblemKind, what, name string) {
	g.problems.add(kind, what, name)
}

// AddProblem adds one in words of the caller, which hold no secrets.
func (g *SampleBuilder) AddProblem(kind ProblemKind, detail string) {
	g.problems.single = append(g.problems.single, Problem{Kind: kind, Detail: sanitize(detail, maxDetail)})
}

// Sample is what can be believed. Problems are in order of kind and text.
func (g *SampleBuilder) Sample() Sample {
	s := Sample{Taken: g.now, Nodes: make(map[string]Reading, len(g.nodes)), Pods: g.pods, Problems: g.problems.problems()}
	for n, r := range g.readings {
		if len(r.Used) > 0 {
			s.Nodes[g.nodes[n].Name] = withReadingTime(r)
		}
	}
	for key, r := range s.Pods {
		if len(r.Used) == 0 {
			delete(s.Pods, key)
		}
	}
	return s
}

// withReadingTime sets the time of a reading of which each resource has its own.
func withReadingTime(r Reading) Reading {
	for _, main := range []bool{true, false} {
		for resource, at := range r.Times {
			if main == (resource == "cpu" || resource == "memory") && (r.At.IsZero() || at.Before(r.At)) {
				r.At = at
			}
		}
		if !r.At.IsZero() {
			break
		}
	}
	maps.DeleteFunc(r.Times, func(_ string, at time.Time) bool { return at.Equal(r.At) })
	if len(r.Times) == 0 {
		r.Times = nil
	}
	return r
}
