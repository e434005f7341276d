package placement

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Filter names a filter of the scheduler, in the order in which they are asked.
type Filter string

const (
	NodeNotReady         Filter = "NodeNotReady" // ours: the node controller taints such nodes
	NodeUnschedulable    Filter = "NodeUnschedulable"
	TaintToleration      Filter = "TaintToleration"
	NodeAffinity         Filter = "NodeAffinity"
	NodePorts            Filter = "NodePorts"
	NodeResourcesFit     Filter = "NodeResourcesFit"
	VolumeRestrictions   Filter = "VolumeRestrictions"
	NodeVolumeLimits     Filter = "NodeVolumeLimits"
	VolumeBinding        Filter = "VolumeBinding"
	VolumeZone           Filter = "VolumeZone"
	PodTopologySpread    Filter = "PodTopologySpread"
	InterPodAffinity     Filter = "InterPodAffinity"
	NodeDeclaredFeatures Filter = "NodeDeclaredFeatures"
	// NominatedPods is ours: the node passes, but not beside the pods that wait
	// for it.
	NominatedPods Filter = "NominatedPods"
)

// comparisonOperators is the gate TaintTolerationComparisonOperators, off by
// default in 1.36 and 1.37.
const comparisonOperators = false

var unschedulableTaint = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

// CanRun reports whether the filters that depend neither on other pods nor on
// free resources let a replacement of the pod onto the node: readiness,
// unschedulable, node selector and affinity, NoSchedule and NoExecute taints.
// The pod's own nodeName is left out: a replacement has none.
func CanRun(pod *corev1.Pod, n *cluster.Node) bool {
	return Runs(pod)(n)
}

func schedulable(pod *corev1.Pod, n *corev1.Node) bool {
	return !n.Spec.Unschedulable || schedulinghelper.TolerationsTolerateTaint(
		logr.Discard(), pod.Spec.Tolerations, &unschedulableTaint, comparisonOperators)
}

func tolerates(pod *corev1.Pod, n *corev1.Node) bool {
	_, refused := schedulinghelper.FindMatchingUntoleratedTaint(
		logr.Discard(), n.Spec.Taints, pod.Spec.Tolerations, repels, comparisonOperators)
	return !refused
}

func repels(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// affinityMatches takes an affinity that cannot be read as one that does not match.
func affinityMatches(a nodeaffinity.RequiredNodeAffinity, n *corev1.Node) bool {
	ok, _ := a.Match(n)
	return ok
}

// incoming is what holds for every pod of a class when it is scheduled.
type incoming struct {
	class      *class
	profile    *profile
	view       int                // number of its view
	request    cluster.Resources  // of a new pod of the class
	assumed    cluster.Resources  // what scores take it to request
	asked      *cluster.Resources // what NodeResourcesFit asks for; nil: it is not asked
	affinityOK []bool             // node selector and required node affinity
	taintsOK   []bool             // NoSchedule and NoExecute taints
	canRun     []bool             // what CanRun says, by the profile's filters and added affinity
	ports      []hostPort         // NodePorts
	disks      []disk             // VolumeRestrictions
	featuresOK []bool             // NodeDeclaredFeatures; nil: all
	scorers    []scorer           // score plugins of the profile
	vol        volumePlaces
	fit        fit
	fixed      fixedScores
	spread     spreadRules
	inter      interPod
	policy     policyCounts
	err        error  // why it cannot be read
	namespaces string // why labels of namespaces are wanting; empty when they are not
}

// incomingOf returns what holds for the pod's class, building it on first use.
func (w *World) incomingOf(p cluster.PodID) *incoming {
	c := w.classOf[p]
	if in := w.incoming[c.number]; in != nil {
		return in
	}
	pod := c.sample.Object
	v := w.viewOf(pod, c.profile)
	in := &incoming{class: c, profile: c.profile, view: v.number, affinityOK: v.affinityOK, taintsOK: v.taintsOK, canRun: v.canRun, fixed: v.fixed, err: v.err}
	w.incoming[c.number] = in
	in.scorers = w.scorersFor(c.profile)
	in.request, in.assumed = requestsOf(pod)
	in.asked = c.profile.asked(&in.request)
	in.ports, in.disks = c.ports, c.disks
	if in.err != nil {
		return in
	}
	in.fixed.images = w.imageScores(pod)
	if in.featuresOK, in.err = w.featuresOK(pod); in.err != nil {
		return in
	}
	in.vol = w.storage.places(pod, !in.profile.off[NodeVolumeLimits])
	in.switchOff()
	if in.spread, in.err = w.spreadRules(c, in); in.err != nil {
		return in
	}
	if c.profile.Policy != nil {
		in.policy = w.policyCounts(c)
	}
	in.inter, in.err = w.interPod(c)
	in.namespaces = w.namespacesWanting(c)
	return in
}

// switchOff forgets what filters that are not asked would look at.
func (in *incoming) switchOff() {
	off := in.profile.off
	if off[NodePorts] {
		in.ports = nil
	}
	if off[VolumeRestrictions] {
		in.disks, in.vol.oncePod = nil, nil
	}
	if off[VolumeZone] {
		in.vol.zoneOK = nil
	}
	if off[NodeDeclaredFeatures] {
		in.featuresOK = nil
	}
}

// round is one scheduling attempt: the counts by domain that its filters read.
type round struct {
	m   *clusterState
	buf *scratch
	in  *incoming
	pod cluster.PodID // whose replacement is placed
	// claim is one of the newcomer's that another pod has to itself.
	claim string
	// beside are waiting pods that are taken to stand; noInterPod says that
	// inter-pod affinity is not asked about them.
	beside     []cluster.PodID
	noInterPod bool
	idle       bool // what idleInterPod says, where pods wait for nodes
	// slots of scratch.byDomain: hard constraints, then required affinity,
	// anti-affinity, the standing pods' anti-affinity.
	bootstrap bool // no pod anywhere satisfies the required affinity
	slots     int  // slots taken; scores use those from here on
}

// begin starts a scheduling attempt.
func (w *World) begin(in *incoming, pod cluster.PodID) round {
	w.refresh(in)
	return newRound(&w.clusterState, &w.buf, in, pod)
}

// newRound counts by domain what the filters read.
func newRound(m *clusterState, b *scratch, in *incoming, pod cluster.PodID) round {
	slot := 0
	b.min = b.min[:0]
	for i := range in.spread.hard {
		b.min = append(b.min, b.countHard(slot, &in.spread.hard[i], in.spread.hardNode))
		slot++
	}
	r := round{m: m, buf: b, in: in, pod: pod, claim: m.held.claimTaken(in.class.namespace, in.vol.oncePod), bootstrap: true}
	for _, t := range in.inter.required {
		for _, k := range b.sumDomains(slot, t) {
			r.bootstrap = r.bootstrap && k <= 0
		}
		slot++
	}
	for _, list := range [...][]placedTerm{in.inter.anti, in.inter.existingAnti} {
		for _, t := range list {
			b.sumDomains(slot, t)
			slot++
		}
	}
	r.slots = slot
	r.idle = len(m.nominated) > 0 && r.idleInterPod()
	return r
}

// countHard counts the matching pods of each domain and returns the least count
// among the domains of eligible nodes; 0 when there are fewer than minDomains.
func (b *scratch) countHard(slot int, c *constraint, hasKeys []bool) int64 {
	d := b.domains(slot, c.topo.size)
	for _, x := range c.pods.piles {
		if hasKeys[x.node] && c.eligible[x.node] {
			d[c.topo.domain[x.node]] += x.pods
		}
	}
	if len(c.domains) < c.minDomains {
		return 0
	}
	least := int64(math.MaxInt32)
	for _, x := range c.domains {
		least = min(least, int64(d[x]))
	}
	return least
}

// spreads is the filter of the hard topology spread constraints.
func (r *round) spreads(n int) bool {
	for i := range r.in.spread.hard {
		c := &r.in.spread.hard[i]
		x := c.topo.domain[n]
		if x == noDomain {
			return false
		}
		if int64(r.buf.byDomain[i][x])+c.self-r.buf.min[i] > c.maxSkew {
			return false
		}
	}
	return true
}

// agrees is the filter of required inter-pod affinity and anti-affinity, the
// newcomer's and that of the pods that stand.
func (r *round) agrees(n int) bool {
	slot := len(r.in.spread.hard)
	found := true
	for _, t := range r.in.inter.required {
		x := t.topo.domain[n]
		if x == noDomain {
			return false
		}
		found = found && r.buf.byDomain[slot][x] > 0
		slot++
	}
	// The first of a group that wants its own kind near may go anywhere.
	if !found && (!r.bootstrap || !r.in.inter.matchesSelf) {
		return false
	}
	for _, list := range [...][]placedTerm{r.in.inter.anti, r.in.inter.existingAnti} {
		for _, t := range list {
			if x := t.topo.domain[n]; x != noDomain && r.buf.byDomain[slot][x] > 0 {
				return false
			}
			slot++
		}
	}
	return true
}
