package conformance

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// maxPasses bounds the passes of one case.
const maxPasses = 20

// run is what Evenkeel does in a case.
type run struct {
	// objects are the completed objects of the case, before any move.
	objects objects
	conf    string // the converted configuration
	// policyError is the error about a policy that cannot be converted. Nothing is planned then.
	policyError string
	// moved lists the pods that the passes move, in order.
	moved []string
	// removed holds the moved pods that had ended, so that no replacement follows.
	removed map[string]bool
	// passes counts the passes that move pods.
	passes int
	// rejected holds the reasons of the last pass, by pod.
	rejected map[string][]plan.Reason
	// last is the plan of the last pass, and unmet counts the goals that it leaves unmet.
	last  plan.Plan
	unmet int
}

// runCase converts the policy of a case and plans for its objects.
func runCase(c *recordedCase) (*run, error) {
	o, err := completedObjects(c)
	if err != nil {
		return nil, err
	}
	r := &run{objects: objects{o}, removed: map[string]bool{}}
	if r.conf, err = convertedConfig(c); err != nil {
		r.policyError = err.Error()
		return r, nil
	}
	conf, err := config.Load(c.ID, []byte(r.conf))
	if err != nil {
		return nil, fmt.Errorf("loading the converted configuration: %w\n%s", err, r.conf)
	}
	addUsage(o, c, conf)
	return r, r.planPasses(conf, o, c.Now)
}

// planPasses plans the first pass, and further ones while pods wait only for the next pass. The
// limits of one pass hold for all of them together.
func (r *run) planPasses(conf *config.Config, o *cluster.Objects, now time.Time) error {
	opts := conf.PlannerOptions()
	opts.SamplesPerCode, opts.Trust.PlanUntrusted = -1, true
	p := planner.New(opts)
	var done []plan.Move
	for range maxPasses {
		s, err := cluster.New(o)
		if err != nil {
			return err
		}
		goals := controller.Goals(s, conf.BuildStrategies(), nil)
		if len(done) == 0 {
			r.last = p.Plan(s, plan.PlannerState{}, goals, now)
		} else {
			r.last = p.Replan(s, plan.PlannerState{}, goals, done, now, now)
		}
		r.record(r.last)
		if len(r.last.Moves) == 0 || r.last.Rejections.Counts[plan.WaitsForNextPass] == 0 {
			return nil
		}
		done = append(done, r.last.Moves...)
		o = afterMoves(o, r.last.Moves, now)
	}
	return fmt.Errorf("pods still wait for the next pass after %d passes", maxPasses)
}

// record adds a pass.
func (r *run) record(p plan.Plan) {
	if len(p.Moves) > 0 {
		r.passes++
	}
	for _, m := range p.Moves {
		key := m.Pod.Namespace + "/" + m.Pod.Name
		r.moved = append(r.moved, key)
		if m.Removal != "" {
			r.removed[key] = true
		}
	}
	r.rejected, r.unmet = map[string][]plan.Reason{}, 0
	for _, x := range p.Rejections.Samples {
		key := x.Pod.Namespace + "/" + x.Pod.Name
		r.rejected[key] = append(r.rejected[key], x.Reason)
	}
	for _, excess := range p.After.Excess {
		if excess > 0 {
			r.unmet++
		}
	}
}

// afterMoves returns the objects after the moves. Each replacement has just started on its
// predicted node. A replacement without a predicted place is Pending, and a removed pod has none.
func afterMoves(o *cluster.Objects, moves []plan.Move, now time.Time) *cluster.Objects {
	byUID := map[types.UID]plan.Move{}
	for _, m := range moves {
		byUID[types.UID(m.Pod.UID)] = m
	}
	out := *o
	out.Pods = nil
	for _, p := range o.Pods {
		m, moved := byUID[p.UID]
		switch {
		case !moved:
			out.Pods = append(out.Pods, p)
		case m.Removal == "":
			out.Pods = append(out.Pods, replacementOf(p, m.To, now))
		}
	}
	return &out
}

// replacementOf returns a new pod with the spec of an evicted pod. An empty node means that the pod
// is Pending.
func replacementOf(p *corev1.Pod, node string, now time.Time) *corev1.Pod {
	p = p.DeepCopy()
	p.Name, p.UID, p.CreationTimestamp = p.Name+"-replaced", p.UID+"-replaced", metav1.NewTime(now)
	p.Spec.NodeName = node
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &p.CreationTimestamp,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	if node == "" {
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: p.CreationTimestamp}}}
	}
	return p
}

// objects finds objects by their names.
type objects struct{ *cluster.Objects }

// pod returns the pod with this namespace and name.
func (o objects) pod(key string) *corev1.Pod {
	for _, p := range o.Pods {
		if p.Namespace+"/"+p.Name == key {
			return p
		}
	}
	return &corev1.Pod{}
}

// node returns the node with this name, or nil.
func (o objects) node(name string) *corev1.Node {
	for _, n := range o.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}
