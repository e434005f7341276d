package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// blockedCase is one reason why the pods of d on n3 are not moved, and a way to remove the reason.
type blockedCase struct {
	code string
	// config is added to the strategies and causes the reason; freed replaces config to remove the reason. If config
	// and freed are empty, the reason is in the cluster and not in the configuration.
	config, freedConfig string
	apps                func() []seed.App
	cause, remove       func(t *testing.T, ns string)
}

// blockedCases covers guards, annotations, node states, budgets, windows and limits.
func blockedCases() []blockedCase {
	return []blockedCase{
		{code: "BlockedByPDB",
			cause:  func(t *testing.T, ns string) { createPDB(t, ns, "d", 0, 0) },
			remove: func(t *testing.T, ns string) { deletePDB(t, ns, "d") }},
		{code: "MultiplePDBs",
			cause: func(t *testing.T, ns string) {
				createPDB(t, ns, "d", 1, 1)
				createNamedPDB(t, ns, "second", "d", 1, 1)
			},
			remove: func(t *testing.T, ns string) { deletePDB(t, ns, "second") }},
		{code: "EvictNever",
			cause:  func(t *testing.T, ns string) { annotateDeployment(t, ns, "evenkeel.io/evict", `"never"`) },
			remove: func(t *testing.T, ns string) { annotateDeployment(t, ns, "evenkeel.io/evict", "null") }},
		{code: "DoNotDisrupt",
			cause:  func(t *testing.T, ns string) { annotateDeployment(t, ns, "evenkeel.io/do-not-disrupt", `"4h"`) },
			remove: func(t *testing.T, ns string) { annotateDeployment(t, ns, "evenkeel.io/do-not-disrupt", "null") }},
		{code: "RequestUnreadable",
			cause:  func(t *testing.T, ns string) { annotateDeployment(t, ns, "evenkeel.io/window", `"at night"`) },
			remove: func(t *testing.T, ns string) { annotateDeployment(t, ns, "evenkeel.io/window", `"* * * * * 1h"`) }},
		{code: "OutsideWindow", config: "windows: {deny: [{schedule: \"* * * * *\", duration: 1h}]}\n"},
		{code: "WorkloadPaused",
			cause:  func(t *testing.T, ns string) { patchDeployment(t, ns, `{"spec":{"paused":true}}`) },
			remove: func(t *testing.T, ns string) { patchDeployment(t, ns, `{"spec":{"paused":false}}`) }},
		{code: "NodeExcluded",
			cause:  func(t *testing.T, _ string) { excludeNode(t, `"true"`) },
			remove: func(t *testing.T, _ string) { excludeNode(t, "null") }},
		{code: "LocalStorage", config: "guards: {minPodAge: 0s}\n", freedConfig: "guards: {minPodAge: 0s, protect: [Jobs, BarePods]}\n",
			apps: func() []seed.App {
				apps := seed.ThreeZoneApps([3]int{1, 1, 4}, 30)
				apps[3].EmptyDir = true
				return apps
			}},
		{code: "LimitPerOwner", config: "limits: {perOwner: 0}\n"},
	}
}

// TestExplainNamesWhatHoldsAPod blocks the move of a pod for each of ten reasons. Explain must name only this reason,
// and a pass must evict no pod. After the test removes the reason, explain must report a move, and a pass must execute
// it.
func TestExplainNamesWhatHoldsAPod(t *testing.T) {
	for i, s := range blockedCases() {
		if testing.Short() && i%3 != 0 {
			continue // the short set runs four of the ten reasons
		}
		t.Run(s.code, func(t *testing.T) { s.run(t) })
	}
}

func (s blockedCase) run(t *testing.T) {
	apps := seed.ThreeZoneApps([3]int{1, 1, 4}, 30)
	if s.apps != nil {
		apps = s.apps()
	}
	ns := seedApps(t, apps)
	before, after := testbed.ConfigFile(t, zonesConfig+s.config), testbed.ConfigFile(t, zonesConfig+s.freedConfig)
	pod := movablePod(t, ns, after)
	if s.cause != nil {
		s.cause(t, ns)
		before = after
		t.Cleanup(func() { excludeNode(t, "null") })
	}
	alone := func(x explanation) bool { return x.Verdict.Code == s.code && x.OnlyObstacle }
	waitForExplanation(t, ns+"/"+pod, before, "only reason "+s.code, alone)
	runEvenkeel(t, "run", "--once", "--config", before)
	checkEvictions(t, ns, 0)

	if s.remove != nil {
		s.remove(t, ns)
	}
	waitForExplanation(t, ns+"/"+pod, after, "a move", func(x explanation) bool { return x.Move != nil })
	if r := runEvenkeel(t, "run", "--once", "--config", after); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	checkZones(t, ns, "d", 2, 2, 2)
}

// movablePod returns the name of a pod of Deployment d that a plan would move.
func movablePod(t *testing.T, ns, config string) string {
	t.Helper()
	for _, x := range explain(t, config, "workload", "deployment/"+ns+"/d") {
		if x.Move != nil {
			return x.Pod.Name
		}
	}
	t.Fatal("explain reports no move for any pod of d")
	return ""
}

// waitForExplanation calls explain until the answer is as expected, because controllers and informers need time.
func waitForExplanation(t *testing.T, pod, config, want string, ok func(explanation) bool) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), 20*time.Second, func() (bool, error) {
		x := explain(t, config, "pod", pod)
		if len(x) != 1 || !ok(x[0]) {
			return false, fmt.Errorf("explain reports %+v, want %s", x, want)
		}
		return true, nil
	}))
}

type explanation struct {
	Pod          struct{ Name string }
	Verdict      struct{ Code, Message string }
	OnlyObstacle bool
	Move         *struct{ To string }
}

// explain returns the output of explain for a pod or for the pods of a workload.
func explain(t *testing.T, config string, subject ...string) []explanation {
	t.Helper()
	r := runEvenkeel(t, append([]string{"explain", "--config", config, "--lease-namespace", "default", "-o", "json"}, subject...)...)
	warning := strings.TrimSpace(r.stderr)
	if isMissingLease := strings.Contains(warning, "has no Lease evenkeel") && !strings.Contains(warning, "\n"); r.code != 0 || warning != "" && !isMissingLease {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	var doc struct{ Pods []explanation }
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatalf("parsing the output of explain: %v in %s", err, r.stdout)
	}
	return doc.Pods
}

func deletePDB(t *testing.T, ns, name string) {
	t.Helper()
	must.Succeed(t, lab.Client.PolicyV1().PodDisruptionBudgets(ns).Delete(t.Context(), name, metav1.DeleteOptions{}))
}

func annotateDeployment(t *testing.T, ns, key, value string) {
	t.Helper()
	patchDeployment(t, ns, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, key, value))
}

// patchDeployment patches Deployment d and waits until the Deployment controller has observed the change.
func patchDeployment(t *testing.T, ns, patch string) {
	t.Helper()
	api := lab.Client.AppsV1().Deployments(ns)
	d := must.Get(api.Patch(t.Context(), "d", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}))(t)
	must.Succeed(t, seed.WaitUntil(t.Context(), 20*time.Second, func() (bool, error) {
		now, err := api.Get(t.Context(), "d", metav1.GetOptions{})
		return err == nil && now.Status.ObservedGeneration >= d.Generation, err
	}))
}

// excludeNode sets or removes the exclude annotation of n3. The function also works in a cleanup after the test.
func excludeNode(t *testing.T, value string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"evenkeel.io/exclude":%s}}}`, value)
	nodes := lab.Client.CoreV1().Nodes()
	if _, err := nodes.Patch(context.Background(), "n3", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
