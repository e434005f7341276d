package descheduler

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	core "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"sigs.k8s.io/descheduler/pkg/api"
	peer "sigs.k8s.io/descheduler/pkg/descheduler"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	nodeutil "sigs.k8s.io/descheduler/pkg/descheduler/node"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
	"sigs.k8s.io/descheduler/pkg/features"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	frameworkprofile "sigs.k8s.io/descheduler/pkg/framework/profile"

	"github.com/evenkeel-project/evenkeel/cluster"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	peer.SetupPlugins()
	os.Exit(m.Run())
}

// runPeer runs one cycle of the descheduler with a policy, and returns the names of the evicted
// pods in order. Names of pods are unique in the clusters of these tests.
func runPeer(t *testing.T, o *cluster.Objects, policy string) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := fake.NewSimpleClientset(fakeObjects(o)...)
	var evicted []string
	client.PrependReactor("create", "pods", func(a core.Action) (bool, runtime.Object, error) {
		if a.GetSubresource() != "eviction" {
			return false, nil, nil
		}
		evicted = append(evicted, a.(core.CreateAction).GetObject().(*policyv1.Eviction).Name)
		return true, nil, nil
	})
	p, err := loadPeerPolicy(t, policy, client)
	if err != nil {
		t.Fatalf("the descheduler rejects the policy: %v\n%s", err, policy)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	podInformer := factory.Core().V1().Pods().Informer()
	factory.Core().V1().PersistentVolumeClaims().Informer()
	nodeLister := factory.Core().V1().Nodes().Lister()
	byNode, err := podutil.BuildGetPodsAssignedToNodeFunc(podInformer)
	check(t, err)
	gates := featuregate.NewFeatureGate()
	check(t, gates.Add(map[featuregate.Feature]featuregate.FeatureSpec{features.EvictionsInBackground: {PreRelease: featuregate.Alpha}}))
	evictor, err := evictions.NewPodEvictor(ctx, client, &events.FakeRecorder{}, podInformer, gates, evictions.NewOptions().
		WithMaxPodsToEvictPerNode(p.MaxNoOfPodsToEvictPerNode).WithMaxPodsToEvictPerNamespace(p.MaxNoOfPodsToEvictPerNamespace).
		WithMaxPodsToEvictTotal(p.MaxNoOfPodsToEvictTotal).WithGracePeriodSeconds(p.GracePeriodSeconds))
	check(t, err)
	var runs []func(context.Context, []*corev1.Node) error
	var balance []func(context.Context, []*corev1.Node) error
	for _, profile := range p.Profiles {
		f, err := frameworkprofile.NewProfile(ctx, profile, pluginregistry.PluginRegistry, frameworkprofile.WithClientSet(client),
			frameworkprofile.WithSharedInformerFactory(factory), frameworkprofile.WithPodEvictor(evictor),
			frameworkprofile.WithGetPodsAssignedToNodeFnc(byNode))
		check(t, err)
		runs = append(runs, func(ctx context.Context, n []*corev1.Node) error { return f.RunDeschedulePlugins(ctx, n).Err })
		balance = append(balance, func(ctx context.Context, n []*corev1.Node) error { return f.RunBalancePlugins(ctx, n).Err })
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	selector := ""
	if p.NodeSelector != nil {
		selector = *p.NodeSelector
	}
	nodes, err := nodeutil.ReadyNodes(ctx, client, nodeLister, selector)
	check(t, err)
	if len(nodes) < 2 { // as the program does
		return nil
	}
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	for _, run := range append(runs, balance...) {
		check(t, run(ctx, nodes))
	}
	return evicted
}

func loadPeerPolicy(t *testing.T, policy string, client *fake.Clientset) (*api.DeschedulerPolicy, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	check(t, os.WriteFile(file, []byte(policy), 0o600))
	return peer.LoadPolicyConfig(file, client, pluginregistry.PluginRegistry)
}

// fakeObjects returns copies of the objects that the descheduler reads.
func fakeObjects(o *cluster.Objects) (out []runtime.Object) {
	for _, x := range o.Nodes {
		out = append(out, x.DeepCopy())
	}
	for _, x := range o.Pods {
		out = append(out, x.DeepCopy())
	}
	for _, x := range o.Namespaces {
		out = append(out, x.DeepCopy())
	}
	for _, x := range o.PriorityClasses {
		out = append(out, x.DeepCopy())
	}
	for _, x := range o.PodDisruptionBudgets {
		out = append(out, x.DeepCopy())
	}
	return out
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
