package guard

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestReplacementsThatAdmissionRefuses has a row for each object that an admission plugin reads, and for what it says.
func TestReplacementsThatAdmissionRefuses(t *testing.T) {
	enforce := func(labels string) string {
		return "- {kind: Namespace, metadata: {name: shop, labels: {" + labels + "}}}\n"
	}
	template := func(fields string) string {
		return "- {kind: ReplicaSet, metadata: {name: web-6c8f}, spec: {template: {" + fields + "}}}\n"
	}
	spec := func(fields string) string { return template("spec: {" + fields + "}") }
	limits := func(item string) string {
		return "- {kind: LimitRange, metadata: {name: sizes}, spec: {limits: [{" + item + "}]}}\n"
	}
	const (
		restricted = "pod-security.kubernetes.io/enforce: restricted"
		baseline   = "pod-security.kubernetes.io/enforce: baseline"
		conforming = "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, " +
			"containers: [{name: c, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]"
		conformingPods = "- {kind: Pod, metadata: {name: web-6c8f-*}, spec: {" + conforming + "}}\n"
		privileged     = "containers: [{name: c, securityContext: {privileged: true}}]"
		sidecar        = "initContainers: [{name: init, securityContext: {capabilities: {add: [NET_ADMIN]}}}]"
		probe          = "containers: [{name: c, livenessProbe: {tcpSocket: {host: example.com, port: 80}}}]"
		cpu            = "containers: [{name: c, resources: {requests: {cpu: \"1\"}, limits: {cpu: \"2\"}}}]"
		kata           = "- {kind: RuntimeClass, metadata: {name: kata}, handler: kata, overhead: {podFixed: {cpu: 100m}}, " +
			"scheduling: {nodeSelector: {kata: \"true\"}}}\n"
		high = "- {kind: PriorityClass, metadata: {name: high}, value: 1000, preemptionPolicy: PreemptLowerPriority}\n"
	)
	for name, c := range map[string]struct{ objects, want string }{
		"restricted, of an ordinary template": {enforce(restricted), "namespace shop enforces Pod Security restricted:latest, which the pod template violates: "},
		"restricted, of one that conforms":    {enforce(restricted) + spec(conforming) + conformingPods, ""},
		"restricted, only warned of":          {enforce("pod-security.kubernetes.io/warn: restricted"), ""},
		"privileged":                          {enforce("pod-security.kubernetes.io/enforce: privileged") + spec(privileged), ""},
		"baseline, of an ordinary template":   {enforce(baseline), ""},
		"baseline, privileged":                {enforce(baseline) + spec(privileged), "violates: privileged"},
		"a level that cannot be read":         {enforce("pod-security.kubernetes.io/enforce: strict"), "restricted:latest"},
		"a sidecar of a webhook":              {enforce(baseline) + "- {kind: Pod, metadata: {name: web-6c8f-*}, spec: {" + sidecar + "}}\n", "which pod web-6c8f-00 violates: non-default capabilities"},
		"a sidecar of the newest pod": {enforce(baseline) + "- {kind: Pod, metadata: {name: web-6c8f-02, creationTimestamp: \"2026-01-01T12:00:00Z\"}, spec: {" + sidecar + "}}\n",
			"which pod web-6c8f-02 violates"},
		"a sidecar of an older pod":                {enforce(baseline) + "- {kind: Pod, metadata: {name: web-6c8f-02, creationTimestamp: \"2025-01-01T12:00:00Z\"}, spec: {" + sidecar + "}}\n", ""},
		"a debug container":                        {enforce(baseline) + "- {kind: Pod, metadata: {name: web-6c8f-00}, spec: {ephemeralContainers: [{name: debug, securityContext: {privileged: true}}]}}\n", ""},
		"a host in a probe":                        {enforce(baseline) + spec(probe), "violates: probe or lifecycle host"},
		"a pinned version before it was forbidden": {enforce(baseline+", pod-security.kubernetes.io/enforce-version: v1.33") + spec(probe), ""},

		"a PriorityClass that is gone":       {spec("priorityClassName: gone"), "names PriorityClass gone, which does not exist"},
		"a PriorityClass that exists":        {high + spec("priorityClassName: high"), ""},
		"a built-in PriorityClass":           {spec("priorityClassName: system-node-critical"), ""},
		"another priority than the class":    {high + spec("priorityClassName: high, priority: 5"), "has the priority 5, but PriorityClass high has 1000"},
		"another preemption than the class":  {high + spec("priorityClassName: high, preemptionPolicy: Never"), "has the preemption policy Never"},
		"the priority of a completed pod":    {high + "- {kind: Pod, metadata: {name: web-6c8f-*}, spec: {priority: 5}}\n", ""},
		"a RuntimeClass that is gone":        {spec("runtimeClassName: gvisor"), "names RuntimeClass gvisor, which does not exist"},
		"a RuntimeClass that exists":         {kata + spec("runtimeClassName: kata"), ""},
		"another overhead":                   {kata + spec("runtimeClassName: kata, overhead: {cpu: 200m}"), "another overhead than RuntimeClass kata"},
		"the same overhead":                  {kata + spec("runtimeClassName: kata, overhead: {cpu: \"0.1\"}"), ""},
		"another node selector":              {kata + spec("runtimeClassName: kata, nodeSelector: {kata: \"false\"}"), "selects nodes with kata=false"},
		"a ServiceAccount that is gone":      {spec("serviceAccountName: builder"), "names ServiceAccount builder, which does not exist in namespace shop"},
		"a ServiceAccount of another tenant": {spec("serviceAccountName: builder") + "- {kind: ServiceAccount, metadata: {namespace: other, name: builder}}\n", "ServiceAccount builder"},
		"a ServiceAccount that exists":       {spec("serviceAccountName: builder") + "- {kind: ServiceAccount, metadata: {name: builder}}\n", ""},

		"less than min":                     {spec(cpu) + limits("type: Container, min: {cpu: 1100m}"), "LimitRange sizes refuses container c of the pod template: the least cpu is 1100m, and the request is 1"},
		"at least min":                      {spec(cpu) + limits("type: Container, min: {cpu: \"1\"}"), ""},
		"more than max":                     {spec(cpu) + limits("type: Container, max: {cpu: 1900m}"), "the most cpu is 1900m, and the limit is 2"},
		"at most max":                       {spec(cpu) + limits("type: Container, max: {cpu: \"2\"}"), ""},
		"a limit that is max by default":    {limits("type: Container, max: {memory: 1Gi}"), ""},
		"a higher ratio":                    {spec(cpu) + limits("type: Container, maxLimitRequestRatio: {cpu: 1500m}"), "the limit may be at most 1500m times the request of cpu, and they are 2 and 1"},
		"that ratio":                        {spec(cpu) + limits("type: Container, maxLimitRequestRatio: {cpu: \"2\"}"), ""},
		"a ratio without a limit":           {limits("type: Container, maxLimitRequestRatio: {cpu: \"2\"}"), "at most 2 times"},
		"a ratio with defaults":             {limits("type: Container, default: {cpu: \"2\"}, defaultRequest: {cpu: \"1\"}, maxLimitRequestRatio: {cpu: \"2\"}"), ""},
		"a default limit below the request": {spec(`containers: [{name: c, resources: {requests: {cpu: "1"}}}]`) + limits("type: Container, default: {cpu: 500m}"), "requests 1 of cpu, more than its limit 500m"},
		"more than max of pods": {spec(`containers: [{name: c, resources: {limits: {cpu: "2"}}}, {name: d, resources: {limits: {cpu: "1"}}}]`) +
			limits("type: Pod, max: {cpu: 2500m}"), "LimitRange sizes refuses the pod template: the most cpu is 2500m, and the limit is 3"},
		"max of pods without a limit": {limits("type: Pod, max: {cpu: \"2\"}"), "no limit is specified"},
		"a LimitRange of claims":      {limits("type: PersistentVolumeClaim, max: {storage: 1Gi}"), ""},
		"a LimitRange of another tenant": {spec(cpu) + "- {kind: LimitRange, metadata: {namespace: other, name: sizes}, spec: {limits: [{type: Container, max: {cpu: 1m}}]}}\n",
			""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, r := range reasonsFor(t, refusal{objects: c.objects}) {
				if r.Code == plan.ReplacementRefused && !r.Allows {
					got = r.Message
				}
			}
			if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestAdmissionWithoutObjectsOfAKind: if a kind is unknown, the rule allows the pod.
func TestAdmissionWithoutObjectsOfAKind(t *testing.T) {
	unknown := func(s *cluster.Snapshot, _ *cluster.Pod) { s.Objects.Listed, s.Objects.ServiceAccounts = nil, nil }
	denied := func(s *cluster.Snapshot, _ *cluster.Pod) {
		for _, kind := range []string{"v1 ServiceAccount", "node.k8s.io/v1 RuntimeClass", "scheduling.k8s.io/v1 PriorityClass"} {
			s.Objects.MarkUnread(kind, "permission is missing")
		}
	}
	const gone = "- {kind: ReplicaSet, metadata: {name: web-6c8f}, spec: {template: {spec: " +
		"{serviceAccountName: a, priorityClassName: b, runtimeClassName: c}}}}\n"
	for name, c := range map[string]struct {
		edit    func(*cluster.Snapshot, *cluster.Pod)
		refused bool
	}{"listed": {nil, true}, "unknown": {unknown, false}, "denied": {denied, false}} {
		got := slices.ContainsFunc(reasonsFor(t, refusal{objects: gone, edit: c.edit}),
			func(r plan.RuleResult) bool { return r.Code == plan.ReplacementRefused && !r.Allows })
		if got != c.refused {
			t.Errorf("%s: refused %t", name, got)
		}
	}
}
