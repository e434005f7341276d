package main

import (
	"strings"
	"testing"
)

const aboutInconsistentObjects = `The section above covers objects that no API server would store. This section covers objects that an API
server may store although they are inconsistent. They are no errors: the plan says what it could not
evaluate, and moves no pod because of it. In these rows the message is part of the plan, and the exit
code is 0. Without the inconsistency the plan would move two pods of the Deployment shop/d off node n3.
`

const aboutAnnotations = `Users control evictions with [annotations](../../../docs/reference/annotations.md). Every plan lists
invalid annotations among its inputs. If an invalid annotation might have been meant to protect pods,
these pods are not evicted. Otherwise it is ignored. The rows use the same cluster as above. The
message is again part of the plan, and the exit code is 0.
`

// movesOfExample is the number of moves that Evenkeel plans for the unchanged example.
const movesOfExample = 2

func inconsistentObjectRows(*testing.T) []badInput {
	const (
		aboutD = `name: d, uid: "9e3bd53e-dde7-80b6-6ff7-84fccc7222d6", labels: {app: d}}`
		specD  = aboutD + "\n  spec: {replicas: 6"
	)
	budget := func(spec string) map[string]string {
		return map[string]string{"budget.yaml": "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {namespace: shop, name: d, generation: 1}\nspec: {" + spec + "}\nstatus: {observedGeneration: 1, expectedPods: 6, currentHealthy: 6, desiredHealthy: 5, disruptionsAllowed: 1}\n"}
	}
	const withBudget = "plan -f three-zones.yaml -f budget.yaml"
	rows := []badInput{
		{input: "a kind that does not exist", edit: []string{"kind: Service\n", "kind: Servise\n"}, moves: movesOfExample, want: "1 objects of kind v1 Servise are not read"},
		{input: "a server version that is too new", edit: []string{`server-version: "1.37"`, `server-version: "1.99"`}, want: "predictions for Kubernetes 1.99 are untrusted", moves: 2},
		{input: "no server version", edit: []string{`evenkeel.io/server-version: "1.37"`, `dumped-by: old`},
			want: "predictions for Kubernetes of unknown version are untrusted", moves: 2},
		{input: "a server version that is too old", edit: []string{`server-version: "1.37"`, `server-version: "1.10"`}, want: "predictions for Kubernetes 1.10 are untrusted", moves: 2},
		{input: "pods that start after the snapshot was taken", edit: []string{"2026-01-02T00:00:00Z", "1970-01-01T00:00:00Z"}, want: "PodTooYoung"},
		{input: "nodes without allocatable resources", edit: []string{`all:allocatable: {cpu: "10", memory: "10Gi", pods: "110"}, `, ""}, want: "its replacement fits on no other node"},
		{input: "pods that request more than any node has", edit: []string{`all:requests: {cpu: "1", memory: "1020Mi"}`, `requests: {cpu: 900k, memory: "1020Mi"}`}, want: "its replacement fits on no other node"},
		{input: "a Deployment with 0 replicas and six pods", edit: []string{specD, strings.TrimSuffix(specD, "6") + "0"}, want: "Deployment d wants 0 replicas, fewer than guards.minReplicas 2"},
		{input: "a Deployment with far fewer pods than replicas", edit: []string{specD, strings.TrimSuffix(specD, "6") + "2147483647"}, want: "6 of 2147483647 pods of Deployment d are available"},
		{input: "an owner that is being deleted", edit: []string{aboutD, strings.TrimSuffix(aboutD, "}") + `, deletionTimestamp: "2026-01-01T00:00:00Z"}`}, want: "the pod's owner d is being deleted"},
		{input: "pods of an owner that does not exist", edit: []string{"all:kind: ReplicaSet, name: d-6c8f", "kind: ReplicaSet, name: d-7777"}, want: "its ReplicaSet d-7777 is not in the snapshot"},
		{input: "pods of an owner of an unknown kind", edit: []string{"all:apiVersion: apps/v1, kind: ReplicaSet, name: d-6c8f", "apiVersion: example.com/v1, kind: Herd, name: d-6c8f"}, want: "Evenkeel does not know how example.com/Herd replaces pods"},
		{input: "a budget whose share is not a number", args: withBudget, files: budget(`selector: {matchLabels: {app: d}}, maxUnavailable: half`), want: "pdb shop/d allows no evictions"},
		{input: "a budget with an unknown operator", args: withBudget, files: budget(`selector: {matchExpressions: [{key: app, operator: Is, values: [d]}]}, maxUnavailable: 1`), want: `pdb shop/d may select this pod: its selector is invalid: "Is" is not a valid label selector operator`},
		{input: "a budget with an operator without values", args: withBudget, files: budget(`selector: {matchExpressions: [{key: app, operator: In}]}, maxUnavailable: 1`), want: "pdb shop/d may select this pod: its selector is invalid: values: Invalid value: null"},
		{input: "a budget that selects by an impossible label", args: withBudget, files: budget(`selector: {matchLabels: {app: "a b"}}, maxUnavailable: 1`), want: "pdb shop/d may select this pod: its selector is invalid: values[0][app]"},
		{input: "a budget that wants 200%", args: withBudget, files: budget(`selector: {matchLabels: {app: d}}, minAvailable: 200%`), want: "pdb shop/d never allows the eviction of a healthy pod while it has minAvailable: 200%"},
		{input: "a negative budget", args: withBudget, files: budget(`selector: {matchLabels: {app: d}}, maxUnavailable: -1`), want: "pdb shop/d never allows the eviction of a healthy pod while it has maxUnavailable: -1"},
		{input: "a budget that its controller has not processed", args: withBudget, files: map[string]string{"budget.yaml": strings.Replace(budget(`selector: {matchLabels: {app: d}}, maxUnavailable: 1`)["budget.yaml"], "generation: 1", "generation: 2", 1)}, want: "pdb shop/d was changed, and the disruption controller has not updated its status yet"},
		{input: "two budgets for the same pods", args: withBudget, files: map[string]string{"budget.yaml": budget(`selector: {matchLabels: {app: d}}, maxUnavailable: 1`)["budget.yaml"] + "---\n" + strings.Replace(budget(`selector: {matchLabels: {app: d}}, maxUnavailable: 1`)["budget.yaml"], "name: d", "name: e", 1)}, want: "2 PodDisruptionBudgets select the pod, so the Eviction API refuses to evict it"},
	}
	for i := range rows {
		if rows[i].args == "" {
			rows[i].args = planSnapshot
		}
	}
	return rows
}

func annotationRows(*testing.T) []badInput {
	on := func(object string) func(annotations string) []string {
		return func(annotations string) []string {
			return []string{object, object + ", annotations: {" + annotations + "}"}
		}
	}
	workload := on(`name: d, uid: "9e3bd53e-dde7-80b6-6ff7-84fccc7222d6"`)
	pod := on(`name: d-6c8f-02, uid: "756f0e4e-77c0-d78d-371a-8f3ee769d0c3"`)
	namespace := on(`name: shop, uid: "9d018b5f-4e53-019a-ce54-343ed7cdfde7"`)
	node := on("name: n3, uid: f741f556-7846-ad35-fd80-051c731bf880")
	long := strings.Repeat("x", 200<<10)
	rows := []badInput{
		{input: "Deployment", text: "evenkeel.io/evict: perhaps", edit: workload("evenkeel.io/evict: perhaps"), want: `evenkeel.io/evict: "perhaps" on Deployment shop/d cannot be read (want never or prefer)`},
		{input: "Deployment", text: "evenkeel.io/evict: Never", edit: workload("evenkeel.io/evict: Never"), want: `evenkeel.io/evict: "Never" on Deployment shop/d cannot be read (want never or prefer)`},
		{input: "Deployment", text: `evenkeel.io/evict: ""`, edit: workload(`evenkeel.io/evict: ""`), want: `evenkeel.io/evict: "" on Deployment shop/d cannot be read (want never or prefer)`},
		{input: "Deployment, 200 KiB", edit: workload("evenkeel.io/evict: " + long), want: `evenkeel.io/evict: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." on Deployment shop/d cannot be read (want never or prefer)`},
		{input: "namespace", text: "evenkeel.io/evict: no", edit: namespace(`evenkeel.io/evict: "no"`), want: `evenkeel.io/evict: "no" on namespace shop cannot be read (want never or prefer)`},
		{input: "one pod", text: "evenkeel.io/evict: stay", edit: pod("evenkeel.io/evict: stay"), moves: movesOfExample, want: `evenkeel.io/evict: "stay" on pod shop/d-6c8f-02 cannot be read (want never or prefer)`},
		{input: "a key that does not exist", text: "evenkeel.io/evicted: never", edit: workload("evenkeel.io/evicted: never"), want: `evenkeel.io/evicted: "never" on Deployment shop/d: no such key (did you mean evenkeel.io/evict?)`},
		{input: "Deployment", text: "evenkeel.io/do-not-disrupt: yes", edit: workload(`evenkeel.io/do-not-disrupt: "yes"`), want: `evenkeel.io/do-not-disrupt: "yes" on Deployment shop/d cannot be read (want true, false, or a duration from the pod's start, such as 4h)`},
		{input: "Deployment", text: `evenkeel.io/do-not-disrupt: "4"`, edit: workload(`evenkeel.io/do-not-disrupt: "4"`), want: `evenkeel.io/do-not-disrupt: "4" on Deployment shop/d cannot be read: it has no unit (did you mean 4h or 4m?)`},
		{input: "Deployment", text: "evenkeel.io/do-not-disrupt: 2d", edit: workload("evenkeel.io/do-not-disrupt: 2d"), want: `evenkeel.io/do-not-disrupt: "2d" on Deployment shop/d cannot be read: days are not supported (did you mean 48h?)`},
		{input: "Deployment", text: "evenkeel.io/do-not-disrupt: -4h", edit: workload("evenkeel.io/do-not-disrupt: -4h"), want: `evenkeel.io/do-not-disrupt: "-4h" on Deployment shop/d cannot be read: the duration is not above 0 (want true, false, or a duration from the pod's start, such as 4h)`},
		{input: "namespace", text: "evenkeel.io/do-not-disrupt: until Monday", edit: namespace("evenkeel.io/do-not-disrupt: until Monday"), want: `evenkeel.io/do-not-disrupt: "until Monday" on namespace shop cannot be read (want true, false, or a duration from the pod's start, such as 4h)`},
		{input: "Deployment", text: "evenkeel.io/window: at night", edit: workload("evenkeel.io/window: at night"), want: `evenkeel.io/window: "at night" on Deployment shop/d cannot be read: "at night" is not a window (want cron fields, a duration and perhaps a time zone, such as "0 22 * * 1-5 6h Europe/Berlin")`},
		{input: "Deployment, no duration", text: "evenkeel.io/window: 0 22 * * *", edit: workload(`evenkeel.io/window: "0 22 * * *"`), want: `evenkeel.io/window: "0 22 * * *" on Deployment shop/d cannot be read: "0 22 * * *" is not a window (want cron fields, a duration and perhaps a time zone, such as "0 22 * * 1-5 6h Europe/Berlin")`},
		{input: "Deployment, an invalid hour", text: "evenkeel.io/window: 0 25 * * * 6h", edit: workload(`evenkeel.io/window: "0 25 * * * 6h"`), want: `evenkeel.io/window: "0 25 * * * 6h" on Deployment shop/d cannot be read: "0 25 * * *" is not a cron expression: "25" is not a valid hour (want 0 to 23)`},
		{input: "Deployment, a window too short", text: "evenkeel.io/window: 0 3 * * * 10s", edit: workload(`evenkeel.io/window: "0 3 * * * 10s"`), want: `evenkeel.io/window: "0 3 * * * 10s" on Deployment shop/d cannot be read: a window of 10s makes no sense (want 1m to 168h)`},
		{input: "Deployment, an unknown time zone", text: "evenkeel.io/window: 0 22 * * * 6h Mars/Base", edit: workload(`evenkeel.io/window: "0 22 * * * 6h Mars/Base"`), want: `evenkeel.io/window: "0 22 * * * 6h Mars/Base" on Deployment shop/d cannot be read: "Mars/Base" is not a time zone (want an IANA name, such as Europe/Berlin or Etc/UTC)`},
		{input: "Deployment, the second of two windows", text: "evenkeel.io/window: 0 22 * * * 6h; soon", edit: workload(`evenkeel.io/window: "0 22 * * * 6h; soon"`), want: `evenkeel.io/window: "0 22 * * * 6h; soon" on Deployment shop/d cannot be read: "soon" is not a window (want cron fields, a duration and perhaps a time zone, such as "0 22 * * 1-5 6h Europe/Berlin")`},
		{input: "Deployment, an impossible day", text: "evenkeel.io/window: 0 0 30 2 * 6h", edit: workload(`evenkeel.io/window: "0 0 30 2 * 6h"`), want: `evenkeel.io/window: "0 0 30 2 * 6h" on Deployment shop/d cannot be read: "0 0 30 2 *" never fires: no year has such a day`},
		{input: "Deployment", text: "evenkeel.io/spread-by: the zone", edit: workload("evenkeel.io/spread-by: the zone"), moves: movesOfExample, want: `evenkeel.io/spread-by: "the zone" on Deployment shop/d cannot be read (want a topology key, such as topology.kubernetes.io/zone)`},
		{input: "Deployment", text: `evenkeel.io/max-skew: "0"`, edit: workload(`evenkeel.io/max-skew: "0"`), moves: movesOfExample, want: `evenkeel.io/max-skew: "0" on Deployment shop/d cannot be read (want an integer of 1 or more)`},
		{input: "Deployment", text: "evenkeel.io/max-skew: one", edit: workload("evenkeel.io/max-skew: one"), moves: movesOfExample, want: `evenkeel.io/max-skew: "one" on Deployment shop/d cannot be read (want an integer of 1 or more)`},
		{input: "Deployment", text: `evenkeel.io/zone-slo: "5"`, edit: workload(`evenkeel.io/zone-slo: "5"`), moves: movesOfExample, want: `evenkeel.io/zone-slo: "5" on Deployment shop/d cannot be read (want 3 or 4, the worst failure category allowed)`},
		{input: "node n3", text: "evenkeel.io/exclude: maybe", edit: node("evenkeel.io/exclude: maybe"), want: `evenkeel.io/exclude: "maybe" on node n3 cannot be read (want true or false)`},
		{input: "node n3", text: "evenkeel.io/drain-first: soon", edit: node("evenkeel.io/drain-first: soon"), moves: movesOfExample, want: `evenkeel.io/drain-first: "soon" on node n3 cannot be read (want true or false)`},
		{input: "node n3, a key that does not exist", text: "evenkeel.io/drain: true", edit: node(`evenkeel.io/drain: "true"`), want: `evenkeel.io/drain: "true" on node n3: no such key on nodes (want one of evenkeel.io/exclude, evenkeel.io/drain-first)`},
		{input: "node n3, a misspelled key", text: "evenkeel.io/exlude: true", edit: node(`evenkeel.io/exlude: "true"`), want: `evenkeel.io/exlude: "true" on node n3: no such key (did you mean evenkeel.io/exclude?)`},
		{input: "Deployment, a key of nodes", text: "evenkeel.io/exclude: true", edit: workload(`evenkeel.io/exclude: "true"`), want: `evenkeel.io/exclude: "true" on Deployment shop/d: it belongs on nodes`},
		{input: "node n3, a key of pods", text: "evenkeel.io/evict: never", edit: node("evenkeel.io/evict: never"), want: `evenkeel.io/evict: "never" on node n3: it belongs on pods, workloads and namespaces`},
		{input: "one pod", text: "cluster-autoscaler.kubernetes.io/safe-to-evict: no", edit: pod(`cluster-autoscaler.kubernetes.io/safe-to-evict: "no"`), moves: movesOfExample, want: `cluster-autoscaler.kubernetes.io/safe-to-evict: "no" on pod shop/d-6c8f-02 cannot be read (want true or false)`},
		{input: "one pod", text: "karpenter.sh/do-not-disrupt: yes", edit: pod(`karpenter.sh/do-not-disrupt: "yes"`), moves: movesOfExample, want: `karpenter.sh/do-not-disrupt: "yes" on pod shop/d-6c8f-02 cannot be read (want true, false, or a duration from the pod's start, such as 4h)`},
	}
	for i := range rows {
		rows[i].args = planSnapshot
	}
	return rows
}
