package oracle

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

var clusters = flag.Int("oracle.clusters", 400, "random clusters to compare on")

// notModelled are plugins that never refuse or score a pod that placement
// supports.
var notModelled = []string{"DynamicResources", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "VolumeRestrictions", "DefaultPreemption"}

// real is what the real plugins say about one node.
type real struct {
	feasible bool
	scores   map[string]int64 // weighted
	total    int64
}

// ask runs the default profile's filters and scores for a pod.
func ask(t *testing.T, o *cluster.Objects, standing []*corev1.Pod, pod *corev1.Pod) map[string]real {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	profile := cfg.Profiles[0]
	profile.Plugins.MultiPoint.Enabled = slices.DeleteFunc(profile.Plugins.MultiPoint.Enabled, func(p config.Plugin) bool {
		return slices.Contains(notModelled, p.Name)
	})
	var objects []runtime.Object
	for _, x := range o.Namespaces {
		objects = append(objects, x)
	}
	for _, x := range o.Services {
		objects = append(objects, x)
	}
	for _, x := range o.ReplicaSets {
		objects = append(objects, x)
	}
	for _, x := range o.StatefulSets {
		objects = append(objects, x)
	}
	for _, x := range o.ReplicationControllers {
		objects = append(objects, x)
	}
	cs := fake.NewClientset(objects...)
	inf := informers.NewSharedInformerFactory(cs, 0)
	fw, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &profile, frameworkruntime.WithClientSet(cs),
		frameworkruntime.WithInformerFactory(inf), frameworkruntime.WithSnapshotSharedLister(cache.NewSnapshot(standing, o.Nodes)))
	if err != nil {
		t.Fatal(err)
	}
	inf.Core().V1().Namespaces().Informer()
	inf.Start(ctx.Done())
	inf.WaitForCacheSync(ctx.Done())
	return schedule(ctx, t, fw, pod)
}

func schedule(ctx context.Context, t *testing.T, fw framework.Framework, pod *corev1.Pod) map[string]real {
	t.Helper()
	state := framework.NewCycleState()
	nodes, err := fw.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]real{}
	for _, n := range nodes {
		out[n.Node().Name] = real{}
	}
	pre, status, _ := fw.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			t.Fatal(status.AsError())
		}
		return out
	}
	var feasible []fwk.NodeInfo
	for _, n := range nodes {
		if !pre.AllNodes() && !pre.NodeNames.Has(n.Node().Name) {
			continue
		}
		if fw.RunFilterPlugins(ctx, state, pod, n).IsSuccess() {
			feasible = append(feasible, n)
		}
	}
	if len(feasible) == 0 {
		return out
	}
	if s := fw.RunPreScorePlugins(ctx, state, pod, feasible); !s.IsSuccess() {
		t.Fatal(s.AsError())
	}
	scores, s := fw.RunScorePlugins(ctx, state, pod, feasible)
	if !s.IsSuccess() {
		t.Fatal(s.AsError())
	}
	for _, x := range scores {
		r := real{feasible: true, scores: map[string]int64{}, total: x.TotalScore}
		for _, p := range x.Scores {
			r.scores[p.Name] = p.Score
		}
		out[x.Name] = r
	}
	return out
}

// TestPlacementEqualsScheduler evicts one random pod of each random cluster and
// compares every node in both victim states.
func TestPlacementEqualsScheduler(t *testing.T) {
	metrics.Register()
	compared, feasible, refused := 0, 0, map[placement.Filter]int{}
	for seed := range *clusters {
		o := generate(int64(seed))
		snap, err := cluster.New(o)
		if err != nil {
			t.Fatalf("cluster %d: %v", seed, err)
		}
		w := placement.NewWorld(snap, placement.Options{})
		victim := &snap.Pods[(seed*7)%len(snap.Pods)]
		if victim.Terminating {
			continue
		}
		if why, ok := w.Supported(victim.ID); !ok {
			t.Fatalf("cluster %d: %s is not supported: %s", seed, victim.Object.Name, why)
		}
		verdicts := w.Explain(victim.ID)
		for _, gone := range []bool{false, true} {
			want := ask(t, o, standing(o, victim.Object, gone), newcomer(victim.Object))
			for _, v := range verdicts {
				if v.Gone != gone {
					continue
				}
				name := snap.Nodes[v.Node].Name
				compared++
				if diff := differ(v, want[name]); diff != "" {
					t.Errorf("cluster %d, pod %s, gone %v, node %s: %s", seed, victim.Object.Name, gone, name, diff)
				}
				if v.RefusedBy == "" {
					feasible++
				}
				refused[v.RefusedBy]++
			}
		}
		if t.Failed() && seed > 50 {
			break
		}
	}
	t.Logf("compared %d verdicts on nodes, %d feasible; refusals %v", compared, feasible, refused)
	for _, f := range []placement.Filter{placement.NodeUnschedulable, placement.TaintToleration, placement.NodeAffinity,
		placement.NodeResourcesFit, placement.PodTopologySpread, placement.InterPodAffinity} {
		if *clusters >= 400 && refused[f] == 0 {
			t.Errorf("no cluster tests the filter %s", f)
		}
	}
}

// standing lists the bound pods, the victim terminating or left out.
func standing(o *cluster.Objects, victim *corev1.Pod, gone bool) (out []*corev1.Pod) {
	for _, p := range o.Pods {
		switch {
		case p.Spec.NodeName == "" || p == victim && gone:
			continue
		case p == victim:
			p = p.DeepCopy()
			now := metav1.Unix(1, 0)
			p.DeletionTimestamp = &now
		}
		out = append(out, p)
	}
	return out
}

func newcomer(victim *corev1.Pod) *corev1.Pod {
	p := victim.DeepCopy()
	p.Name, p.UID, p.Spec.NodeName = "newcomer", "newcomer", ""
	p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return p
}

func differ(got placement.NodeVerdict, want real) string {
	if (got.RefusedBy == "") != want.feasible {
		return fmt.Sprintf("refused by %q (%s), feasible for the scheduler: %v", got.RefusedBy, got.Why, want.feasible)
	}
	for _, s := range got.Scores {
		if s.Normalised*s.Weight != want.scores[s.Plugin] {
			return fmt.Sprintf("%s scores %d x %d, the scheduler %d", s.Plugin, s.Normalised, s.Weight, want.scores[s.Plugin])
		}
	}
	if got.Total != want.total {
		return fmt.Sprintf("total %d, the scheduler's %d (%v)", got.Total, want.total, want.scores)
	}
	return ""
}
