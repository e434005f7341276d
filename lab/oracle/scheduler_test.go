package oracle

import (
	"context"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// left are the plugins of the default profile that are not asked: claims for
// devices are not foretold, and nothing is preempted.
var left = []string{"DynamicResources", "DefaultPreemption"}

// real is what the scheduler's plugins say about one node.
type real struct {
	feasible bool
	scores   map[string]int64 // weighted
	total    int64
}

// scheduler is the default profile of the real scheduler over objects that are
// put straight into the stores of its informers.
type scheduler struct {
	fw        framework.Framework
	inf       informers.SharedInformerFactory
	nodes     *standingPods
	nominated *nominator
}

// standingPods is the scheduler's view of nodes and pods; it is replaced for
// every case.
type standingPods struct{ *schedulercache.Snapshot }

// nominator knows the pods that wait for a node.
type nominator struct {
	fwk.PodNominator
	byNode map[string][]fwk.PodInfo
	except *corev1.Pod
}

func (n *nominator) NominatedPodsForNode(node string) (out []fwk.PodInfo) {
	for _, p := range n.byNode[node] {
		if p.GetPod() != n.except {
			out = append(out, p)
		}
	}
	return out
}

func newScheduler(t *testing.T) *scheduler {
	t.Helper()
	cfg, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	return newSchedulerOf(t, cfg.Profiles[0])
}

// newSchedulerOf is the same for another profile.
func newSchedulerOf(t *testing.T, profile config.KubeSchedulerProfile) *scheduler {
	t.Helper()
	metrics.Register()
	profile.Plugins.MultiPoint.Enabled = slices.DeleteFunc(profile.Plugins.MultiPoint.Enabled, func(p config.Plugin) bool {
		return slices.Contains(left, p.Name)
	})
	client := fake.NewClientset()
	s := &scheduler{inf: informers.NewSharedInformerFactory(client, 0), nominated: &nominator{}}
	s.nodes = &standingPods{schedulercache.NewEmptySnapshot()}
	var err error
	s.fw, err = frameworkruntime.NewFramework(t.Context(), plugins.NewInTreeRegistry(), &profile, frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(s.inf), frameworkruntime.WithSnapshotSharedLister(s.nodes),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(s.inf.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithPodNominator(s.nominated), frameworkruntime.WithParallelism(1), frameworkruntime.WithLogger(klog.Background()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fill replaces what an informer knows.
func fill[T any](t *testing.T, inf cache.SharedIndexInformer, list []T) {
	t.Helper()
	all := make([]any, len(list))
	for i := range list {
		all[i] = list[i]
	}
	if err := inf.GetIndexer().Replace(all, "1"); err != nil {
		t.Fatal(err)
	}
}

// load makes the objects of a cluster known.
func (s *scheduler) load(t *testing.T, o *cluster.Objects) {
	t.Helper()
	core, apps, storage := s.inf.Core().V1(), s.inf.Apps().V1(), s.inf.Storage().V1()
	fill(t, core.Nodes().Informer(), o.Nodes)
	fill(t, core.Namespaces().Informer(), o.Namespaces)
	fill(t, core.Services().Informer(), o.Services)
	fill(t, core.ReplicationControllers().Informer(), o.ReplicationControllers)
	fill(t, core.PersistentVolumes().Informer(), o.PersistentVolumes)
	fill(t, core.PersistentVolumeClaims().Informer(), o.PersistentVolumeClaims)
	fill(t, apps.ReplicaSets().Informer(), o.ReplicaSets)
	fill(t, apps.StatefulSets().Informer(), o.StatefulSets)
	fill(t, storage.StorageClasses().Informer(), o.StorageClasses)
	fill(t, storage.CSINodes().Informer(), o.CSINodes)
	fill(t, storage.CSIDrivers().Informer(), o.CSIDrivers)
	fill(t, storage.VolumeAttachments().Informer(), o.VolumeAttachments)
	fill(t, storage.CSIStorageCapacities().Informer(), o.CSIStorageCapacities)
	s.nominated.byNode = map[string][]fwk.PodInfo{}
	for _, p := range o.Pods {
		n := p.Status.NominatedNodeName
		if n == "" || p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
			continue
		}
		pi, err := framework.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		s.nominated.byNode[n] = append(s.nominated.byNode[n], pi)
	}
}

// replace asks where the replacement of the victim may go.
func (s *scheduler) replace(t *testing.T, o *cluster.Objects, victim *corev1.Pod, gone bool) map[string]real {
	t.Helper()
	s.nodes.Snapshot = schedulercache.NewSnapshot(standing(o, victim, gone), o.Nodes)
	s.nominated.except = victim
	pod := newcomer(victim)
	claims := s.inf.Core().V1().PersistentVolumeClaims().Informer().GetIndexer()
	for _, c := range ephemeralClaims(o, pod) {
		if err := claims.Add(c); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = claims.Delete(c) }()
	}
	return s.place(t.Context(), t, pod)
}

func (s *scheduler) place(ctx context.Context, t *testing.T, pod *corev1.Pod) map[string]real {
	t.Helper()
	state := framework.NewCycleState()
	nodes, err := s.nodes.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]real{}
	for _, n := range nodes {
		out[n.Node().Name] = real{}
	}
	pre, status, _ := s.fw.RunPreFilterPlugins(ctx, state, pod)
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
		switch status := s.fw.RunFilterPluginsWithNominatedPods(ctx, state, pod, n); {
		case status.IsSuccess():
			feasible = append(feasible, n)
		case !status.IsRejected():
			t.Fatal(status.AsError())
		}
	}
	if len(feasible) > 0 {
		s.score(ctx, t, state, pod, feasible, out)
	}
	return out
}

func (s *scheduler) score(ctx context.Context, t *testing.T, state fwk.CycleState, pod *corev1.Pod, feasible []fwk.NodeInfo, out map[string]real) {
	t.Helper()
	if st := s.fw.RunPreScorePlugins(ctx, state, pod, feasible); !st.IsSuccess() {
		t.Fatal(st.AsError())
	}
	scores, st := s.fw.RunScorePlugins(ctx, state, pod, feasible)
	if !st.IsSuccess() {
		t.Fatal(st.AsError())
	}
	for _, x := range scores {
		r := real{feasible: true, scores: map[string]int64{}, total: x.TotalScore}
		for _, p := range x.Scores {
			r.scores[p.Name] = p.Score
		}
		out[x.Name] = r
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

// ephemeralClaims are the claims that a controller makes for a new pod.
func ephemeralClaims(o *cluster.Objects, p *corev1.Pod) (out []*corev1.PersistentVolumeClaim) {
	yes := true
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.Ephemeral == nil {
			continue
		}
		c := &corev1.PersistentVolumeClaim{Spec: *v.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy()}
		c.Namespace, c.Name = p.Namespace, p.Name+"-"+v.Name
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}}
		if c.Spec.StorageClassName == nil {
			for _, class := range o.StorageClasses {
				if class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
					c.Spec.StorageClassName = &class.Name
				}
			}
		}
		out = append(out, c)
	}
	return out
}
