package target_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/plan"
)

// world has one pod of each kind on node home, and one node for each rule. Each node is named after what it is.
const world = `
objects:
- {kind: Namespace, metadata: {name: shop}}
- {kind: Node, metadata: {name: home, labels: {kubernetes.io/os: linux, kubernetes.io/arch: amd64}}, status: {runtimeHandlers: [{name: ""}, {name: runsc}], images: [{names: ["docker.io/library/app:1"]}]}}
- {kind: Node, metadata: {name: plain}}
- {kind: Node, metadata: {name: not-ready}, status: {conditions: [{type: Ready, status: "False"}]}}
- {kind: Node, metadata: {name: virtual, labels: {type: virtual-kubelet}}}
- {kind: Node, metadata: {name: cordoned}, spec: {unschedulable: true}}
- {kind: Node, metadata: {name: disk}, status: {conditions: [{type: Ready, status: "True"}, {type: DiskPressure, status: "True"}]}}
- {kind: Node, metadata: {name: pid}, status: {conditions: [{type: Ready, status: "True"}, {type: PIDPressure, status: "True"}]}}
- {kind: Node, metadata: {name: memory}, status: {conditions: [{type: Ready, status: "True"}, {type: MemoryPressure, status: "True"}]}}
- {kind: Node, metadata: {name: read-only}, status: {conditions: [{type: Ready, status: "True"}, {type: ReadonlyFilesystem, status: "True"}]}}
- {kind: Node, metadata: {name: maintenance}, status: {conditions: [{type: Ready, status: "True"}, {type: VMEventScheduled, status: "True"}]}}
- {kind: Node, metadata: {name: healthy}, status: {conditions: [{type: Ready, status: "True"}, {type: StorageReady, status: "True"}, {type: KernelDeadlock, status: "False"}]}}
- {kind: Node, metadata: {name: unknown}, status: {conditions: [{type: Ready, status: "True"}, {type: StorageReady, status: Unknown}]}}
- {kind: Node, metadata: {name: fenced}, spec: {taints: [{key: node.kubernetes.io/out-of-service, effect: NoExecute}]}}
- {kind: Node, metadata: {name: csi}, spec: {taints: [{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}]}}
- {kind: Node, metadata: {name: readiness}, spec: {taints: [{key: readiness.k8s.io/NetworkReady, effect: NoSchedule}]}}
- {kind: Node, metadata: {name: kops}, spec: {taints: [{key: kops.k8s.io/scheduled-for-update, effect: PreferNoSchedule}]}}
- {kind: Node, metadata: {name: updating}, spec: {taints: [{key: UpdateInProgress, effect: PreferNoSchedule}]}}
- {kind: Node, metadata: {name: stopping, labels: {cloud.google.com/active-node-maintenance: ONGOING}}}
- {kind: Node, metadata: {name: windows, labels: {kubernetes.io/os: windows, kubernetes.io/arch: amd64}}}
- {kind: Node, metadata: {name: arm}, status: {nodeInfo: {operatingSystem: linux, architecture: arm64}}}
- {kind: Node, metadata: {name: no-handler}, status: {runtimeHandlers: [{name: ""}]}}
- {kind: Node, metadata: {name: no-image}, status: {images: [{names: ["docker.io/library/app:2"]}]}}
- {apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: gvisor}, handler: runsc}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 1}, pods: [2 on home]}
- {kind: Deployment, metadata: {name: lean}, pods: [1 on home]}
- {kind: Deployment, metadata: {name: linux}, requests: {cpu: 1}, pods: [1 on home], spec: {template: {spec: {os: {name: linux}}}}}
- {kind: Deployment, metadata: {name: any}, requests: {cpu: 1}, pods: [1 on home], spec: {template: {spec: {nodeSelector: {kubernetes.io/arch: arm64}}}}}
- {kind: Deployment, metadata: {name: both}, requests: {cpu: 1}, pods: [1 on home, 1 on arm]}
- {kind: Deployment, metadata: {name: boxed}, requests: {cpu: 1}, pods: [1 on home], spec: {template: {spec: {runtimeClassName: gvisor}}}}
- {kind: Deployment, metadata: {name: never}, requests: {cpu: 1}, pods: [1 on home], spec: {template: {spec: {containers: [{name: c, image: "app:1", imagePullPolicy: Never}]}}}}
`

// TestRules checks which nodes each kind of pod must not move to, with the reason code and the message of each.
func TestRules(t *testing.T) {
	s := must.Get(cluster.New((&scenario.Scenario{Cluster: []byte(world)}).Objects(t)))(t)
	everywhere := map[string]string{
		"not-ready":   "NoTargetFits: not Ready",
		"virtual":     "OnlyVirtualNodes: virtual (virtual-kubelet)",
		"cordoned":    "OnlyCordonedNodes: cordoned",
		"disk":        "OnlyUnhealthyNodes: under DiskPressure",
		"pid":         "OnlyUnhealthyNodes: under PIDPressure",
		"read-only":   "OnlyUnhealthyNodes: marked bad: condition ReadonlyFilesystem is True of the node problem detector",
		"maintenance": "OnlyUnhealthyNodes: marked bad: condition VMEventScheduled is True of Azure Kubernetes Service",
		"fenced":      "OnlyUnhealthyNodes: marked bad: taint node.kubernetes.io/out-of-service of a person or program that fences the node",
		"csi":         "OnlyUnhealthyNodes: not ready for pods: taint ebs.csi.aws.com/agent-not-ready of an agent such as Cilium or a CSI driver",
		"readiness":   "OnlyUnhealthyNodes: not ready for pods: taint readiness.k8s.io/NetworkReady of the node readiness controller",
		"kops":        "OnlyLeavingNodes: to be replaced or removed: taint kops.k8s.io/scheduled-for-update of kOps",
		"updating":    "OnlyLeavingNodes: to be replaced or removed: taint UpdateInProgress of the machine config operator",
		"stopping":    "OnlyLeavingNodes: being drained by Google Kubernetes Engine",
	}
	const (
		unprovenArm     = "OnlyUnprovenPlatforms: on linux/arm64, where no Ready pod of the workload runs"
		unprovenWindows = "OnlyUnprovenPlatforms: on windows/amd64, where no Ready pod of the workload runs"
	)
	targets := target.New(s, cluster.Scope{}, nil)
	for name, also := range map[string]map[string]string{
		"web-6c8f-00": {"arm": unprovenArm, "windows": unprovenWindows},
		"lean-6c8f-00": {"arm": unprovenArm, "windows": unprovenWindows,
			"memory": "OnlyRefusingNodes: under MemoryPressure, and the pod requests neither cpu nor memory"},
		"linux-6c8f-00": {"arm": unprovenArm, "windows": "OnlyRefusingNodes: a windows node, and spec.os of the pod is linux"},
		"any-6c8f-00":   {"windows": unprovenWindows},
		"both-6c8f-00":  {"windows": unprovenWindows},
		"boxed-6c8f-00": {"arm": unprovenArm, "windows": unprovenWindows,
			"no-handler": "OnlyRefusingNodes: without the runtime handler runsc of RuntimeClass gvisor"},
		"never-6c8f-00": {"arm": unprovenArm, "windows": unprovenWindows,
			"no-image": "OnlyRefusingNodes: without the image app:1, and the pod has imagePullPolicy Never"},
	} {
		p := s.PodByKey("shop/" + name)
		for i := range s.Nodes {
			n := &s.Nodes[i]
			want := everywhere[n.Name] + also[n.Name]
			got := ""
			if rule, words, refused := targets.Why(p, n); refused {
				got = string(target.Rules[rule].Code) + ": " + words
			}
			if got != want || targets.Of(p).May[n.ID] != (want == "") {
				t.Errorf("%s to %s: %q, may %v; want %q", name, n.Name, got, targets.Of(p).May[n.ID], want)
			}
		}
	}
}

// TestPodsShareResults checks that pods get results of their own only if a rule about pods concerns them.
func TestPodsShareResults(t *testing.T) {
	s := must.Get(cluster.New((&scenario.Scenario{Cluster: []byte(world)}).Objects(t)))(t)
	targets := target.New(s, cluster.Scope{NewArchitectures: true}, nil)
	if a, b := targets.Of(s.PodByKey("shop/web-6c8f-00")), targets.Of(s.PodByKey("shop/web-6c8f-01")); a != b {
		t.Error("two equal pods have different results")
	}
	if !targets.Of(s.PodByKey("shop/web-6c8f-00")).May[s.NodeByName("arm").ID] {
		t.Error("with newArchitectures, an unproven architecture is still refused")
	}
}

// TestMarksOfAnOperator checks that an operator's marks add to the defaults.
func TestMarksOfAnOperator(t *testing.T) {
	n := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: "FabricReady", Status: corev1.ConditionFalse}}}}
	s := must.Get(cluster.New(&cluster.Objects{Nodes: []*corev1.Node{n}}))(t)
	n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})
	s.Nodes[0].Ready = true
	marks := nodemarks.Table{Extra: []nodemarks.Mark{{Kind: nodemarks.Unhealthy, Place: nodemarks.Condition, Key: "FabricReady", Value: "False", By: "nodeMarks"}}}
	rule, words, refused := target.New(s, cluster.Scope{Marks: marks}, nil).Why(nil, &s.Nodes[0])
	if !refused || target.Rules[rule].Code != plan.OnlyUnhealthyNodes || words != "marked bad: condition FabricReady is False of nodeMarks" {
		t.Errorf("got %q", words)
	}
}
