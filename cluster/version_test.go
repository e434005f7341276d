package cluster

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestAMissingServerVersionIsUnknown checks that the version of a snapshot without a server version is unknown, and
// that the newest scheduler model is then used. Old dumps and the output of kubectl get have no version.
func TestAMissingServerVersionIsUnknown(t *testing.T) {
	for text, want := range map[string]struct {
		shown string
		known bool
		minor int // of the model
	}{"": {"", false, kubeversion.Newest}, "1.36": {"1.36", true, 36}, "1.99": {"1.99", false, kubeversion.Newest}} {
		o := &Objects{ServerVersion: text, Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}}
		s := must.Get(New(o))(t)
		if s.Version() != want.shown || s.KnownVersion() != want.known || s.Scheduler != kubeversion.Of(want.minor) {
			t.Errorf("version %q: shown %q, known %v, model %+v", text, s.Version(), s.KnownVersion(), s.Scheduler)
		}
	}
}

// TestVersionOfKubelets: without the version of the server, the oldest kubelet decides, if each node reports one.
func TestVersionOfKubelets(t *testing.T) {
	for _, c := range []struct {
		server, want string
		kubelets     []string
	}{
		{"", "1.35", []string{"v1.36.2", "v1.35.0-eks-1", "v1.37.0"}}, {"1.37", "1.37", []string{"v1.35.0"}}, {"", "", []string{"v1.35.0", ""}},
	} {
		o := &Objects{ServerVersion: c.server}
		for _, v := range c.kubelets {
			o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n" + v},
				Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: v}}})
		}
		if s, err := New(o); err != nil || s.Version() != c.want {
			t.Errorf("%v: %q, %v, want %q", c.kubelets, s.Version(), err, c.want)
		}
	}
}

// TestUsageOfMetrics: NodeMetrics and PodMetrics are the usage of a snapshot without one.
func TestUsageOfMetrics(t *testing.T) {
	const text = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}, capacity: {cpu: "4", memory: 8Gi}}}
- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, uid: u}, spec: {nodeName: n1, containers: [{name: c}, {name: d}]}}
- {apiVersion: metrics.k8s.io/v1beta1, kind: NodeMetrics, metadata: {name: n1}, timestamp: "2026-01-02T00:00:00Z", window: 30s, usage: {cpu: 2500m, memory: 1Gi}}
- {apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, metadata: {name: a, namespace: shop}, timestamp: "2026-01-02T00:00:00Z", window: 30s,
   containers: [{name: c, usage: {cpu: 300m, memory: 1Mi}}, {name: d, usage: {cpu: 200m, memory: 1Mi}}]}
- {apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, metadata: {name: gone, namespace: shop}, timestamp: "2026-01-02T00:00:00Z", window: 30s, containers: []}
`
	o := &Objects{}
	must.Succeed(t, Read(strings.NewReader(text), "x", o))
	s, err := New(o)
	if err != nil || s.Usage == nil || o.Usage != nil {
		t.Fatalf("%v, usage %v", err, s.Usage)
	}
	used, _, known := s.Amounts(Measure{ByUsage: true, Resource: "cpu"}, UsageRequirements{MaxAge: time.Minute}).NodeUsed(0)
	if pod, quality := s.Usage.PodUsed(0, "cpu"); used != 2500 || !known || pod != 500 || quality != Measured {
		t.Errorf("node %d (%v), pod %d (%v)", used, known, pod, quality)
	}
	if why := s.WhyUsageUnknown(0, UsageRequirements{MaxAge: time.Minute}); !strings.Contains(why, "did not measure it") {
		t.Errorf("of a resource that is not measured: %s", why)
	}
}
