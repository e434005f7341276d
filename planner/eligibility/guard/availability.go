package guard

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Without its last Ready pod a Service has no endpoint.
var lastReadyPod = Rule{plan.LastReadyPod, PlanScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectLastReady] || !in.Pod.Ready {
		return "", false
	}
	for _, id := range in.Pod.Services {
		svc := &in.Snapshot.Services[id]
		if ReadyPods(in.Snapshot, svc) < 2 {
			return "the pod is the last Ready pod of Service " + svc.Object.Name, true
		}
	}
	return "", false
}}

// ReadyPods counts the pods of a Service that are Ready and not terminating.
func ReadyPods(s *cluster.Snapshot, svc *cluster.Service) int {
	n := 0
	for _, id := range svc.Pods {
		if p := &s.Pods[id]; p.Ready && !p.Terminating {
			n++
		}
	}
	return n
}

// With the protection PodsWithoutPDB, users require a PodDisruptionBudget for every eviction.
var noPodDisruptionBudget = Rule{plan.NoPodDisruptionBudget, PodScope, func(in Input) (string, bool) {
	return "no PodDisruptionBudget selects the pod (guards.protect: PodsWithoutPDB)",
		len(in.Pod.Budgets) == 0 && in.Options.Protect[ProtectWithoutPDB]
}}
