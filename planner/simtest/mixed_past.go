package simtest

import (
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Remembered is what might be remembered of former passes over a Mixed cluster:
// evictions of up to two hours ago, and rests that are over or not. Half of
// the time it is nothing.
func Remembered(r *rand.Rand, o *cluster.Objects) plan.PlannerState {
	st := plan.PlannerState{APIVersion: plan.APIVersion, Kind: plan.StateKind}
	if r.IntN(2) == 0 {
		return st
	}
	for _, w := range tops(o) {
		if r.IntN(4) == 0 {
			ago := time.Duration(r.IntN(120)) * time.Minute
			st.Evictions = append(st.Evictions, plan.EvictionCount{Workload: w, Minute: o.TakenAt.Add(-ago).UTC().Truncate(time.Minute), Count: 1 + r.IntN(3)})
		}
		if r.IntN(12) == 0 {
			since := o.TakenAt.Add(-time.Duration(r.IntN(60)) * time.Minute).UTC()
			st.Backoffs = append(st.Backoffs, plan.Backoff{Workload: w, Since: since, Until: since.Add(pick(r, 10*time.Minute, 20*time.Minute, 2*time.Hour)),
				Failures: 1 + r.IntN(4), Reason: plan.Reason{Code: plan.LandedElsewhere, Message: "it landed on n00"}})
		}
	}
	st.Sort()
	return st
}

// tops are the workloads that nothing else owns, and pods of none.
func tops(o *cluster.Objects) []plan.ObjectRef {
	var out []plan.ObjectRef
	add := func(apiVersion, kind string, m metav1.ObjectMeta) {
		if len(m.OwnerReferences) == 0 {
			out = append(out, plan.ObjectRef{APIVersion: apiVersion, Kind: kind, Namespace: m.Namespace, Name: m.Name})
		}
	}
	for _, x := range o.Deployments {
		add("apps/v1", "Deployment", x.ObjectMeta)
	}
	for _, x := range o.ReplicaSets {
		add("apps/v1", "ReplicaSet", x.ObjectMeta)
	}
	for _, x := range o.StatefulSets {
		add("apps/v1", "StatefulSet", x.ObjectMeta)
	}
	for _, x := range o.ReplicationControllers {
		add("v1", "ReplicationController", x.ObjectMeta)
	}
	for _, x := range o.Jobs {
		add("batch/v1", "Job", x.ObjectMeta)
	}
	for _, x := range o.CronJobs {
		add("batch/v1", "CronJob", x.ObjectMeta)
	}
	for _, x := range o.Pods {
		add("v1", "Pod", x.ObjectMeta)
	}
	return out
}
