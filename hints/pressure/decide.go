package pressure

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Options select the nodes that get a hint, and the form of the hint.
type Options struct {
	// Label has the form key=value, and Taint is a taint key. Empty means none.
	Label, Taint string
	// Former lists the labels and taint keys of earlier configurations, which may be removed but never put.
	Former Owned
	// MaxHintedFrac bounds the fraction of nodes with a hint. A hint on all nodes would have no effect.
	MaxHintedFrac float64
	// TTL is how long a hint stays after the last measurement of a hot node.
	TTL   time.Duration
	Rules []Rule
	// Scope selects the nodes that may have a hint; nil selects all.
	Scope labels.Selector
	// Virtual recognizes virtual nodes, which get no hint.
	Virtual cluster.VirtualNodes
}

// Decision says which hints the nodes should have now.
type Decision struct {
	// Changes contains the nodes to write, sorted by name.
	Changes []Change
	// Hinted contains all hints that are on nodes after the changes.
	Hinted []Hint
	// Unmeasured contains nodes that have a hint but no current usage data. The hints of unmeasured
	// nodes stay until they expire.
	Unmeasured []string
	// Capped contains hot nodes that get no hint, because other nodes are hotter.
	Capped []string
	// Foreign contains labels and taints of other owners that use the hint keys.
	Foreign []Foreign
	// Invalid contains the nodes in scope with an annotation that is not the record of a hint. The changes remove or
	// replace it.
	Invalid []InvalidRecord
	// Unknown is the number of nodes in scope for which no rule has data.
	Unknown int
}

// Owned returns the labels and taint keys that may belong to a hint.
func (o Options) Owned() Owned {
	out := Owned{slices.Clone(o.Former.Labels), slices.Clone(o.Former.Taints)}
	if o.Label != "" {
		out.Labels = append(out.Labels, o.Label)
	}
	if o.Taint != "" {
		out.Taints = append(out.Taints, o.Taint)
	}
	return out
}

// Change is a node to write. A nil Hint removes the hint.
type Change struct {
	Node string
	Hint *Hint
}

// LastHot maps each node to the time at which this process last measured pressure on it.
type LastHot map[string]time.Time

// Decide returns which hints the nodes should have according to the measurements. Decide updates
// seen. A nil usage means that there is no usage data.
//
// The hint of a node depends on the measurements as follows:
//
//   - If a rule is hot, Decide puts a hint on the node, unless too many nodes are hotter. Decide
//     renews an existing hint when half of its TTL is over or its rules change.
//   - If all rules of the hint are cool, Decide removes the hint.
//   - If a rule of the hint has no data, the hint stays until it expires.
//   - If no rule has data, the hint stays until TTL after the node was last hot. Decide extends the
//     expiry to that time once. An expiry later than TTL from now is shortened.
//   - Without data, Decide puts neither a label nor a taint. If both are missing, it removes the record.
//   - An invalid record counts as no hint, and is removed.
//
// Nodes that are virtual, skipped, cordoned or excluded get no hint. Nodes out of scope keep their hints
// until they expire. If there are no rules, this applies to all nodes.
func (o Options) Decide(nodes []*corev1.Node, usage *cluster.Usage, seen LastHot, now time.Time) Decision {
	d := decider{Options: o, owned: o.Owned(), lastHot: seen, now: now, marks: map[string]map[string]cluster.Mark{},
		usageByNode: map[string]*cluster.NodeUsage{}}
	d.indexUsage(usage)
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	var hot []candidate
	here := map[string]bool{}
	for _, n := range nodes {
		here[n.Name] = true
		if c, isHot := d.decideNode(n); isHot {
			hot = append(hot, c)
		}
	}
	d.chooseHottest(hot)
	maps.DeleteFunc(seen, func(name string, _ time.Time) bool { return !here[name] })
	slices.SortFunc(d.out.Changes, func(a, b Change) int { return cmp.Compare(a.Node, b.Node) })
	slices.SortFunc(d.out.Hinted, func(a, b Hint) int { return cmp.Compare(a.Node, b.Node) })
	slices.Sort(d.out.Capped)
	return d.out
}

type decider struct {
	Options
	owned       Owned
	lastHot     LastHot
	now         time.Time
	marks       map[string]map[string]cluster.Mark // by watch and node
	usageByNode map[string]*cluster.NodeUsage
	hintable    int // number of nodes that may have a hint
	unmeasured  int // number of nodes that keep a hint without data
	out         Decision
}

func (d *decider) indexUsage(usage *cluster.Usage) {
	if usage == nil {
		return
	}
	for _, m := range usage.Marks {
		if d.marks[m.Watch] == nil {
			d.marks[m.Watch] = map[string]cluster.Mark{}
		}
		d.marks[m.Watch][m.Node] = m
	}
	for i := range usage.Nodes {
		d.usageByNode[usage.Nodes[i].Name] = &usage.Nodes[i]
	}
}

// decideNode decides about one node. decideNode returns true for a hot node, which must be compared with others.
func (d *decider) decideNode(n *corev1.Node) (candidate, bool) {
	old, problem, recorded := d.owned.readRecord(n)
	ours := recorded && problem == ""
	if d.outOfScope(n) {
		// Another release may have put the hint. Only an expired hint is removed, if this configuration knows its form.
		if ours {
			d.keepOrRemove(n, old, !old.Expired(d.now))
		}
		return candidate{}, false
	}
	if problem != "" {
		d.out.Invalid = append(d.out.Invalid, InvalidRecord{n.Name, problem})
	}
	key, _, _ := strings.Cut(d.Label, "=")
	d.out.Foreign = append(d.out.Foreign, d.owned.FindForeign(n, key, d.Taint)...)
	if d.mustSkip(n) {
		d.keepOrRemove(n, old, false)
		return candidate{}, false
	}
	d.hintable++
	hot, unknown := d.evaluateRules(n)
	if len(unknown) == len(d.Rules) {
		d.out.Unknown++
	}
	switch {
	case len(hot) > 0:
		at := d.lastMeasured(n.Name, hot)
		d.lastHot[n.Name] = at
		return candidate{n, old, ours, hot, at.Add(d.TTL)}, true
	case len(unknown) == len(d.Rules):
		d.keepUnmeasured(n, old, ours)
	case slices.ContainsFunc(old.Rules(), func(name string) bool { return slices.Contains(unknown, name) }):
		d.keepUnmeasured(n, old, ours)
	default:
		delete(d.lastHot, n.Name)
		d.keepOrRemove(n, old, false)
	}
	return candidate{}, false
}

func (d *decider) outOfScope(n *corev1.Node) bool {
	return len(d.Rules) == 0 || d.Scope != nil && !d.Scope.Matches(labels.Set(n.Labels)) || n.DeletionTimestamp != nil
}

// lastMeasured returns the time of the newest measurement of a rule that is hot. Later measurements
// of other resources do not count.
func (d *decider) lastMeasured(node string, hot []hotRule) time.Time {
	var last time.Time
	for _, r := range hot {
		at := r.measuredAt
		if at.IsZero() {
			at = d.usageByNode[node].At
		}
		if at.After(last) {
			last = at
		}
	}
	return last
}

// keepUnmeasured keeps the hint of a node without sufficient data until it expires.
func (d *decider) keepUnmeasured(n *corev1.Node, old Hint, ours bool) {
	old = old.OnNode(n)
	if !ours || old.Label == "" && old.Taint == "" {
		d.keepOrRemove(n, old, false)
		return
	}
	until := notAfter(old.Expires, d.now.Add(d.TTL).Truncate(time.Second))
	if last, known := d.lastHot[n.Name]; known {
		// The recorded expiry is at most half a TTL too early.
		if due := last.Add(d.TTL).Truncate(time.Second); due.After(until) {
			until = due
		}
	}
	if !until.After(d.now) {
		d.keepOrRemove(n, old, false)
		return
	}
	d.unmeasured++
	d.out.Unmeasured = append(d.out.Unmeasured, n.Name)
	old.Expires = until
	d.wantHint(n, old)
}

func (d *decider) keepOrRemove(n *corev1.Node, old Hint, stays bool) {
	_, recorded := n.Annotations[Key]
	switch {
	case !recorded:
	case stays:
		d.out.Hinted = append(d.out.Hinted, old)
	default:
		d.out.Changes = append(d.out.Changes, Change{n.Name, nil})
	}
}

// wantHint puts the hint on the node, and records a change if the node differs.
func (d *decider) wantHint(n *corev1.Node, h Hint) {
	h.Node = n.Name
	out, changed := d.owned.WithHint(n, h)
	if stands, ours := d.owned.FromNode(out); ours {
		d.out.Hinted = append(d.out.Hinted, stands)
	}
	if changed {
		d.out.Changes = append(d.out.Changes, Change{n.Name, &h})
	}
}

type hotRule struct {
	rule       string
	value      float64
	severity   float64
	measuredAt time.Time // zero: the time of the node's usage
}

// evaluateRules returns the rules that are hot for a node, the most severe first, and the rules without data.
func (d *decider) evaluateRules(n *corev1.Node) (hot []hotRule, unknown []string) {
	used := d.usageByNode[n.Name]
	for _, r := range d.Rules {
		m, marked := d.marks[r.WatchName()][n.Name]
		measured := false
		if used != nil {
			_, measured = used.Used[r.Resource]
		}
		switch {
		case !measured || marked && m.CountRestarted && !m.Hot: // no data, or the first samples only
			unknown = append(unknown, r.Name)
		case m.Hot:
			v := measuredValue(m, used.Used[r.Resource], n)
			hot = append(hot, hotRule{r.Name, v, r.severity(v), m.At})
		}
	}
	slices.SortFunc(hot, func(a, b hotRule) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), cmp.Compare(a.rule, b.rule))
	})
	return hot, unknown
}

// measuredValue returns the value of the last sample, or else the usage over the window as a fraction of the node.
func measuredValue(m cluster.Mark, used int64, n *corev1.Node) float64 {
	if m.Value != 0 {
		return m.Value
	}
	physical := cluster.PhysicalOf(cluster.ResourcesOf(n.Status.Allocatable), cluster.ResourcesOf(n.Status.Capacity))
	total := cluster.UsageDenominator(&physical, m.Resource)
	if total <= 0 {
		return math.NaN()
	}
	return float64(used) / float64(total)
}
