package planverifier_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

var writtenRechecks = flag.String("rechecks", "", "a file for the results of Recheck on changed snapshots of -all-strategy-plans random clusters")

// TestWriteRechecks writes what Recheck keeps and drops after each of several changes of the cluster. The files of two
// commits are equal if both keep and drop the same moves, with the same landings and reasons.
func TestWriteRechecks(t *testing.T) {
	if *writtenRechecks == "" {
		t.Skip("without -args -rechecks FILE there is nothing to write to")
	}
	f := must.Get(os.Create(*writtenRechecks))(t)
	defer f.Close()
	out, snapshots, kept, dropped := json.NewEncoder(f), 0, 0, 0
	for seed := range uint64(*allStrategyPlans) {
		m := makeAllCase(t, seed)
		p := planner.New(m.conf.PlannerOptions())
		plans := append([]plan.Proposal{{Plan: m.plan}}, m.plan.Proposals...)
		for change := range changes {
			o := *m.o
			changes[change](rand.New(rand.NewPCG(seed, uint64(change))), &o, m.plan)
			s := must.Get(cluster.New(&o))(t)
			snapshots++
			goals := controller.Goals(s, m.conf.BuildStrategies(), nil)
			for _, of := range plans {
				for wave := 1; slices.ContainsFunc(of.Plan.Moves, func(m plan.Move) bool { return m.Wave >= wave }); wave++ {
					ok, outcomes := p.Recheck(s, m.past, goals, of.Plan, wave, o.TakenAt)
					kept, dropped = kept+len(ok), dropped+len(outcomes)
					must.Succeed(t, out.Encode(map[string]any{"seed": seed, "change": change, "mode": of.Mode, "wave": wave, "kept": ok, "dropped": outcomes}))
				}
			}
		}
	}
	t.Logf("%d changed snapshots: %d moves kept, %d dropped", snapshots, kept, dropped)
}

// changes are what may happen to a cluster between the plan and its execution.
var changes = []func(r *rand.Rand, o *cluster.Objects, p plan.Plan){
	func(*rand.Rand, *cluster.Objects, plan.Plan) {}, // nothing
	func(r *rand.Rand, o *cluster.Objects, _ plan.Plan) { // a node takes no more pods
		o.Nodes = slices.Clone(o.Nodes)
		i := r.IntN(len(o.Nodes))
		o.Nodes[i] = o.Nodes[i].DeepCopy()
		o.Nodes[i].Spec.Unschedulable = true
	},
	func(r *rand.Rand, o *cluster.Objects, p plan.Plan) { // a pod of the plan, and one in five others, are gone
		o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(pod *corev1.Pod) bool {
			return len(p.Moves) > 0 && string(pod.UID) == p.Moves[0].Pod.UID || r.IntN(5) == 0
		})
	},
	func(r *rand.Rand, o *cluster.Objects, p plan.Plan) { // new pods take the room of replacements
		o.Pods = slices.Clone(o.Pods)
		for i, m := range p.Moves {
			if k := slices.IndexFunc(o.Pods, func(pod *corev1.Pod) bool { return string(pod.UID) == m.Pod.UID }); k >= 0 && m.To != "" && r.IntN(2) == 0 {
				pod := o.Pods[k].DeepCopy()
				pod.Name, pod.UID, pod.Spec.NodeName = fmt.Sprintf("%s-new-%d", pod.Name, i), types.UID(fmt.Sprintf("new-%d", i)), m.To
				pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}
				o.Pods = append(o.Pods, pod)
			}
		}
	},
}
