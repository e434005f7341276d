package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestVirtualNodes(t *testing.T) {
	label := func(key, value string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"kubernetes.io/os": "linux", key: value}}}
	}
	taint := func(key, value string) *corev1.Node {
		return &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{
			{Key: "node.kubernetes.io/unschedulable", Effect: corev1.TaintEffectNoSchedule},
			{Key: key, Value: value, Effect: corev1.TaintEffectNoExecute},
		}}}
	}
	for _, c := range []struct {
		node *corev1.Node
		want string
	}{
		{label("eks.amazonaws.com/compute-type", "fargate"), "EKS Fargate"},
		{taint("eks.amazonaws.com/compute-type", "fargate"), "EKS Fargate"},
		{label("type", "virtual-kubelet"), "virtual-kubelet"},
		{taint("virtual-kubelet.io/provider", "azure"), "virtual-kubelet"},
		{taint("virtual-kubelet.io/provider", "alibabacloud"), "virtual-kubelet"},
		{label("node.kubernetes.io/instance-type", "eklet"), "TKE super node"},
		{taint("eks.tke.cloud.tencent.com/eklet", ""), "TKE super node"},
		{taint("vci.vke.volcengine.com/node-type", "vci"), "Volcengine VCI"},
		{label("node-role.kubernetes.io/virtual-node", ""), "OKE virtual node"},
		{label("liqo.io/type", "virtual-node"), "Liqo"},

		{&corev1.Node{}, ""},
		{taint("", ""), ""},
		{label("", ""), ""},
		{label("type", "kwok"), ""}, // a node that kwok simulates is an ordinary node of a test cluster
		{taint("kwok.x-k8s.io/node", "fake"), ""},
		{label("eks.amazonaws.com/compute-type", "ec2"), ""},
		{label("eks.amazonaws.com/compute-type", "hybrid"), ""},
		{label("eks.amazonaws.com/compute-type", "auto"), ""},
		{label("node.kubernetes.io/instance-type", "m7i.large"), ""},
		{label("cloud.google.com/gke-provisioning", "standard"), ""}, // the nodes of GKE Autopilot are virtual machines
		{label("type", "virtual"), ""},
	} {
		if got := VirtualKind(c.node); got != c.want {
			t.Errorf("VirtualKind(labels %v, taints %v) = %q, want %q", c.node.Labels, c.node.Spec.Taints, got, c.want)
		}
	}
}

func TestScopeLeavesVirtualNodesOut(t *testing.T) {
	selector := must.Get(labels.Parse("serverless=yes"))(t)
	node := func(labels map[string]string) *Node {
		return &Node{Name: "n", Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}}}
	}
	fargate, own, other := node(map[string]string{"eks.amazonaws.com/compute-type": "fargate"}), node(map[string]string{"serverless": "yes"}), node(nil)
	for _, c := range []struct {
		name  string
		scope Scope
		node  *Node
		want  bool
	}{
		{"a known kind", Scope{}, fargate, false},
		{"a known kind, in scope by nodeSelector", Scope{Nodes: labels.Everything()}, fargate, false},
		{"not configured", Scope{}, own, true},
		{"configured", Scope{Virtual: VirtualNodes{Selector: selector}}, own, false},
		{"an ordinary node", Scope{Virtual: VirtualNodes{Selector: selector}}, other, true},
	} {
		if got := c.scope.HasNode(c.node); got != c.want {
			t.Errorf("%s: HasNode = %v, want %v", c.name, got, c.want)
		}
	}
	if got := (VirtualNodes{Selector: selector}).Kind(own.Object); got != "virtualNodeSelector" {
		t.Errorf("the kind of a configured node is %q", got)
	}
}

// TestDocumentationListsTheVirtualKinds compares the table of docs/reference/node-marks.md with virtualKinds.
func TestDocumentationListsTheVirtualKinds(t *testing.T) {
	text := func(m nodeMark) string {
		if m.key == "" {
			return ""
		}
		return "`" + strings.TrimSuffix(m.key+"="+m.value, "=") + "`"
	}
	rows := [][]string{{"kind", "label", "taint (any effect)"}}
	for _, k := range virtualKinds {
		rows = append(rows, []string{k.name, text(k.label), text(k.taint)})
	}
	golden.Table(t, "../docs/reference/node-marks.md", rows)
}
