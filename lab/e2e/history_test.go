package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// storedPlan is what these tests read of a RebalancePlan.
type storedPlan struct {
	Metadata struct {
		Name            string
		OwnerReferences []struct{ Kind, Name string }
	}
	Spec struct {
		Mode  string
		Moves []struct {
			Step, Wave int
			Pod        struct{ Namespace, Name, UID string }
			From       string
		}
	}
	Status struct {
		Phase                string
		Evicted, AsPredicted int
		Stopped              *struct{ Code, Message string }
		Steps                []struct {
			Step          int
			State, Landed string
			EvictedAt     time.Time
			Replacement   struct{ Namespace, Name string }
		}
	}
}

// storedPlans returns the plans of the release in a namespace, the oldest first.
func storedPlans(t *testing.T, ns string) []storedPlan {
	t.Helper()
	text := must.Get(lab.Client.Discovery().RESTClient().Get().AbsPath(objectsAPI, ns, "rebalanceplans").DoRaw(t.Context()))(t)
	var list struct{ Items []storedPlan }
	must.Succeed(t, json.Unmarshal(text, &list))
	return list.Items
}

// TestAPassIsRemembered compares what a pass stores with the audit log and with the pods of the cluster.
func TestAPassIsRemembered(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, zonesConfig)
	if r := runEvenkeel(t, "run", "--once", "--config", config, "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("exit %d", r.code)
	}
	all := storedPlans(t, ns)
	if len(all) != 1 || all[0].Status.Phase != "Completed" || all[0].Spec.Mode != "Automatic" || len(all[0].Metadata.OwnerReferences) != 1 {
		t.Fatalf("%+v, want one completed plan, which the Rebalancer owns", all)
	}
	var evicted, stored []string
	for _, e := range must.Get(lab.Evictions(ns))(t) {
		if e.ResponseStatus != nil && e.ResponseStatus.Code == 201 && e.UserAgent != dryRunUserAgent {
			evicted = append(evicted, e.ObjectRef.Name)
		}
	}
	for i, s := range all[0].Status.Steps {
		stored = append(stored, all[0].Spec.Moves[i].Pod.Name)
		pod := must.Get(lab.Client.CoreV1().Pods(ns).Get(t.Context(), s.Replacement.Name, metav1.GetOptions{}))(t)
		if s.State != "Evicted" || s.Landed == "" || pod.Spec.NodeName != s.Landed || pod.CreationTimestamp.Add(2*time.Second).Before(s.EvictedAt) {
			t.Errorf("step %+v; the replacement is on %s, created at %s", s, pod.Spec.NodeName, pod.CreationTimestamp)
		}
	}
	if slices.Sort(evicted); len(evicted) != 2 || !slices.Equal(evicted, slices.Sorted(slices.Values(stored))) {
		t.Errorf("the audit log has evictions of %v, the plan of %v", evicted, stored)
	}
	if again := runEvenkeel(t, "run", "--once", "--config", config, "--lease-namespace", ns); again.code != 0 || len(storedPlans(t, ns)) != 1 {
		t.Errorf("a second pass without moves: exit %d, %d plans", again.code, len(storedPlans(t, ns)))
	}
}

// TestDeletedDefinitionsStopEvictions: while a pass is between two waves, somebody deletes the
// CustomResourceDefinition of the pause, perhaps with the pause of a person. The pass stops. When the definition is
// back, evictions stay paused until a person resumes them.
func TestDeletedDefinitionsStopEvictions(t *testing.T) {
	for _, paused := range []bool{false, true} {
		t.Run(fmt.Sprintf("paused %t", paused), func(t *testing.T) { deletedDefinition(t, paused) })
	}
}

func deletedDefinition(t *testing.T, paused bool) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, zonesConfig)
	args := []string{"run", "--once", "--config", config, "--lease-namespace", ns, "--kubeconfig", lab.Kubeconfig}
	cmd := exec.CommandContext(t.Context(), testbed.Evenkeel, args...)
	var out testbed.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must.Succeed(t, cmd.Start())
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) { return acceptedEvictions(t, ns) > 0, nil }))
	stopped, still := "it is unknown whether evictions are paused", "the Rebalancer was deleted, and perhaps a pause with it"
	if paused {
		stopped, still = "", "Paused"
		if r := runEvenkeel(t, "pause", "--reason", "upgrade", "--lease-namespace", ns); r.code != 0 {
			t.Fatalf("pause: exit %d", r.code)
		}
	}
	must.Succeed(t, lab.Client.Discovery().RESTClient().Delete().AbsPath(definitions, "rebalancers.evenkeel.io").Do(t.Context()).Error())
	t.Cleanup(func() { // the Rebalancers of the other tests are gone, too
		must.Succeed(t, lab.InstallDefinitions(context.Background(), testbed.Evenkeel))
		for _, release := range []string{ns, "default"} {
			resume := exec.Command(testbed.Evenkeel, "resume", "--lease-namespace", release, "--kubeconfig", lab.Kubeconfig)
			if out, err := resume.CombinedOutput(); err != nil {
				t.Errorf("resume: %v\n%s", err, out)
			}
		}
	})
	if err := cmd.Wait(); err == nil || !strings.Contains(out.String(), stopped) {
		t.Errorf("the pass ended with %v, want that it stopped because of the pause:\n%s", err, out.String())
	}
	checkEvictions(t, ns, 1)
	if r := runEvenkeel(t, args[:6]...); r.code != 1 || !strings.Contains(r.stderr+r.stdout, "install the CustomResourceDefinitions") {
		t.Errorf("without the definition: exit %d, want 1 and the remedy", r.code)
	}
	must.Succeed(t, lab.InstallDefinitions(t.Context(), testbed.Evenkeel))
	if r := runEvenkeel(t, args[:6]...); !strings.Contains(r.stdout+r.stderr, still) {
		t.Errorf("with the definition again: exit %d, want a pause", r.code)
	}
	checkEvictions(t, ns, 1)
	if r := runEvenkeel(t, "resume", "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("resume: exit %d", r.code)
	}
	if r := runEvenkeel(t, args[:6]...); r.code != 0 {
		t.Errorf("after resume: exit %d", r.code)
	}
	checkEvictions(t, ns, 2)
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// TestAnOlderDefinitionOfPlans: the API server drops a field of the plan that an older definition does not have. So
// nothing is evicted, and no such plan is left.
func TestAnOlderDefinitionOfPlans(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	args := []string{"run", "--once", "--config", testbed.ConfigFile(t, zonesConfig), "--lease-namespace", ns}
	api := lab.Client.Discovery().RESTClient()
	older := `[{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/moves/items/properties/acceptableNodes"}]`
	must.Succeed(t, api.Patch(types.JSONPatchType).AbsPath(definitions, "rebalanceplans.evenkeel.io").Body([]byte(older)).Do(t.Context()).Error())
	t.Cleanup(func() { must.Succeed(t, lab.InstallDefinitions(context.Background(), testbed.Evenkeel)) })
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) { // the API server takes the definition over a moment later
		o, err := answer(t, api.Post().AbsPath(objectsAPI, ns, "rebalanceplans").Param("dryRun", "All").SetHeader("Content-Type", "application/json"),
			`{"apiVersion": "evenkeel.io/v1alpha1", "kind": "RebalancePlan", "metadata": {"name": "one"}, "spec": {"id": "a", "mode": "Approve",
			"takenAt": "2026-01-01T00:00:00Z", "expires": "2026-01-02T00:00:00Z", "cluster": {}, "moves": [{"step": 1, "wave": 1, "from": "n3",
			"acceptableNodes": 1, "pod": {"namespace": "shop", "name": "p"}, "owner": {"kind": "Job", "name": "d"}, "reason": {"code": "A"}}]}}`)
		return !strings.Contains(fmt.Sprint(o), "acceptableNodes"), err
	}))
	if r := runEvenkeel(t, args...); r.code != 1 || !strings.Contains(r.stdout+r.stderr, "is older than this program") {
		t.Errorf("exit %d, want 1 and the reason", r.code)
	}
	checkEvictions(t, ns, 0)
	if n := len(storedPlans(t, ns)); n != 0 {
		t.Errorf("%d plans without all their fields are left", n)
	}
	must.Succeed(t, lab.InstallDefinitions(t.Context(), testbed.Evenkeel))
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		return runEvenkeel(t, args...).code == 0, nil
	}))
	checkEvictions(t, ns, 2)
}
