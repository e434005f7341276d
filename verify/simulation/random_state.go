package simulation

import (
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// RandomState returns a planner state for a Mixed cluster. The state contains evictions of the last
// two hours, and backoffs of which some have ended. Half of the states are empty.
func RandomState(r *rand.Rand, o *cluster.Objects) plan.PlannerState {
	st := plan.PlannerState{APIVersion: plan.APIVersion, Kind: plan.PlannerStateKind}
	if r.IntN(2) == 0 {
		return st
	}
	for _, w := range topLevelOwners(o) {
		if r.IntN(4) == 0 {
			ago := time.Duration(r.IntN(120)) * time.Minute
			st.Evictions = append(st.Evictions, plan.EvictionCount{Workload: w, Minute: o.TakenAt.Add(-ago).UTC().Truncate(time.Minute),
				Count: 1 + r.IntN(3)})
		}
		if r.IntN(12) == 0 {
			since := o.TakenAt.Add(-time.Duration(r.IntN(60)) * time.Minute).UTC()
			st.Backoffs = append(st.Backoffs, plan.Backoff{Workload: w, Since: since,
				Until:    since.Add(pickRandom(r, 10*time.Minute, 20*time.Minute, 2*time.Hour)),
				Failures: 1 + r.IntN(4), Reason: plan.Reason{Code: plan.LandedElsewhere, Message: "it landed on n00"}})
		}
	}
	st.Sort()
	return st
}

// topLevelOwners returns the workloads without an owner, and the bare pods.
func topLevelOwners(o *cluster.Objects) []plan.ObjectRef {
	return slices.Concat(
		unowned(o.Deployments, "apps/v1", "Deployment"),
		unowned(o.ReplicaSets, "apps/v1", "ReplicaSet"),
		unowned(o.StatefulSets, "apps/v1", "StatefulSet"),
		unowned(o.ReplicationControllers, "v1", "ReplicationController"),
		unowned(o.Jobs, "batch/v1", "Job"),
		unowned(o.CronJobs, "batch/v1", "CronJob"),
		unowned(o.Pods, "v1", "Pod"))
}

func unowned[T metav1.Object](objects []T, apiVersion, kind string) []plan.ObjectRef {
	var out []plan.ObjectRef
	for _, x := range objects {
		if len(x.GetOwnerReferences()) == 0 {
			out = append(out, plan.ObjectRef{APIVersion: apiVersion, Kind: kind, Namespace: x.GetNamespace(), Name: x.GetName()})
		}
	}
	return out
}
