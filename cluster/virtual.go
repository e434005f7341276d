package cluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// VirtualNodes recognizes virtual nodes. A virtual node is no machine: each of its pods gets a
// machine of its own from a service, or runs in another cluster. Usage and capacity of such a node
// say nothing about room for other pods.
//
// The zero value recognizes the kinds of VirtualKind.
type VirtualNodes struct {
	// Selector selects further virtual nodes by label. Nil selects none.
	Selector labels.Selector
}

// Kind names the kind of a virtual node, such as "EKS Fargate". It returns "" for other nodes.
func (v VirtualNodes) Kind(n *corev1.Node) string {
	if kind := VirtualKind(n); kind != "" {
		return kind
	}
	if v.Selector != nil && v.Selector.Matches(labels.Set(n.Labels)) {
		return "virtualNodeSelector"
	}
	return ""
}

// nodeMark is a label or a taint of nodes. An empty value matches every value, and an empty key no mark.
type nodeMark struct{ key, value string }

func (m nodeMark) matches(key, value string) bool {
	return m.key != "" && m.key == key && (m.value == "" || m.value == value)
}

// virtualKinds lists the known kinds of virtual nodes. Each of its marks is sufficient: the service sets the label, and
// the taint keeps ordinary pods away. Taints match with every effect.
var virtualKinds = []struct {
	name         string
	label, taint nodeMark
}{
	// Amazon EKS: one node per pod, named fargate-ip-*, with room for one pod.
	{"EKS Fargate", nodeMark{"eks.amazonaws.com/compute-type", "fargate"}, nodeMark{"eks.amazonaws.com/compute-type", "fargate"}},
	// virtual-kubelet. The value of its taint names the provider: Azure Container Instances
	// (virtual nodes of AKS), Alibaba Cloud ECI, Huawei Cloud CCI, k3k and others.
	{"virtual-kubelet", nodeMark{"type", "virtual-kubelet"}, nodeMark{"virtual-kubelet.io/provider", ""}},
	// Tencent TKE.
	{"TKE super node", nodeMark{"node.kubernetes.io/instance-type", "eklet"}, nodeMark{"eks.tke.cloud.tencent.com/eklet", ""}},
	// Volcengine VKE.
	{"Volcengine VCI", nodeMark{}, nodeMark{"vci.vke.volcengine.com/node-type", "vci"}},
	// Oracle OKE.
	{"OKE virtual node", nodeMark{"node-role.kubernetes.io/virtual-node", ""}, nodeMark{}},
	// Liqo: the node is another cluster.
	{"Liqo", nodeMark{"liqo.io/type", "virtual-node"}, nodeMark{"virtual-node.liqo.io/not-allowed", ""}},
}

// VirtualKind names the known kind of a virtual node by its labels and taints. It returns "" for
// other nodes, among them nodes that kwok simulates.
func VirtualKind(n *corev1.Node) string {
	for i := range virtualKinds {
		k := &virtualKinds[i]
		if value, ok := n.Labels[k.label.key]; ok && k.label.matches(k.label.key, value) {
			return k.name
		}
		for j := range n.Spec.Taints {
			if k.taint.matches(n.Spec.Taints[j].Key, n.Spec.Taints[j].Value) {
				return k.name
			}
		}
	}
	return ""
}
