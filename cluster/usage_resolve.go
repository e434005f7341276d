package cluster

import (
	"math/bits"
	"slices"
	"time"
)

// Knowledge says how it is known what a pod uses.
type Knowledge uint8

const (
	// Unknown: nobody has measured the pod.
	Unknown Knowledge = iota
	// Since: it was bound after its node was measured.
	Since
	// Estimated: the source knows nodes only; it is the pod's part, by requests.
	Estimated
	// Measured: the source has measured the pod.
	Measured
)

// Load is what a Usage says, by node and pod, brought from the time of its samples
// to that of the snapshot:
//
//   - a pod that was measured and has left its node since is taken from it, and one
//     that was measured and came lately is added to it, as far as the node's
//     statistic over the window holds the one still and the other not yet;
//   - a pod that was bound after its node was measured, or so shortly before that
//     nobody has measured it yet, is added with what it probably uses: the mean of
//     the other pods of its workload or, where none is known, its requests as scores
//     count them (100m and 200Mi for a container that gives none).
//
// A pod whose newest sample is well behind its node's is unknown.
//
// Where a Usage gives a newest measurement beside the statistic, the higher of the two
// is used, and how far they are apart is in doubt. So is what a pod used that left so
// lately that a rate still holds part of it.
//
// An amount below nothing, or beyond any machine, is unknown, and so is a node that
// is listed twice. Nothing is known of a resource that the Usage does not name.
type Load struct {
	Usage   *Usage
	span    []time.Duration // by node: what its samples fill of the window
	names   []string
	columns map[string]*column
	at      []time.Time // by node; zero: not measured
}

// column is one resource.
type column struct {
	used  []int64 // by node, with what was added; unknownAmount: unknown
	added []int64 // by node, of that: probable use of pods that nobody has measured
	// newest, by node, is the newest measurement where it bounds used, else
	// unknownAmount; lag and newestLag are what of either pods may have taken along that
	// a rate still holds; doubt is how much of used may have left unseen.
	newest, lag, newestLag, doubt []int64
	known                         []Knowledge
	use                           []int64 // by pod: what it uses, or probably uses
}

const unknownAmount = int64(-1)

// mostUsed is more than any machine has, in milliCPU or bytes (1Pi).
const mostUsed = int64(1) << 50

func plausible(n int64) bool { return n >= 0 && n <= mostUsed }

// Resources lists the resources of which anything is known, sorted.
func (l *Load) Resources() []string {
	if l == nil {
		return nil
	}
	return l.names
}

// At is when the node was measured; zero when it was not.
func (l *Load) At(n NodeID) time.Time {
	if l == nil {
		return time.Time{}
	}
	return l.at[n]
}

// Used is what a node uses of a resource as the snapshot has it, and how much of
// that is only probable; false when it is not known.
func (l *Load) Used(n NodeID, resource string) (used, probable int64, known bool) {
	if l == nil || l.columns[resource] == nil || l.columns[resource].used[n] == unknownAmount {
		return 0, 0, false
	}
	c := l.columns[resource]
	return c.used[n], c.added[n], true
}

// Doubt is how much of what a node uses may have left it with pods that were never
// listed: a window that a source remembered holds them still.
func (l *Load) Doubt(n NodeID, resource string) int64 {
	if l == nil || l.columns[resource] == nil {
		return 0
	}
	return l.columns[resource].doubt[n]
}

// Pod is what a pod uses of a resource, or probably uses, and how that is known.
func (l *Load) Pod(p PodID, resource string) (int64, Knowledge) {
	if l == nil || l.columns[resource] == nil {
		return 0, Unknown
	}
	c := l.columns[resource]
	return c.use[p], c.known[p]
}

// resolver brings a Usage to the time of a snapshot.
type resolver struct {
	s *Snapshot
	u *Usage
	l *Load
}

func (s *Snapshot) resolve(u *Usage) *Load {
	r := &resolver{s, u, &Load{Usage: u, columns: map[string]*column{}, at: make([]time.Time, len(s.Nodes)), span: make([]time.Duration, len(s.Nodes))}}
	r.nodes()
	r.pods()
	r.doubts()
	for _, name := range r.l.names {
		c := r.l.columns[name]
		if u.onlyNodes() {
			r.apportion(c, name)
		}
		r.newcomers(c, name)
	}
	return r.l
}

// column of a resource, unknown everywhere at first.
func (r *resolver) column(name string) *column {
	c := r.l.columns[name]
	if c == nil {
		nodes := func() []int64 { return make([]int64, len(r.s.Nodes)) }
		c = &column{nodes(), nodes(), nodes(), nodes(), nodes(), nodes(), make([]Knowledge, len(r.s.Pods)), make([]int64, len(r.s.Pods))}
		for i := range c.used {
			c.used[i], c.newest[i] = unknownAmount, unknownAmount
		}
		r.l.columns[name] = c
		r.l.names = append(r.l.names, name)
		slices.Sort(r.l.names)
	}
	return c
}

func (r *resolver) nodes() {
	seen := make([]bool, len(r.s.Nodes))
	for i := range r.u.Nodes {
		m := &r.u.Nodes[i]
		n := r.s.NodeByName(m.Name)
		if n == nil {
			continue
		}
		for name, amount := range m.Used {
			if !partOfNode(name) {
				continue
			}
			c := r.column(name)
			switch {
			case seen[n.ID] || !plausible(amount):
				c.used[n.ID] = unknownAmount
			default:
				c.used[n.ID] = amount
				if newest, given := m.Newest[name]; given && plausible(newest) {
					c.newest[n.ID] = newest
				}
			}
		}
		if seen[n.ID] {
			r.forget(n.ID)
			continue
		}
		seen[n.ID] = true
		if r.l.span[n.ID] = seconds(r.u.WindowSeconds); m.SpanSeconds > 0 {
			r.l.span[n.ID] = min(r.l.span[n.ID], seconds(m.SpanSeconds))
		}
		if r.l.at[n.ID] = m.At; m.At.IsZero() {
			r.l.at[n.ID] = r.u.SampledAt
		}
	}
}

// forget makes a node unknown of which two different things are said.
func (r *resolver) forget(n NodeID) {
	for _, c := range r.l.columns {
		c.used[n] = unknownAmount
	}
	r.l.at[n] = time.Time{}
}

// pods takes over what was measured of pods that are still there, and takes from
// their nodes what those used that are not.
func (r *resolver) pods() {
	for i := range r.u.Pods {
		m := &r.u.Pods[i]
		p, gone := r.standing(m)
		for name, amount := range m.Used {
			c := r.column(name)
			switch {
			case !plausible(amount):
			case gone:
				r.leaves(c, name, m, amount)
			case p != nil && c.known[p.ID] == Unknown:
				c.use[p.ID], c.known[p.ID] = amount, Measured
				if m.Estimated {
					c.known[p.ID] = Estimated
				}
				r.came(c, p, amount)
			}
		}
	}
}

// behindAtMost is how far a pod's newest sample may be behind its node's: sources
// leave one out now and then.
const behindAtMost = time.Minute

// standing is the pod that was measured, or nil. gone says that it has left its node;
// else the sample is too old to say anything. A source that does not know UIDs may
// speak of another pod of the same name.
func (r *resolver) standing(m *PodUsage) (p *Pod, gone bool) {
	if m.UID != "" {
		p = r.s.PodByUID(m.UID)
	} else if p = r.s.PodByKey(m.Namespace + "/" + m.Name); p != nil && p.Node != NoNode {
		if m.Node != "" && r.s.Nodes[p.Node].Name != m.Node || r.boundAfter(p, 0) {
			return nil, true
		}
	}
	if p == nil || p.Node == NoNode || p.Terminal {
		return nil, true
	}
	if at := r.l.at[p.Node]; !m.At.IsZero() && at.Sub(m.At) > behindAtMost {
		return nil, false
	}
	return p, false
}

// onlyNodes: nothing can be known of pods but their part of a node.
func (u *Usage) onlyNodes() bool {
	return len(u.Pods) == 0 && u.NodesOnly
}

// apportion gives each pod its part of what its node was measured to use, by its
// requests as scores count them, all of the node's usage taken as that of pods.
func (r *resolver) apportion(c *column, name string) {
	for i := range r.s.Nodes {
		n := &r.s.Nodes[i]
		if c.used[i] == unknownAmount {
			continue
		}
		var sum int64
		for _, id := range n.Pods {
			if p := &r.s.Pods[id]; !r.boundSince(p) {
				sum += p.NonZero.Get(name)
			}
		}
		for _, id := range n.Pods {
			p := &r.s.Pods[id]
			if asks := p.NonZero.Get(name); asks > 0 && !r.boundSince(p) {
				hi, lo := bits.Mul64(uint64(c.used[i]), uint64(asks))
				part, _ := bits.Div64(hi, lo, uint64(sum)) // asks <= sum, so it fits
				c.use[id], c.known[id] = int64(part), Estimated
			}
		}
	}
}

// newcomers get what they probably use, and so do their nodes.
func (r *resolver) newcomers(c *column, name string) {
	type mean struct{ sum, pods int64 }
	of := make([]mean, len(r.s.Workloads))
	for i := range r.s.Pods {
		if p := &r.s.Pods[i]; c.known[i] != Unknown && p.Workload != NoWorkload {
			of[p.Workload].sum += c.use[i]
			of[p.Workload].pods++
		}
	}
	for i := range r.s.Pods {
		p := &r.s.Pods[i]
		if c.known[i] != Unknown || p.Terminal {
			continue
		}
		c.use[i] = p.NonZero.Get(name)
		if p.Workload != NoWorkload && of[p.Workload].pods > 0 {
			c.use[i] = of[p.Workload].sum / of[p.Workload].pods
		}
		if p.Node != NoNode && r.boundSince(p) {
			c.known[i] = Since
			if c.used[p.Node] != unknownAmount {
				c.used[p.Node] += c.use[i]
				c.added[p.Node] += c.use[i]
			}
		}
	}
}
