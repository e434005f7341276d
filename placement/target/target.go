// Package target decides whether a pod may be sent to a node: what the node's kubelet, the attach controller or
// admission would refuse, and where a careful operator sends nothing, such as a cordoned node.
//
// The scheduler checks none of this, so a replacement may still land on such a node. Package placement predicts that;
// package target only says that the landing is not acceptable, and that the node counts neither as a target nor as a
// part of a topology domain. Its results depend on the snapshot alone, not on the moves of a plan.
package target

import (
	"encoding/binary"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/volume"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Rule is one reason to send no pod to a node. It has either Node, or both Key and Pod.
type Rule struct {
	// Code is the reason why a pod stays if it would help only on nodes that the rule refuses.
	Code plan.Code
	// Node returns why no pod at all is sent to the node, as the words that follow "the node is", or "".
	Node func(in *Input, n *cluster.Node) string
	// Key appends everything that Pod reads of a pod, and nothing if Pod refuses no node to it. Pods with equal keys
	// get equal results.
	Key func(in *Input, b []byte, p *cluster.Pod) []byte
	// Pod returns why this pod is not sent to the node, as Node does.
	Pod func(in *Input, p *cluster.Pod, n *cluster.Node) string
}

// Rules lists all rules in order. The first rule that refuses a node decides.
var Rules = []Rule{
	notReady,
	pressureHint,
	leaving,
	virtual,
	cordoned,
	unhealthy,
	volumeInUse,
	operatingSystem,
	runtimeHandler,
	images,
	memoryPressure,
	unproven,
}

// Input is what rules read besides the pod and the node.
type Input struct {
	Snapshot *cluster.Snapshot
	Scope    cluster.Scope
	// UnderPressure marks, by node, the nodes with a valid pressure hint. It may be nil.
	UnderPressure []bool
	Volumes       *volume.Users

	platforms  []platform // of the nodes
	platformOf []int      // by node: the index in platforms, or -1 if it is unknown
	provenBy   map[cluster.WorkloadID]uint64

	memoryPressure bool // some node is under MemoryPressure
}

// Targets has the results of the rules for one snapshot. It is not safe for concurrent use.
type Targets struct {
	in    Input
	open  *Pods            // for pods that no rule about pods concerns
	byKey map[string]*Pods // for the others
	// byTemplate has the results for the pods with a template on the nodes of a platform.
	byTemplate map[templatePlatform]*Pods
	last       templatePlatform // the newest key of byTemplate
	lastPods   *Pods
	byPod      []*Pods // nil: not computed yet
	key        []byte  // reused
}

type templatePlatform struct {
	template *cluster.Template
	platform int
}

// Pods has the results for all pods that the rules do not tell apart.
type Pods struct {
	// May marks, by node, the nodes to which these pods may be sent. It is read-only.
	May []bool
	// Number identifies these pods among those of the same Targets.
	Number int
}

// New applies the rules about nodes. underPressure marks, by node, those with a valid pressure hint; it may be nil.
func New(s *cluster.Snapshot, scope cluster.Scope, underPressure []bool) *Targets {
	t := &Targets{in: Input{Snapshot: s, Scope: scope, UnderPressure: underPressure, Volumes: volume.NewUsers(s)}, byKey: map[string]*Pods{},
		open: &Pods{May: make([]bool, len(s.Nodes))}, byTemplate: map[templatePlatform]*Pods{}, byPod: make([]*Pods, len(s.Pods))}
	t.in.readPlatforms()
	for i := range s.Nodes {
		t.in.memoryPressure = t.in.memoryPressure || cluster.HasCondition(s.Nodes[i].Object, corev1.NodeMemoryPressure)
		_, _, refused := t.Why(nil, &s.Nodes[i])
		t.open.May[i] = !refused
	}
	return t
}

// Open reports whether pods may be sent to a node at all, without regard to pressure hints.
func Open(scope cluster.Scope, n *cluster.Node) bool {
	_, _, refused := (&Targets{in: Input{Scope: scope}}).Why(nil, n)
	return !refused
}

// OfNodes marks, by node, the nodes to which pods may be sent at all. It is read-only.
func (t *Targets) OfNodes() []bool { return t.open.May }

// Of returns the results for a pod.
func (t *Targets) Of(p *cluster.Pod) *Pods {
	if known := t.byPod[p.ID]; known != nil {
		return known
	}
	t.byPod[p.ID] = t.ofTemplate(p)
	return t.byPod[p.ID]
}

// ofTemplate is find for a pod whose template may be known. Key reads nothing else of a pod than its template and the
// platform of its node, except under MemoryPressure, where it reads the QoS class.
func (t *Targets) ofTemplate(p *cluster.Pod) *Pods {
	if p.Template == nil || t.in.memoryPressure {
		return t.find(p)
	}
	key := templatePlatform{p.Template, -1}
	if p.Node != cluster.NoNode {
		key.platform = t.in.platformOf[p.Node]
	}
	if key == t.last {
		return t.lastPods
	}
	known := t.byTemplate[key]
	if known == nil {
		known = t.find(p)
		t.byTemplate[key] = known
	}
	t.last, t.lastPods = key, known
	return known
}

func (t *Targets) find(p *cluster.Pod) *Pods {
	t.key = t.key[:0]
	for i := range Rules {
		if r := &Rules[i]; r.Pod != nil {
			if before := len(t.key); before < len(r.Key(&t.in, t.key, p)) {
				t.key = r.Key(&t.in, binary.AppendVarint(t.key, int64(i)), p)
			}
		}
	}
	if len(t.key) == 0 {
		return t.open
	}
	if known := t.byKey[string(t.key)]; known != nil {
		return known
	}
	pods := &Pods{May: make([]bool, len(t.open.May)), Number: len(t.byKey) + 1}
	for i := range pods.May {
		if t.open.May[i] {
			_, _, refused := t.Why(p, &t.in.Snapshot.Nodes[i])
			pods.May[i] = !refused
		}
	}
	t.byKey[string(t.key)] = pods
	return pods
}

// Why returns the index of the first rule that refuses the node to the pod, and the words that follow "the node is".
// It returns false if the pod may be sent there. With a nil pod, it asks whether no pod at all is sent there.
func (t *Targets) Why(p *cluster.Pod, n *cluster.Node) (rule int, words string, refused bool) {
	for i := range Rules {
		if words := why(&Rules[i], &t.in, p, n); words != "" {
			return i, words, true
		}
	}
	return 0, "", false
}

func why(r *Rule, in *Input, p *cluster.Pod, n *cluster.Node) string {
	if r.Node != nil {
		return r.Node(in, n)
	}
	if p == nil || len(r.Key(in, nil, p)) == 0 {
		return ""
	}
	return r.Pod(in, p, n)
}

// InUse returns why no node, not even a new one, can attach a volume of the pod, or "".
func (t *Targets) InUse(p *cluster.Pod) string {
	for use := range t.in.Volumes.Shared(p.Object) {
		return use.Words
	}
	return ""
}

// Unproven returns the nodes that only the platform of the pod's workload keeps from the pod.
func (t *Targets) Unproven(p *cluster.Pod) (out []cluster.NodeID) {
	for i := range t.in.Snapshot.Nodes {
		rule, _, refused := t.Why(p, &t.in.Snapshot.Nodes[i])
		if refused && Rules[rule].Code == plan.OnlyUnprovenPlatforms {
			out = append(out, cluster.NodeID(i))
		}
	}
	return out
}

// State lists why no pod at all is sent to the node, as the words that follow "the node is".
func (t *Targets) State(n *cluster.Node) []string {
	out := []string{}
	for i := range Rules {
		if words := why(&Rules[i], &t.in, nil, n); words != "" {
			out = append(out, words)
		}
	}
	return out
}

// CanRunFunc returns a function that reports whether the pod may be sent to a node, and a replacement there passes the
// filters of filter.CanRunFunc.
func (t *Targets) CanRunFunc(p *cluster.Pod) func(*cluster.Node) bool {
	may, canRun := t.Of(p).May, filter.CanRunFunc(p.Object)
	return func(n *cluster.Node) bool { return may[n.ID] && canRun(n) }
}
