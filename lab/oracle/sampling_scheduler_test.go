package oracle

import (
	"math/rand"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/lab/oracle/real"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// samplingScheduler is the real scheduler without its queue and API calls. The scheduler samples nodes, continues where
// the last sample ended, and mostly chooses the one of several equal nodes that it examined first.
type samplingScheduler struct {
	*kubescheduler.Scheduler
	nodes *schedulercache.Snapshot
}

// newSamplingScheduler returns a scheduler that has already placed a random number of pods.
func newSamplingScheduler(t *testing.T, o *cluster.Objects, seed int64) *samplingScheduler {
	t.Helper()
	client := fake.NewClientset()
	inf := informers.NewSharedInformerFactory(client, 0)
	r := &samplingScheduler{nodes: schedulercache.NewEmptySnapshot()}
	var err error
	r.Scheduler, err = kubescheduler.New(t.Context(), client, inf, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }, kubescheduler.WithNodeInfoSnapshot(r.nodes))
	if err != nil {
		t.Fatal(err)
	}
	if err := real.FillInformers(inf, toRealObjects(o)); err != nil {
		t.Fatal(err)
	}
	for _, n := range sortedByName(o.Nodes) {
		r.Cache.AddNode(klog.Background(), n)
	}
	for _, p := range o.Pods {
		if p.Spec.NodeName == "" {
			continue
		}
		if err := r.Cache.AddPod(klog.Background(), p); err != nil {
			t.Fatal(err)
		}
	}
	// Pods that fit on few nodes move the start of the next sample.
	rnd := rand.New(rand.NewSource(seed))
	for range rnd.Intn(40) {
		r.schedule(t, real.ReplacementPod(o.Pods[rnd.Intn(len(o.Pods))]))
	}
	return r
}

// nodeForReplacement returns the node of the victim's replacement; empty if no node is feasible.
func (r *samplingScheduler) nodeForReplacement(t *testing.T, o *cluster.Objects, victim *corev1.Pod, gone bool) string {
	t.Helper()
	now := metav1.Unix(1, 0)
	leaving := victim.DeepCopy()
	leaving.DeletionTimestamp = &now
	log := klog.Background()
	change := func() error { return r.Cache.UpdatePod(log, victim, leaving) }
	back := func() error { return r.Cache.UpdatePod(log, leaving, victim) }
	if gone {
		change = func() error { return r.Cache.RemovePod(log, victim) }
		back = func() error { return r.Cache.AddPod(log, victim) }
	}
	if err := change(); err != nil {
		t.Fatal(err)
	}
	node := r.schedule(t, real.ReplacementPod(victim))
	if err := back(); err != nil {
		t.Fatal(err)
	}
	return node
}

func (r *samplingScheduler) schedule(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	if err := r.Cache.UpdateSnapshot(klog.Background(), r.nodes); err != nil {
		t.Fatal(err)
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	profile := r.Profiles[corev1.DefaultSchedulerName]
	got, err := r.SchedulePod(t.Context(), profile, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: info})
	if _, none := err.(*framework.FitError); err != nil && !none {
		t.Fatal(err)
	}
	return got.SuggestedHost
}
