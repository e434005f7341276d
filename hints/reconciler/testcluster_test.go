package reconciler_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/hints/reconciler"
	"github.com/evenkeel-project/evenkeel/hints/writer"
)

// testCluster is a reconciler with a fake API server, which checks resource versions, and with
// the current measurements.
type testCluster struct {
	*reconciler.Reconciler
	t           *testing.T
	client      *fake.Clientset
	clock       *testclock.FakeClock
	log         bytes.Buffer
	counts      reconciler.Counts
	opts        reconciler.Options
	invalid     []string // reported invalid records
	mu          sync.Mutex
	requests    []string
	before      func() // called before each patch is applied
	rejectWrite error
	hot         map[string]float64 // CPU usage of the hot nodes, as a fraction
	cool        []string
	down        bool
}

func newTestCluster(t *testing.T, o pressure.Options, nodes ...*corev1.Node) *testCluster {
	t.Helper()
	var list []runtime.Object
	for _, n := range nodes {
		n.ResourceVersion = "1"
		list = append(list, n)
	}
	w := &testCluster{t: t, client: fake.NewClientset(list...), clock: testclock.NewFakeClock(noon), hot: map[string]float64{}}
	w.client.PrependReactor("*", "nodes", w.serve)
	o.Rules = []pressure.Rule{{Name: "cpu", Resource: "cpu", Enter: 0.8, Leave: 0.7, MinSamples: 1}}
	if o.TTL == 0 {
		o.TTL = 10 * time.Minute
	}
	if o.MaxHintedFrac == 0 {
		o.MaxHintedFrac = 1
	}
	w.Reconciler = &reconciler.Reconciler{
		Nodes: w.nodes, Usage: w.usage, Clock: w.clock, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Writer: writer.New(w.client, clock.RealClock{}, nil), OnCount: func(c reconciler.Counts) { w.counts = c },
	}
	w.opts = reconciler.Options{Options: o}
	w.Configure(w.opts)
	return w
}

var labelAndTaint = pressure.Options{Label: "status=presure", Taint: pressure.Key}

func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// serve rejects patches with an old resourceVersion, and assigns a new one to every write.
func (w *testCluster) serve(a clienttesting.Action) (bool, runtime.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch x := a.(type) {
	case clienttesting.PatchAction:
		w.requests = append(w.requests, "PATCH "+x.GetName())
		if w.before != nil {
			w.before()
		}
		if w.rejectWrite != nil {
			return true, nil, w.rejectWrite
		}
		var doc corev1.Node
		if err := json.Unmarshal(x.GetPatch(), &doc); err != nil {
			w.t.Error(err)
		}
		if doc.ResourceVersion != w.node(x.GetName()).ResourceVersion {
			return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, x.GetName(), errors.New("the object has been modified"))
		}
		n, err := applyPatch(w.node(x.GetName()), x.GetPatch())
		if err != nil {
			w.t.Error(err)
		}
		return true, n, w.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), n, "")
	case clienttesting.GetAction:
		w.requests = append(w.requests, "GET "+x.GetName())
	case clienttesting.ListAction:
		w.requests = append(w.requests, "LIST")
	}
	return false, nil, nil
}

// applyPatch applies a merge patch to labels, annotations and taints, and assigns a new resourceVersion.
func applyPatch(n *corev1.Node, patch []byte) (*corev1.Node, error) {
	var p struct {
		Metadata struct{ Labels, Annotations map[string]*string }
		Spec     *struct{ Taints []corev1.Taint }
	}
	if err := json.Unmarshal(patch, &p); err != nil {
		return nil, err
	}
	out := n.DeepCopy()
	merge := func(into *map[string]string, diff map[string]*string) {
		for k, v := range diff {
			if v == nil {
				delete(*into, k)
				continue
			}
			if *into == nil {
				*into = map[string]string{}
			}
			(*into)[k] = *v
		}
	}
	merge(&out.Labels, p.Metadata.Labels)
	merge(&out.Annotations, p.Metadata.Annotations)
	if p.Spec != nil {
		out.Spec.Taints = p.Spec.Taints
	}
	bumpVersion(out)
	return out, nil
}

func (w *testCluster) node(name string) *corev1.Node {
	o, err := w.client.Tracker().Get(corev1.SchemeGroupVersion.WithResource("nodes"), "", name)
	if err != nil {
		return nil
	}
	return o.(*corev1.Node)
}

func (w *testCluster) nodes() []*corev1.Node {
	o, err := w.client.Tracker().List(corev1.SchemeGroupVersion.WithResource("nodes"), corev1.SchemeGroupVersion.WithKind("Node"), "")
	if err != nil {
		w.t.Fatal(err)
	}
	list := o.(*corev1.NodeList)
	var out []*corev1.Node
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}

func (w *testCluster) edit(name string, f func(*corev1.Node)) {
	n := w.node(name).DeepCopy()
	f(n)
	bumpVersion(n)
	if err := w.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), n, ""); err != nil {
		w.t.Error(err)
	}
}

func bumpVersion(n *corev1.Node) {
	v, _ := strconv.Atoi(n.ResourceVersion)
	n.ResourceVersion = strconv.Itoa(v + 1)
}

func (w *testCluster) usage() *cluster.Usage {
	now := w.clock.Now()
	if w.down {
		return &cluster.Usage{}
	}
	u := &cluster.Usage{SampledAt: now}
	for name, v := range w.hot {
		u.Nodes = append(u.Nodes, cluster.NodeUsage{Name: name, At: now, Used: map[string]int64{"cpu": 1}})
		u.Marks = append(u.Marks, cluster.Mark{Watch: "hints/cpu", Node: name, Resource: "cpu", Hot: true, Value: v})
	}
	for _, name := range w.cool {
		u.Nodes = append(u.Nodes, cluster.NodeUsage{Name: name, At: now, Used: map[string]int64{"cpu": 1}})
	}
	return u
}

// reconcileAfter reconciles after d and returns the requests of this reconciliation.
func (w *testCluster) reconcileAfter(d time.Duration) []string {
	w.clock.Step(d)
	w.requests = nil
	w.Reconcile(w.t.Context())
	return w.requests
}

func (w *testCluster) taints(name string) (out []string) {
	for _, t := range w.node(name).Spec.Taints {
		out = append(out, t.ToString())
	}
	slices.Sort(out)
	return out
}
