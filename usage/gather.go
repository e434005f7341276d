package usage

import (
	"maps"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Signed says whether what a source measures of a resource may be less than nothing.
func Signed(resource string) bool { return strings.HasPrefix(resource, cluster.RulePrefix) }

// Value is one number that a source gave about a node.
type Value struct {
	// Node is how the source names it.
	Node string
	V    float64
	At   time.Time
}

// PodValue is one number about a pod.
type PodValue struct {
	Namespace, Name string
	// Node is where the pod stood, as the source names it; empty where it does not.
	Node string
	V    float64
	At   time.Time
}

// Gather puts a sample together of what a source gave, leaves out what cannot be
// believed, and says so. It is good for one sample.
type Gather struct {
	index    *Index
	nodes    []Node
	now      time.Time
	maxAge   time.Duration
	readings []Reading // by node
	pods     map[string]Reading
	findings findings
	names    map[string]string // where pods stood, as found before
	podMost  map[string]float64
}

// NewGather begins a sample taken now. What was measured more than maxAge ago is
// stale.
func NewGather(nodes []Node, now time.Time, maxAge time.Duration) *Gather {
	g := &Gather{index: NewIndex(nodes), nodes: nodes, now: now, maxAge: maxAge, readings: make([]Reading, len(nodes)),
		pods: map[string]Reading{}, names: map[string]string{}, podMost: map[string]float64{}}
	for _, n := range nodes {
		g.podMost["cpu"] = max(g.podMost["cpu"], float64(n.Capacity.MilliCPU))
		g.podMost["memory"] = max(g.podMost["memory"], float64(n.Capacity.MemoryBytes))
	}
	return g
}

// Nodes takes in what was said about one resource of nodes. A node named twice is
// left out, whatever was said; a value that is left out is a problem, and so is a
// node without one.
func (g *Gather) Nodes(resource string, unit Unit, values []Value) {
	if len(values) == 0 {
		g.Problem(Empty, resource+NoValues)
		return
	}
	if unit.ratio() && g.percentages(resource, values) {
		return
	}
	said := make([]int, len(g.nodes)) // how often each node was named
	at := make([]int, len(g.nodes))   // by which value
	for i, v := range values {
		switch found := g.index.Find(v.Node); len(found) {
		case 0:
			g.findings.add(UnknownNode, resource+": no node of the cluster is called", v.Node)
		case 1:
			said[found[0]]++
			at[found[0]] = i
		default:
			g.findings.add(Ambiguous, resource+": more than one node is called", v.Node)
		}
	}
	for n, times := range said {
		switch {
		case times == 0:
			g.findings.add(Missing, resource+": nothing is said about", g.nodes[n].Name)
		case times > 1:
			g.findings.add(Ambiguous, resource+": more than one value for", g.nodes[n].Name)
		default:
			g.node(n, resource, unit, values[at[n]])
		}
	}
}

func (g *Gather) node(n int, resource string, unit Unit, v Value) {
	name, capacity := g.nodes[n].Name, float64(g.nodes[n].Capacity.Get(resource))
	if resource == cluster.MemoryAvailable {
		capacity = float64(g.nodes[n].Capacity.MemoryBytes)
	}
	kind, what := unit.doubt(v.V, capacity)
	if kind == "" {
		kind, what = g.age(v.At)
	}
	if kind != "" {
		g.findings.add(kind, resource+": "+what, name)
		return
	}
	r := &g.readings[n]
	if r.Used == nil {
		r.Used, r.Times = map[string]int64{}, map[string]time.Time{}
	}
	r.Used[resource], r.Times[resource] = unit.amount(v.V, capacity), v.At
}

// WorkingSets says that the memory gathered is working sets: what is available is
// then known as well.
func (g *Gather) WorkingSets() {
	for n := range g.readings {
		used, known := g.readings[n].Used["memory"]
		if capacity := g.nodes[n].Capacity.MemoryBytes; known && capacity > 0 {
			g.readings[n].Used[cluster.MemoryAvailable] = max(capacity-used, 0)
			g.readings[n].Times[cluster.MemoryAvailable] = g.readings[n].Times["memory"]
		}
	}
}

// Pods takes in what was said about one resource of pods, cpu in cores or memory
// in bytes. A pod named twice is left out. Pods that the cluster does not know are
// no problem: they come and go.
func (g *Gather) Pods(resource string, unit Unit, values []PodValue) {
	if len(values) == 0 {
		g.Problem(Empty, resource+" of pods"+NoValues)
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
			g.findings.add(Ambiguous, resource+" of pods: more than one value for", key)
			delete(r.Used, resource)
			out[key] = true
			continue
		}
		kind, what := unit.doubt(v.V, g.podMost[resource])
		if kind == "" {
			kind, what = g.age(v.At)
		}
		if v.Namespace == "" || v.Name == "" {
			kind, what = Implausible, "without a namespace or a name"
		}
		if kind != "" {
			g.findings.add(kind, resource+" of pods: "+what, key)
			out[key] = true
			continue
		}
		if !known {
			r = Reading{At: v.At, Used: make(map[string]int64, 2)}
		}
		r.Used[resource] = unit.amount(v.V, 0)
		if older, node := v.At.Before(r.At), r.Node == "" && v.Node != ""; !known || older || node {
			if older {
				r.At = v.At
			}
			if node {
				r.Node = g.nodeOf(v.Node)
			}
			g.pods[key] = r
		}
	}
}

// nodeOf is where a pod stood; empty where that cannot be told.
func (g *Gather) nodeOf(text string) string {
	name, ok := g.names[text]
	if !ok {
		if found := g.index.Find(text); len(found) == 1 {
			name = g.nodes[found[0]].Name
		}
		g.names[text] = name
	}
	return name
}

// Found adds what is wrong with one of many, which all share what is wrong: such
// as "cpu: a histogram for" and n1.
func (g *Gather) Found(kind ProblemKind, what, name string) { g.findings.add(kind, what, name) }

// Problem adds one in words of the caller, which hold no secrets.
func (g *Gather) Problem(kind ProblemKind, detail string) {
	g.findings.said = append(g.findings.said, Problem{Kind: kind, Detail: clean(detail, maxDetail)})
}

// Sample is what can be believed. Problems are in order of kind and text.
func (g *Gather) Sample() Sample {
	s := Sample{Taken: g.now, Nodes: make(map[string]Reading, len(g.nodes)), Pods: g.pods, Problems: g.findings.problems()}
	for n, r := range g.readings {
		if len(r.Used) > 0 {
			s.Nodes[g.nodes[n].Name] = timed(r)
		}
	}
	for key, r := range s.Pods {
		if len(r.Used) == 0 {
			delete(s.Pods, key)
		}
	}
	return s
}

// timed sets the time of a reading of which each resource has its own.
func timed(r Reading) Reading {
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
