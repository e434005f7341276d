package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Rule is one reason not to evict a pod.
type Rule struct {
	Code  plan.Code
	Scope Scope
	// Check reports whether the rule forbids the eviction. The message contains the reason.
	Check func(in Input) (message string, refused bool)
}

// Scope is the set of objects that determine the result of a rule, besides the options and the time.
type Scope uint8

// If a pod passes every rule, Check skips the rules with NodeScope for other pods on the same node, the rules with
// WorkloadScope for similar pods of the same workload, and the rules with TemplateScope for pods of the same template.
// Check skips the rules with OddPodScope and RequestScope for most pods, and never those with PodScope or PlanScope. If
// a rule with WorkloadScope or TemplateScope refuses a pod, other pods of its template get the same reason, so the
// message must not be about one pod.
const (
	PlanScope     Scope = iota // the result may depend on any object of the snapshot
	PodScope                   // the result depends on the pod and the objects that the pod refers to
	WorkloadScope              // the result is the same for all pods with the same ownerKey
	NodeScope                  // the result is the same for all pods on a node
	TemplateScope              // the result is the same for all pods with the same template
	OddPodScope                // the rule refuses no pod with Pod.Ordinary
	RequestScope               // the rule refuses no pod without a request in an annotation

	lastScope = RequestScope
)

// scopes is a set of scopes.
type scopes uint8

func (s *scopes) add(x Scope)     { *s |= 1 << x }
func (s scopes) has(x Scope) bool { return s&(1<<x) != 0 }

// Input has the pod and all data that a rule may read.
type Input struct {
	Snapshot *cluster.Snapshot
	Pod      *cluster.Pod
	Now      time.Time
	Options  *Options
	Cache    *Cache // required
	// OwnEvictions holds the UIDs of the pods that Evenkeel evicts in runs that are not closed.
	OwnEvictions map[string]bool
	// RemovesEnded says that a goal asks for the removal of the pod after it has ended.
	RemovesEnded bool
	// ReplacesUnready says that the pod is not Ready and that a goal asks that this pod leaves. The pod itself then
	// does not count as unavailable, because its eviction makes no further pod unavailable.
	ReplacesUnready bool

	annotations *annotation.Pod // set by withAnnotations
	// ownerPassed says that a pod with the same ownerKey has passed every rule.
	ownerPassed bool
}

// withAnnotations parses the pod's annotations once for all rules.
func (in Input) withAnnotations() Input {
	in.annotations = in.podAnnotations()
	return in
}

// podAnnotations returns the requests in the annotations of the pod, its owners and its namespace.
func (in Input) podAnnotations() *annotation.Pod {
	if in.annotations != nil {
		return in.annotations
	}
	return in.Cache.Annotations.OfPod(in.Snapshot, in.Pod, in.Options.TimeZone)
}

// nodeAnnotations returns the requests in the annotations of the pod's node.
func (in Input) nodeAnnotations() *annotation.Node {
	return in.Cache.Annotations.OfNode(in.Snapshot, in.Pod.Node)
}

// countPods counts the pods of a workload.
func (in Input) countPods(w *cluster.Workload) podCounts {
	n, known := in.Cache.podCounts[w.ID]
	if !known {
		n = newPodCounts(in.Snapshot, w, in.Now)
		in.Cache.podCounts[w.ID] = n
	}
	return n
}

// isConfiguredController is isConfigured for the kind of the workload.
func (in Input) isConfiguredController(w *cluster.Workload) bool {
	return in.isConfigured(w.APIVersion, w.Kind)
}

// isConfigured reports whether the kind is a known one of another project, or guards.controllers lists it.
func (in Input) isConfigured(apiVersion, kind string) bool {
	gk := groupKind(apiVersion, kind)
	return otherControllers[gk] || len(in.Options.Controllers) > 0 && slices.Contains(in.Options.Controllers, configName(gk))
}

func groupKind(apiVersion, kind string) schema.GroupKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()
}

// configName returns the name of a kind in guards.controllers, "group/Kind". The name of the core group is empty.
func configName(k schema.GroupKind) string { return k.Group + "/" + k.Kind }

// maxCauses limits the causes in one message.
const maxCauses = 3

// joinCauses lists up to maxCauses causes and the number of further causes.
func joinCauses[T fmt.Stringer](causes []T) string {
	var names []string
	for _, c := range causes[:min(len(causes), maxCauses)] {
		names = append(names, c.String())
	}
	if hidden := len(causes) - len(names); hidden > 0 {
		names = append(names, fmt.Sprintf("%d more", hidden))
	}
	return strings.Join(names, ", and ")
}
