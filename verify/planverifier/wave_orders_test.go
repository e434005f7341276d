package planverifier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
)

// orderCase moves a pod of Deployment q from n2 to n3, and a pod of Deployment p from n1 to the node to. says is part
// of the violation if both moves share a wave; empty if they may.
type orderCase struct {
	name, to, says string
	always         bool // the violation remains if p moves in the next wave
	p, q           string
	more           string
	version        string // of the server; empty: the newest known one
}

const (
	spreadByTier = `metadata: {labels: {tier: x}}, spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone,
  whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {tier: x}}%s}]%s}`
	small    = "spec: {containers: [{name: c, resources: {requests: {memory: 1Mi}}}]}"
	onlyOnN2 = "spec: {nodeSelector: {topology.kubernetes.io/zone: zone-2}, containers: [{name: c, resources: {requests: {cpu: 4}}}]}"
	port     = "spec: {containers: [{name: c, image: c, ports: [{containerPort: 80, hostPort: 80}]}]}"
	affinity = "metadata: {labels: {tier: x}}, spec: {affinity: {%s: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {%s}}%s}]}}}"
	volume   = "spec: {volumes: [{name: data, persistentVolumeClaim: {claimName: %s}}]}"
	volumes  = `
- {kind: PersistentVolumeClaim, metadata: {name: a}, spec: {volumeName: a}}
- {kind: PersistentVolumeClaim, metadata: {name: b}, spec: {volumeName: b}}
- {kind: PersistentVolume, metadata: {name: b}, spec: {csi: {driver: d, volumeHandle: b}}}
- kind: CSINode
  metadata: {name: n2}
  spec: {drivers: [{name: d, nodeID: n2, allocatable: {count: 1}}]}
- kind: PersistentVolume
  metadata: {name: a}
  spec:
    csi: {driver: d, volumeHandle: a}
    nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1, %s]}]}]}}
`
	tierOnN1AndN2 = "\n- {kind: Deployment, metadata: {name: r}, pods: [1 on n1, 1 on n2], spec: {template: {metadata: {labels: {tier: x}}}}}\n"
	resized       = `
- {kind: Deployment, metadata: {name: r}, pods: [1 on n2], spec: {template: {spec: {containers: [
    {name: grows, resources: {requests: {cpu: 6}}}, {name: shrinks, resources: {requests: {cpu: 1}}}]}}}}
- {kind: Pod, metadata: {name: "r-6c8f-*"}, status: {containerStatuses: [
    {name: grows, allocatedResources: {cpu: 2}, resources: {requests: {cpu: 2}}},
    {name: shrinks, allocatedResources: {cpu: 5}, resources: {requests: {cpu: 5}}}]}}
`
	podLevel = `
- {kind: Deployment, metadata: {name: r}, pods: [1 on n2], spec: {template: {spec: {resources: {requests: {cpu: 8}}}}}}
`
	tierOnAll = "\n- {kind: Deployment, metadata: {name: r}, pods: [1 on n1, 1 on n2, 1 on n3], spec: {template: {metadata: {labels: {tier: x}}}}}\n"
)

var orderCases = []orderCase{
	{name: "room after the other pod leaves", to: "n2", says: "pods would request 12 of 10 cpu",
		p: "spec: {containers: [{name: c, resources: {requests: {cpu: 6}}}]}", q: "spec: {containers: [{name: c, resources: {requests: {cpu: 6}}}]}"},
	{name: "room until the other pod arrives", to: "n3", says: "pods would request 12 of 10 cpu", always: true,
		p: "spec: {containers: [{name: c, resources: {requests: {cpu: 6}}}]}", q: "spec: {containers: [{name: c, resources: {requests: {cpu: 6}}}]}"},
	{name: "room that the other pod may take", to: "n2", says: "p-6c8f-00: in wave 1: the other replacements of the wave can leave it no node",
		p: onlyOnN2, q: "spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}"},
	{name: "room beside the other pod wherever it lands", to: "n2", p: onlyOnN2,
		q: "spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}"},
	{name: "a second node with room", to: "n2", p: "spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}",
		q: "spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}"},
	{name: "a resize counts by container", to: "n2", version: "1.36", says: "pods would request 14 of 10 cpu", always: true,
		p: "spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}", q: small, more: resized},
	{name: "a resize counts by pod", to: "n2", version: "1.37", p: "spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}", q: small, more: resized},
	{name: "pod-level requests", to: "n2", version: "1.34", says: "pods would request 11 of 10 cpu", always: true,
		p: "spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}", q: small, more: podLevel},
	{name: "pod-level requests are ignored", to: "n2", version: "1.33", p: "spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}", q: small, more: podLevel},
	{name: "too many pods", to: "n2", says: "there are too many pods", more: "\n- {kind: Node, metadata: {name: n2}, status: {allocatable: {pods: 1}}}\n"},
	{name: "host port", to: "n2", says: "it shares a host port with shop/q-6c8f-00", p: port, q: port},
	{name: "own anti-affinity", to: "n2", says: "required anti-affinity keeps it apart from shop/q-6c8f-00",
		p: fmt.Sprintf(affinity, "podAntiAffinity", "app: q", "")},
	{name: "anti-affinity of the other pod", to: "n2", says: "required anti-affinity keeps it apart from shop/q-6c8f-00",
		q: fmt.Sprintf(affinity, "podAntiAffinity", "app: p", "")},
	{name: "anti-affinity in all namespaces", to: "n2", says: "required anti-affinity keeps it apart from shop/q-6c8f-00",
		p: fmt.Sprintf(affinity, "podAntiAffinity", "app: q", ", namespaceSelector: {}")},
	{name: "anti-affinity in another namespace", to: "n2", p: fmt.Sprintf(affinity, "podAntiAffinity", "app: q", ", namespaces: [other]")},
	{name: "spread counts the other pod", to: "n2", says: "topology spread by topology.kubernetes.io/zone would have a skew of 2, above 1",
		p: fmt.Sprintf(spreadByTier, "", ""), q: "metadata: {labels: {tier: x}}"},
	{name: "spread does not count the other pod", to: "n2", p: fmt.Sprintf(spreadByTier, "", "")},
	{name: "an empty domain", to: "n2", says: "would have a skew of 2, above 1", always: true, p: fmt.Sprintf(spreadByTier, "", ""), more: tierOnN1AndN2},
	{name: "an empty domain that the pod cannot use", to: "n2", more: tierOnN1AndN2,
		p: fmt.Sprintf(spreadByTier, "", ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [n3]}]}]}}}")},
	{name: "an empty domain that the pod does not tolerate", to: "n2", p: fmt.Sprintf(spreadByTier, ", nodeTaintsPolicy: Honor", ""),
		more: tierOnN1AndN2 + "- {kind: Node, metadata: {name: n3}, spec: {taints: [{key: k, effect: NoSchedule}]}}\n"},
	{name: "too few domains", to: "n2", says: "would have a skew of 2, above 1", always: true, p: fmt.Sprintf(spreadByTier, ", minDomains: 4", ""), more: tierOnAll},
	{name: "enough domains", to: "n2", p: fmt.Sprintf(spreadByTier, ", minDomains: 3", ""), more: tierOnAll},
	{name: "pods of another revision", to: "n2", p: fmt.Sprintf(spreadByTier, ", matchLabelKeys: [app]", ""), more: tierOnN1AndN2},
	{name: "affinity to the other pod", to: "n3", says: "required affinity by kubernetes.io/hostname finds no pod that stays",
		p: fmt.Sprintf(affinity, "podAffinity", "app: q", "")},
	{name: "affinity to a pod that stays", to: "n3", p: fmt.Sprintf(affinity, "podAffinity", "app: r", ""), more: tierOnAll},
	{name: "affinity to itself and the other pod", to: "n3", says: "required affinity by kubernetes.io/hostname draws it to shop/q-6c8f-00",
		p: fmt.Sprintf(affinity, "podAffinity", "tier: x", ""), q: "metadata: {labels: {tier: x}}"},
	{name: "affinity to itself", to: "n3", p: fmt.Sprintf(affinity, "podAffinity", "app: p", "")},
	{name: "volumes to attach", to: "n2", says: "driver d would attach 2 volumes of 1", p: fmt.Sprintf(volume, "a"), q: fmt.Sprintf(volume, "b"),
		more: fmt.Sprintf(volumes, "n2")},
	{name: "one volume for both", to: "n2", p: fmt.Sprintf(volume, "b"), q: fmt.Sprintf(volume, "b"), more: fmt.Sprintf(volumes, "n2")},
	{name: "a volume of other nodes", to: "n2", says: "volume a cannot be used", always: true, p: fmt.Sprintf(volume, "a"), more: fmt.Sprintf(volumes, "n3")},
}

// TestOrdersOfAWaveAreNamed plans two moves by hand for each rule. The verifier names the move that does not hold in
// every order if both are in one wave. It names none if p moves in the next wave.
func TestOrdersOfAWaveAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range orderCases {
		t.Run(c.name, func(t *testing.T) {
			for wave := 1; wave <= 2; wave++ {
				says := c.violations(t, wave)
				switch {
				case wave == 2 && !c.always || c.says == "":
					if says != "" {
						t.Errorf("wave %d: unexpected %s", wave, says)
					}
				case !strings.Contains(says, c.says):
					t.Errorf("wave %d: want %q, the verifier says %q", wave, c.says, says)
				}
			}
		})
	}
}

// violations returns what the verifier says about the orders of a plan in which p moves in the given wave.
func (c orderCase) violations(t *testing.T, wave int) string {
	t.Helper()
	text := "base: three-nodes\nobjects:\n"
	for _, app := range []struct{ name, node, template string }{{"p", "n1", c.p}, {"q", "n2", c.q}} {
		text += fmt.Sprintf("- {kind: Deployment, metadata: {name: %s}, pods: [1 on %s], spec: {template: {%s}}}\n", app.name, app.node, app.template)
	}
	o := (&scenario.Scenario{Cluster: []byte(text + c.more)}).Objects(t)
	o.ServerVersion = c.version
	conf := must.Get(config.Load("c", fmt.Appendf(nil, denseSettings, "kubernetes.io/hostname", 1)))(t)
	move := func(step, wave int, name, from, to string) plan.Move {
		return plan.Move{Step: step, Wave: wave, From: from, To: to, Pod: plan.PodRef{Namespace: "shop", Name: name, UID: "Pod/shop/" + name},
			Owner: plan.ObjectRef{Kind: "Deployment", Namespace: "shop", Name: name[:1]}}
	}
	made := plan.Plan{Moves: []plan.Move{move(1, 1, "q-6c8f-00", "n2", "n3"), move(2, wave, "p-6c8f-00", "n1", c.to)}}
	var says []string
	for _, v := range planverifier.Check(o, verifierRules(t, conf), made, o.TakenAt) {
		switch {
		case v.Code == planverifier.MalformedPlan:
			t.Fatal(v)
		case v.Code == planverifier.NotInEveryOrder:
			says = append(says, v.Pod+": "+v.Detail)
		}
	}
	slices.Sort(says)
	return strings.Join(says, "; ")
}

// TestRoomBesideOthers moves a pod that only n2 takes, where it leaves 6 CPUs, in one wave with other pods. They can
// leave it no room if they request more than that together, in whichever order they land.
func TestRoomBesideOthers(t *testing.T) {
	t.Parallel()
	pods := func(name string, n int, spec string) string {
		return fmt.Sprintf("- {kind: Deployment, metadata: {name: %s}, pods: [%d on n1], spec: {template: {spec: {%s}}}}\n", name, n, spec)
	}
	cpu := func(amount string) string {
		return "containers: [{name: c, resources: {requests: {cpu: " + amount + "}}}]"
	}
	besideB := `affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
  {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: b}}}]}}, ` + cpu("4")
	for _, c := range []struct{ name, others, says string }{
		{"11 small ones", pods("a", 11, cpu("100m")), ""},
		{"11 that fit beside it", pods("a", 11, cpu("545m")), ""},
		{"11 that do not", pods("a", 11, cpu("546m")), "1 nodes have room, and the wave places 11 other replacements"},
		{"20 large ones", pods("a", 20, cpu("6100m")), "1 nodes have room, and the wave places 20 other replacements"},
		{"20 of which 4 are needed", pods("a", 20, cpu("2")), "1 nodes have room, and the wave places 20 other replacements"},
		{"one that follows another", pods("a", 1, besideB) + pods("b", 1, cpu("3")), "the other replacements of the wave can leave it no node"},
		{"one that follows another and fits", pods("a", 1, besideB) + pods("b", 1, cpu("2")), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "base: three-nodes\nobjects:\n- {kind: Deployment, metadata: {name: p}, pods: [1 on n1], spec: {template: {" + onlyOnN2 + "}}}\n" + c.others
			o := (&scenario.Scenario{Cluster: []byte(text)}).Objects(t)
			conf := must.Get(config.Load("c", fmt.Appendf(nil, denseSettings, "kubernetes.io/hostname", 1)))(t)
			made := plan.Plan{}
			for i, p := range o.Pods {
				to := "n3"
				if strings.HasPrefix(p.Name, "p-") {
					to = "n2"
				}
				made.Moves = append(made.Moves, plan.Move{Step: i + 1, Wave: 1, From: "n1", To: to,
					Pod:   plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)},
					Owner: plan.ObjectRef{Kind: "Deployment", Namespace: p.Namespace, Name: p.Name[:1]}})
			}
			says := ""
			for _, v := range planverifier.Check(o, verifierRules(t, conf), made, o.TakenAt) {
				if v.Code == planverifier.NotInEveryOrder && strings.HasPrefix(v.Pod, "shop/p-") {
					says += strings.TrimPrefix(v.Detail, "in wave 1: ")
				}
			}
			if says != c.says {
				t.Errorf("the verifier says %q, want %q", says, c.says)
			}
		})
	}
}
