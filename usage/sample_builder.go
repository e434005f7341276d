package usage

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// MayBeNegative reports whether the measurement of a resource may be negative.
func MayBeNegative(resource string) bool { return strings.HasPrefix(resource, cluster.HintRulePrefix) }

// Value is one number that a source gave for a node.
type Value struct {
	// Node is the node's name in the source.
	Node   string
	Amount float64
	At     time.Time
}

// PodValue is one number that a source gave for a pod.
type PodValue struct {
	Namespace, Name string
	Amount          float64
	At              time.Time
}

// SampleBuilder builds a sample from the values of a source. SampleBuilder omits implausible values and records a
// problem for each. Each SampleBuilder builds one sample.
type SampleBuilder struct {
	index     *nodeIndex
	nodes     []Node
	now       time.Time
	maxAge    time.Duration
	readings  []Reading // by node
	pods      map[string]Reading
	problems  problemGroups
	maxPodUse map[string]float64
}

// NewSampleBuilder starts a sample taken now. Measurements older than maxAge are stale.
func NewSampleBuilder(nodes []Node, now time.Time, maxAge time.Duration) *SampleBuilder {
	g := &SampleBuilder{index: newNodeIndex(nodes), nodes: nodes, now: now, maxAge: maxAge, readings: make([]Reading, len(nodes)),
		pods: map[string]Reading{}, maxPodUse: map[string]float64{}}
	for _, n := range nodes {
		g.maxPodUse["cpu"] = max(g.maxPodUse["cpu"], float64(n.Capacity.MilliCPU))
		g.maxPodUse["memory"] = max(g.maxPodUse["memory"], float64(n.Capacity.MemoryBytes))
	}
	return g
}

// AddNodes adds the values of one resource of nodes. AddNodes omits a node with two values. Each
// omitted value, and each node without a value, becomes a problem.
func (g *SampleBuilder) AddNodes(resource string, unit Unit, values []Value) {
	if len(values) == 0 {
		g.AddProblem(Empty, resource+NoValues)
		return
	}
	if unit.isRatio() && g.rejectPercentages(resource, values) {
		return
	}
	said := make([]int, len(g.nodes)) // how often each node was named
	at := make([]int, len(g.nodes))   // index of the node's value
	for i, v := range values {
		switch found := g.index.find(v.Node); len(found) {
		case 0:
			g.problems.add(UnknownNode, resource+": unknown node name", v.Node)
		case 1:
			said[found[0]]++
			at[found[0]] = i
		default:
			g.problems.add(Ambiguous, resource+": ambiguous node name", v.Node)
		}
	}
	for n, times := range said {
		switch {
		case times == 0:
			g.problems.add(Missing, resource+": no value for", g.nodes[n].Name)
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

// DeriveMemoryAvailable sets memory.available from memory. The memory values must be working sets.
func (g *SampleBuilder) DeriveMemoryAvailable() {
	for n := range g.readings {
		used, known := g.readings[n].Used["memory"]
		if capacity := g.nodes[n].Capacity.MemoryBytes; known && capacity > 0 {
			g.readings[n].Used[cluster.MemoryAvailable] = max(capacity-used, 0)
			g.readings[n].Times[cluster.MemoryAvailable] = g.readings[n].Times["memory"]
		}
	}
}

// AddPods adds the values of one resource of pods: cpu in cores, memory in bytes, or a ratio of the node. AddPods omits
// a pod with two values. AddPods accepts pods that the cluster does not know, because pods can start at any time.
func (g *SampleBuilder) AddPods(resource string, unit Unit, values []PodValue) {
	if len(values) == 0 {
		g.AddProblem(Empty, resource+" of pods"+NoValues)
		return
	}
	if unit.isRatio() && g.rejectPercentages(resource+" of pods", nodeValuesOf(values)) {
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
		if older := v.At.Before(r.At); !known || older {
			r.At = v.At
			g.pods[key] = r
		}
	}
}

// nodeValuesOf returns the values of pods under the names of the pods.
func nodeValuesOf(pods []PodValue) []Value {
	out := make([]Value, len(pods))
	for i, p := range pods {
		out[i] = Value{Node: p.Namespace + "/" + p.Name, Amount: p.Amount, At: p.At}
	}
	return out
}

// AddProblemOf adds a problem that several nodes or pods may share, such as "cpu: a histogram
// for" with the name n1.
func (g *SampleBuilder) AddProblemOf(kind ProblemKind, what, name string) {
	g.problems.add(kind, what, name)
}

// AddProblem adds a problem in the words of the caller. The text must not contain secrets.
func (g *SampleBuilder) AddProblem(kind ProblemKind, detail string) {
	g.problems.single = append(g.problems.single, Problem{Kind: kind, Detail: Sanitize(detail, maxDetail)})
}

// Sample returns the plausible values. The problems are sorted by kind and text.
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

// withReadingTime sets the time of a reading from the times of its resources.
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

// rejectPercentages reports whether an answer is in percent, and adds a problem if so.
func (g *SampleBuilder) rejectPercentages(resource string, values []Value) bool {
	for _, v := range values {
		if v.Amount > minPercent && v.Amount <= maxPercent {
			g.AddProblem(Implausible, fmt.Sprintf("%s: %.4g for %s is not a ratio (want 0..1; is it a percentage?); all %d values are rejected",
				resource, v.Amount, Sanitize(v.Node, maxName), len(values)))
			return true
		}
	}
	return false
}

// checkAge returns the reason why a measurement time is unusable. An empty kind means that the time is usable.
func (g *SampleBuilder) checkAge(at time.Time) (ProblemKind, string) {
	switch age := g.now.Sub(at); {
	case age > g.maxAge:
		return Stale, fmt.Sprintf("measured more than %s ago for", g.maxAge)
	case age < -cluster.MaxClockSkew:
		return Stale, "measured in the future for"
	}
	return "", ""
}
