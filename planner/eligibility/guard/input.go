package guard

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Scope is what a rule looks at. A rule that looks only at the node, or only at the
// workload, gives the same answer for all pods of that node or workload.
type Scope uint8

const (
	podScope  Scope = 0
	nodeScope Scope = 1 << (iota - 1)
	// workloadScope covers the owners, the kind of controller, the workload and the
	// namespace of a pod.
	workloadScope
)

// Input is all that a rule may look at.
type Input struct {
	Snapshot *cluster.Snapshot
	Pod      *cluster.Pod
	Now      time.Time
	Options  *Options
	// Cache is shared by inputs of the same snapshot, options and time; nil is fine.
	Cache *Cache

	requests *annotation.Pod // read once; see asked
}

// asked is what people ask for the pod.
func (in Input) asked() annotation.Pod {
	if in.requests != nil {
		return *in.requests
	}
	return in.known().OfPod(in.Snapshot, in.Pod, in.Options.TimeZone)
}

// node is what people ask for the pod's node.
func (in Input) node() *annotation.Node { return in.known().OfNode(in.Snapshot, in.Pod.Node) }

func (in Input) known() *annotation.Cache {
	if in.Cache == nil {
		return nil
	}
	return in.Cache.Annotations
}

// read prepares what several rules look at.
func (in Input) read() Input {
	r := in.asked()
	in.requests = &r
	return in
}

// Rule is one reason for which a pod stays. Check returns a sentence for
// people when the pod is refused.
type Rule struct {
	Code plan.Code
	// Scope says what the rule looks at. Check skips a rule if another pod of the same
	// node or workload has passed it.
	Scope Scope
	Check func(in Input) (message string, refused bool)
}
