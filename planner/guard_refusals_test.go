package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// TestGuardRefusals: guards that no scenario covers refuse the pod with their reason. An empty message means that the
// guard allows the eviction.
func TestGuardRefusals(t *testing.T) {
	const disruptionTarget = `onPodConditions: [{type: DisruptionTarget, status: "True"}]`
	for _, c := range []struct {
		name, config, pod string
		code              plan.Code
		says              string
		changes           []string
	}{
		{"the namespace is being deleted", "", "web-6c8f-00", plan.NoReplacement, "namespace shop is being deleted",
			[]string{`{kind: Namespace, metadata: {name: shop, deletionTimestamp: "2026-01-02T00:00:00Z"}}`}},
		{"the owner is being deleted", "", "web-6c8f-00", plan.NoReplacement, "the pod's owner web-6c8f is being deleted",
			[]string{`{kind: ReplicaSet, metadata: {name: web-6c8f, deletionTimestamp: "2026-01-02T00:00:00Z"}}`}},
		{"the Job is suspended", "", "sum-0", plan.NoReplacement, "Job sum is suspended", []string{`{kind: Job, metadata: {name: sum}, spec: {suspend: true}}`}},
		{"the Job has ended", "", "sum-0", plan.NoReplacement, "Job sum has ended (Failed)",
			[]string{`{kind: Job, metadata: {name: sum}, status: {conditions: [{type: Failed, status: "True"}]}}`}},
		{"the Job may start pods", "", "sum-0", plan.NoReplacement, "",
			[]string{`{kind: Job, metadata: {name: sum}, status: {conditions: [{type: Failed, status: "False"}]}}`}},
		{"the owner is missing", "", "orphan", plan.OwnerNotFound, "is not in the snapshot",
			[]string{`{kind: Pod, metadata: {name: orphan, ownerReferences: [{kind: ReplicaSet, name: none}]}, spec: {nodeName: n1}}`}},
		{"the controller of the Job is missing", "", "sum-0", plan.OwnerNotFound, "CronJob shop/nightly, which controls the pod's Job sum, is not in the snapshot",
			[]string{`{kind: Job, metadata: {name: sum, ownerReferences: [{kind: CronJob, name: nightly}]}}`}},
		{"the selector does not select the namespace", "namespaces: {selector: team=a}", "web-6c8f-00", plan.NamespaceExcluded,
			`namespaces.selector "team=a" does not select namespace shop`, nil},
		{"the labels of the namespace are unknown", "namespaces: {selector: team=a}", "web-6c8f-00", plan.NamespaceExcluded,
			"the labels of namespace shop are unknown (namespaces.selector)", []string{`{kind: Namespace, metadata: {name: shop}, $patch: delete}`}},
		{"the start time is unknown", "", "web-6c8f-00", plan.PodTooYoung, "the pod has no start time",
			[]string{`{kind: Pod, metadata: {name: web-6c8f-00}, status: {startTime: null}}`}},
		{"the start time is in the future", "", "web-6c8f-00", plan.PodTooYoung, "the pod's start time 2026-01-03T00:00:00Z is in the future",
			[]string{`{kind: Pod, metadata: {name: web-6c8f-00}, status: {startTime: "2026-01-03T00:00:00Z"}}`}},
		{"pods may have any age", "guards: {minPodAge: 0s}", "web-6c8f-00", plan.PodTooYoung, "",
			[]string{`{kind: Pod, metadata: {name: web-6c8f-00}, status: {startTime: null}}`}},
		{"a FailIndex rule before DisruptionTarget", "", "sum-0", plan.JobWouldFail, "Job sum may fail when a pod is disrupted",
			[]string{`{kind: Job, metadata: {name: sum}, spec: {backoffLimit: 9, completionMode: Indexed, backoffLimitPerIndex: 9, podFailurePolicy: {rules: [
  {action: FailIndex, onPodConditions: [{type: Ready, status: "False"}]}, {action: Count, ` + disruptionTarget + `}]}}}`}},
		{"a FailIndex rule for DisruptionTarget", "", "sum-0", plan.JobWouldFail, "Job sum fails when a pod is disrupted",
			[]string{`{kind: Job, metadata: {name: sum}, spec: {backoffLimit: 9, completionMode: Indexed, backoffLimitPerIndex: 9, podFailurePolicy: {rules: [
  {action: Count, onPodConditions: [{type: Ready, status: "False"}]}, {action: FailIndex, ` + disruptionTarget + `}]}}}`}},
		{"the StatefulSet controller has not observed a change", "", "db-0", plan.RolloutInProgress, "its controller has not observed the latest change",
			[]string{`{kind: StatefulSet, metadata: {name: db, generation: 2}, pods: [2 on n1], status: {observedGeneration: 1}}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(recheckConfig, "guards: {protect: [PodsWithLocalStorage], maxUnavailableWithoutPDB: 9}\n", c.config+"\n", 1)
			s, st, conf := openScenario(t, &scenario.Scenario{Config: []byte(text), Cluster: []byte(recheckCluster)}, c.changes...)
			p := s.PodByKey("shop/" + c.pod)
			x := planner.New(conf.PlannerOptions()).Explain(s, st, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt).Pod(p.ID).Pods[0]
			i := slices.IndexFunc(x.Guards, func(g plan.RuleResult) bool { return g.Code == c.code })
			if i < 0 {
				t.Fatalf("no guard has the code %s", c.code)
			}
			if g := x.Guards[i]; g.Allows != (c.says == "") || !strings.Contains(g.Message, c.says) {
				t.Errorf("%+v, want %q", g, c.says)
			}
		})
	}
}
