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

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// stuck is a reason for which the pods of d on n3 stay, and what takes it away.
type stuck struct {
	code string
	// config is added to the strategies; freed is what stands in its place once
	// the reason is gone. Both empty: the reason is in the cluster.
	config, freed string
	apps          func() []seed.App
	make, remove  func(t *testing.T, ns string)
}

// tenReasons are chosen from guards, requests of people, node states, budgets,
// windows and limits.
func tenReasons() []stuck {
	return []stuck{
		{code: "BlockedByPDB",
			make:   func(t *testing.T, ns string) { pdb(t, ns, "d", 0, 0) },
			remove: func(t *testing.T, ns string) { deletePDB(t, ns, "d") }},
		{code: "MultiplePDBs",
			make: func(t *testing.T, ns string) {
				pdb(t, ns, "d", 1, 1)
				pdbNamed(t, ns, "second", "d", 1, 1)
			},
			remove: func(t *testing.T, ns string) { deletePDB(t, ns, "second") }},
		{code: "EvictNever",
			make:   func(t *testing.T, ns string) { annotate(t, ns, "evenkeel.io/evict", `"never"`) },
			remove: func(t *testing.T, ns string) { annotate(t, ns, "evenkeel.io/evict", "null") }},
		{code: "DoNotDisrupt",
			make:   func(t *testing.T, ns string) { annotate(t, ns, "evenkeel.io/do-not-disrupt", `"4h"`) },
			remove: func(t *testing.T, ns string) { annotate(t, ns, "evenkeel.io/do-not-disrupt", "null") }},
		{code: "RequestUnreadable",
			make:   func(t *testing.T, ns string) { annotate(t, ns, "evenkeel.io/window", `"at night"`) },
			remove: func(t *testing.T, ns string) { annotate(t, ns, "evenkeel.io/window", `"* * * * * 1h"`) }},
		{code: "OutsideWindow", config: "windows: {deny: [{schedule: \"* * * * *\", duration: 1h}]}\n"},
		{code: "RolloutInProgress",
			make: func(t *testing.T, ns string) {
				patchDeployment(t, ns, `{"spec":{"paused":true,"template":{"metadata":{"annotations":{"new":"yes"}}}}}`)
			},
			remove: func(t *testing.T, ns string) {
				patchDeployment(t, ns, `{"spec":{"paused":false,"template":{"metadata":{"annotations":{"new":null}}}}}`)
			}},
		{code: "NodeExcluded",
			make:   func(t *testing.T, _ string) { excludeNode(t, `"true"`) },
			remove: func(t *testing.T, _ string) { excludeNode(t, "null") }},
		{code: "LocalStorage", config: "guards: {minPodAge: 0s}\n", freed: "guards: {minPodAge: 0s, protect: [Jobs, BarePods]}\n",
			apps: func() []seed.App {
				apps := seed.Zones([3]int{1, 1, 4}, 30)
				apps[3].EmptyDir = true
				return apps
			}},
		{code: "LimitPerOwner", config: "limits: {perOwner: 0}\n"},
	}
}

// TestExplainNamesWhatHoldsAPod: for ten pods that are stuck for ten reasons,
// explain names the reason and says that nothing else is in the way; a pass
// evicts nothing. With the reason taken away explain says that a pod is moved,
// and a pass moves it.
func TestExplainNamesWhatHoldsAPod(t *testing.T) {
	for i, s := range tenReasons() {
		if testing.Short() && i%3 != 0 {
			continue // four of the ten; the long set has all
		}
		t.Run(s.code, func(t *testing.T) { s.run(t) })
	}
}

func (s stuck) run(t *testing.T) {
	apps := seed.Zones([3]int{1, 1, 4}, 30)
	if s.apps != nil {
		apps = s.apps()
	}
	ns := scenario(t, apps)
	before, after := testbed.ConfigFile(t, zones+s.config), testbed.ConfigFile(t, zones+s.freed)
	pod := moved(t, ns, after)
	if s.make != nil {
		s.make(t, ns)
		before = after
		t.Cleanup(func() { excludeNode(t, "null") })
	}
	awaitAnswer(t, ns+"/"+pod, before, s.code+" alone", func(x explanation) bool { return x.Verdict.Code == s.code && x.Alone })
	evenkeel(t, "run", "--once", "--config", before)
	wantEvictions(t, ns, 0)

	if s.remove != nil {
		s.remove(t, ns)
	}
	awaitAnswer(t, ns+"/"+pod, after, "a move", func(x explanation) bool { return x.Moved != nil })
	if r := evenkeel(t, "run", "--once", "--config", after); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	wantZones(t, ns, "d", 2, 2, 2)
}

// moved is a pod of d that would be moved.
func moved(t *testing.T, ns, config string) string {
	t.Helper()
	for _, x := range explained(t, config, "workload", "deployment/"+ns+"/d") {
		if x.Moved != nil {
			return x.Pod.Name
		}
	}
	t.Fatal("explain says that no pod of d would be moved")
	return ""
}

// awaitAnswer asks until controllers and informers have caught up.
func awaitAnswer(t *testing.T, pod, config, want string, ok func(explanation) bool) {
	t.Helper()
	if err := seed.Until(t.Context(), 20*time.Second, func() (bool, error) {
		x := explained(t, config, "pod", pod)
		if len(x) != 1 || !ok(x[0]) {
			return false, fmt.Errorf("explain says %+v, want %s", x, want)
		}
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
}

type explanation struct {
	Pod     struct{ Name string }
	Verdict struct{ Code, Message string }
	Alone   bool
	Moved   *struct{ To string }
}

// explained asks about a pod, or the pods of a workload.
func explained(t *testing.T, config string, subject ...string) []explanation {
	t.Helper()
	r := evenkeel(t, append([]string{"explain", "--config", config, "-o", "json"}, subject...)...)
	if r.code != 0 || strings.TrimSpace(r.stderr) != "" {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	var doc struct{ Pods []explanation }
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatalf("%v in %s", err, r.stdout)
	}
	return doc.Pods
}

func deletePDB(t *testing.T, ns, name string) {
	t.Helper()
	if err := lab.Client.PolicyV1().PodDisruptionBudgets(ns).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func annotate(t *testing.T, ns, key, value string) {
	t.Helper()
	patchDeployment(t, ns, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, key, value))
}

// patchDeployment changes d and waits until its controller has seen it.
func patchDeployment(t *testing.T, ns, patch string) {
	t.Helper()
	api := lab.Client.AppsV1().Deployments(ns)
	d, err := api.Patch(t.Context(), "d", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := seed.Until(t.Context(), 20*time.Second, func() (bool, error) {
		now, err := api.Get(t.Context(), "d", metav1.GetOptions{})
		return err == nil && now.Status.ObservedGeneration >= d.Generation, err
	}); err != nil {
		t.Fatal(err)
	}
}

// excludeNode annotates n3, also after the test has ended.
func excludeNode(t *testing.T, value string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"evenkeel.io/exclude":%s}}}`, value)
	if _, err := lab.Client.CoreV1().Nodes().Patch(context.Background(), "n3", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
