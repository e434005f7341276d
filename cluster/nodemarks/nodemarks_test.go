package nodemarks_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestDocumentationListsTheDefaults compares the table of docs/reference/node-marks.md with Defaults.
func TestDocumentationListsTheDefaults(t *testing.T) {
	rows := [][]string{{"kind", "mark", "set by"}}
	for _, m := range nodemarks.Defaults {
		mark := string(m.Place) + ":" + m.Key
		if m.Value != "" {
			mark += "=" + m.Value
		}
		rows = append(rows, []string{string(m.Kind), "`" + mark + "`", m.By})
	}
	golden.Table(t, "../../docs/reference/node-marks.md", rows)
}

// TestFirst checks which mark decides, for marks in every place, patterns, values and marks of an operator.
func TestFirst(t *testing.T) {
	taints := func(keys ...string) *corev1.Node {
		n := &corev1.Node{}
		for _, key := range keys {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectPreferNoSchedule})
		}
		return n
	}
	extra := nodemarks.Table{}
	for _, text := range []string{"taint:example.com/*", "label:pool=old", "condition:FabricReady=False"} {
		m := must.Get(nodemarks.Parse(nodemarks.Outgoing, text))(t)
		extra.Extra = append(extra.Extra, m)
	}
	for _, c := range []struct {
		node  *corev1.Node
		table nodemarks.Table
		want  string
	}{
		{taints("dedicated"), nodemarks.Table{}, ""},
		{taints("node.kubernetes.io/memory-pressure"), nodemarks.Table{}, ""},
		{taints("node.cilium.io/agent-not-ready"), nodemarks.Table{}, "not ready for pods: taint node.cilium.io/agent-not-ready of an agent such as Cilium or a CSI driver"},
		{taints("node.cloudprovider.kubernetes.io/uninitialized"), nodemarks.Table{}, "not ready for pods: taint node.cloudprovider.kubernetes.io/uninitialized of the cloud controller manager"},
		{taints("node.cluster.x-k8s.io/uninitialized", "karpenter.sh/disrupted"), nodemarks.Table{}, "being removed by Karpenter"},
		{taints("weave.works/kured-node-reboot"), nodemarks.Table{}, "being drained by kured"},
		{&corev1.Node{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}, nodemarks.Table{}, "being removed by a delete request"},
		{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"machineconfiguration.openshift.io/desiredDrain": "drain-x"}}}, nodemarks.Table{}, "being drained by the machine config operator"},
		{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"machineconfiguration.openshift.io/desiredDrain": "uncordon-x"}}}, nodemarks.Table{}, ""},
		{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"cloud.google.com/active-node-maintenance": "PENDING"}}}, nodemarks.Table{}, ""},
		{taints("example.com/old"), extra, "to be replaced or removed: taint example.com/old of placement.nodeMarks"},
		{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pool": "old"}}}, extra, "to be replaced or removed: label pool of placement.nodeMarks"},
		{&corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: "FabricReady", Status: "False"}}}}, extra, "to be replaced or removed: condition FabricReady is False of placement.nodeMarks"},
		{&corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: "FabricReady", Status: "True"}}}}, extra, ""},
	} {
		f, found := c.table.First(c.node, nodemarks.Removing, nodemarks.Draining, nodemarks.Outgoing, nodemarks.Unhealthy, nodemarks.Starting)
		got := ""
		if found {
			got = f.Describe()
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "key", "annotation:a=b", "taint:", "condition:Ready", "condition:Ready=no", "label:a*=b", "taint:a="} {
		if m, err := nodemarks.Parse(nodemarks.Starting, text); err == nil {
			t.Errorf("%q: %+v, want an error", text, m)
		}
	}
}
