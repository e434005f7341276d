package charttest

import (
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// applyCRDs installs the CustomResourceDefinitions with evenkeel crds and kubectl, and deletes them when the test ends.
func applyCRDs(t *testing.T, r release) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "crds.yaml")
	must.Succeed(t, os.WriteFile(file, must.Get(exec.Command(testbed.Evenkeel, "crds").Output())(t), 0o600))
	t.Cleanup(func() { r.runKubectl(t, "delete", "--ignore-not-found", "-f", file) })
	r.runKubectl(t, "apply", "-f", file) // not --server-side: they must be small enough for the annotation
}

// TestCRDs installs a release that owns the CustomResourceDefinitions. The API server must store what the chart
// renders. Another release must not install them, until it has taken them over from the first one, which is gone then.
func TestCRDs(t *testing.T) {
	ctx := t.Context()
	first, second := newRelease("first", "ek-owner"), newRelease("second", "ek-other")
	createNamespace(ctx, t, first.namespace)
	first.installChart(t, chart)
	rest := first.client.CoreV1().RESTClient()
	var names []string
	for doc := range strings.SplitSeq(first.runHelm(t, "get", "manifest", first.name), "\n---\n") {
		var want, stored struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     any
		}
		must.Succeed(t, yaml.Unmarshal([]byte(doc), &want))
		if want.Kind != "CustomResourceDefinition" {
			continue
		}
		must.Succeed(t, yaml.Unmarshal(must.Get(rest.Get().AbsPath(definitionsPath, want.Metadata.Name).DoRaw(ctx))(t), &stored))
		if !reflect.DeepEqual(stored.Spec, want.Spec) {
			t.Errorf("the API server stores another %s than the chart renders:\n%v\n%v", want.Metadata.Name, stored.Spec, want.Spec)
		}
		names = append(names, want.Metadata.Name)
	}
	if len(names) != 4 {
		t.Fatalf("the release has the definitions %v, want 4", names)
	}
	createNamespace(ctx, t, second.namespace)
	out, err := second.helm(t, "install", second.name, chart, "--set", image).CombinedOutput()
	if want := "belongs to release first in namespace ek-owner (want crds.install: false"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("a second release: %v, want %q\n%s", err, want, out)
	}
	second.installChart(t, chart, "--set", "crds.install=false")
	plans := "/apis/evenkeel.io/v1alpha1/namespaces/" + first.namespace + "/rebalanceplans"
	must.Succeed(t, rest.Post().AbsPath(plans).SetHeader("Content-Type", "application/json").Body([]byte(planObject("kept"))).Do(ctx).Error())

	first.runHelm(t, "uninstall", first.name)
	must.Succeed(t, rest.Get().AbsPath(plans, "kept").Do(ctx).Error())
	for _, name := range names { // as in the README of the chart
		first.runKubectl(t, "annotate", "--overwrite", "crd", name, "meta.helm.sh/release-name=second", "meta.helm.sh/release-namespace=ek-other")
	}
	second.upgrade(t, "--set", "crds.install=true,crds.keep=false")
	second.uninstall(ctx, t)
	if err := rest.Get().AbsPath(definitionsPath, names[0]).Do(ctx).Error(); !apierrors.IsNotFound(err) {
		t.Errorf("with crds.keep false, uninstalling leaves %s: %v", names[0], err)
	}
}

// planObject returns a RebalancePlan.
func planObject(name string) string {
	return `{"apiVersion": "evenkeel.io/v1alpha1", "kind": "RebalancePlan", "metadata": {"name": "` + name + `"}, "spec": {"id": "a",
		"mode": "Approve", "takenAt": "2026-01-01T00:00:00Z", "expires": "2026-01-02T00:00:00Z", "cluster": {}}}`
}

// TestPeopleWriteTheirKinds checks that each role may write its kind of object and no other, only in the name of the
// user, and that each role sees all kinds. The attempts are dry runs on the API server.
func TestPeopleWriteTheirKinds(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-objects")
	r.install(ctx, t, peopleArgs...)
	path := "/apis/evenkeel.io/v1alpha1/namespaces/" + r.namespace
	rest := r.client.CoreV1().RESTClient()
	for resource, text := range map[string]string{"rebalanceplans": planObject("a"),
		"rebalancers": `{"apiVersion": "evenkeel.io/v1alpha1", "kind": "Rebalancer", "metadata": {"name": "a"}}`} {
		must.Succeed(t, rest.Post().AbsPath(path, resource).SetHeader("Content-Type", "application/json").Body([]byte(text)).Do(ctx).Error())
	}
	run := func(by string) object {
		return object{"apiVersion": "evenkeel.io/v1alpha1", "kind": "RebalanceRun", "metadata": object{"name": "b"},
			"spec": object{"strategies": []string{"zones"}, "by": by}}
	}
	plan := object{}
	must.Succeed(t, yaml.Unmarshal([]byte(planObject("b")), &plan))
	decide := func(by, refused string) attempt {
		return attempt{"decide as " + by, http.MethodPatch, path + "/rebalanceplans/a",
			object{"decision": object{"by": by, "approve": object{"all": true}}}, refused}
	}
	pause := func(by, refused string) attempt {
		return attempt{"pause as " + by, http.MethodPatch, path + "/rebalancers/a", object{"spec": object{"pause": object{"by": by}}}, refused}
	}
	ask := func(by, refused string) attempt {
		return attempt{"run as " + by, http.MethodPost, path + "/rebalanceruns", run(by), refused}
	}
	decided := object{"decision": object{"by": "jo", "approve": object{"all": true}}}
	maps.Copy(decided, plan)
	propose := func(refused string) attempt {
		return attempt{"propose a plan", http.MethodPost, path + "/rebalanceplans", plan, refused}
	}
	see := func(refused string) (list []attempt) {
		for _, resource := range []string{"rebalanceplans", "rebalancers", "rebalanceruns", "rebalancehistories"} {
			list = append(list, attempt{"see " + resource, http.MethodGet, path + "/" + resource, nil, refused})
		}
		return list
	}
	resume := attempt{"resume", http.MethodPatch, path + "/rebalancers/a", object{"spec": object{"pause": nil}}, ""}
	for group, attempts := range map[string][]attempt{
		"readers":   append(see(""), decide("jo", byRBAC), pause("jo", byRBAC), ask("jo", byRBAC), propose(byRBAC)),
		"approvers": append(see(""), decide("jo", ""), decide("eve", byPolicy), pause("jo", byRBAC), ask("jo", byRBAC), propose(byRBAC)),
		"pausers":   append(see(""), pause("jo", ""), pause("eve", byPolicy), resume, decide("jo", byRBAC), ask("jo", byRBAC), propose(byRBAC)),
		"runners": append(see(""), ask("jo", ""), ask("eve", byPolicy), propose(""),
			attempt{"propose a decided plan", http.MethodPost, path + "/rebalanceplans", decided, byPolicy}, decide("jo", byRBAC), pause("jo", byRBAC)),
		"others": append(see(byRBAC), decide("jo", byRBAC), pause("jo", byRBAC), ask("jo", byRBAC), propose(byRBAC)),
	} {
		checkAttempts(ctx, t, r.clientOf(t, group), attempts)
	}
	// Who may update an object may change its other fields, and remove the decision or the pause of another person.
	jo := r.client.CoreV1().RESTClient()
	for resource, patch := range map[string]string{"rebalanceplans": `{"decision": {"by": "admin", "discard": {"all": true}}}`,
		"rebalancers": `{"spec": {"pause": {"by": "admin"}}}`} {
		must.Succeed(t, jo.Patch("application/merge-patch+json").AbsPath(path, resource, "a").Body([]byte(patch)).Do(ctx).Error())
	}
	owned := object{"metadata": object{"ownerReferences": []object{{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "gone"}}}}
	held := object{"metadata": object{"finalizers": []string{"example.org/held"}}}
	for group, resource := range map[string]string{"approvers": "/rebalanceplans/a", "pausers": "/rebalancers/a"} {
		checkAttempts(ctx, t, r.clientOf(t, group), []attempt{{"delete it by an owner that is gone", http.MethodPatch, path + resource, owned, byPolicy},
			{"keep it by a finalizer", http.MethodPatch, path + resource, held, byPolicy}})
	}
	label := object{"metadata": object{"labels": object{"a": "b"}}}
	checkAttempts(ctx, t, r.clientOf(t, "approvers"), []attempt{{"label a decided plan", http.MethodPatch, path + "/rebalanceplans/a", label, ""},
		{"extend the decision of another", http.MethodPatch, path + "/rebalanceplans/a", object{"decision": object{"approve": object{"all": true}}}, byPolicy},
		{"remove a decision", http.MethodPatch, path + "/rebalanceplans/a", object{"decision": nil}, ""}})
	checkAttempts(ctx, t, r.clientOf(t, "pausers"), []attempt{{"label a paused release", http.MethodPatch, path + "/rebalancers/a", label, ""},
		{"extend the pause of another", http.MethodPatch, path + "/rebalancers/a", object{"spec": object{"pause": object{"reason": "x"}}}, byPolicy}, resume})
	checkAttempts(ctx, t, r.client, []attempt{{"create a paused release as eve", http.MethodPost, path + "/rebalancers",
		object{"apiVersion": "evenkeel.io/v1alpha1", "kind": "Rebalancer", "metadata": object{"name": "b"}, "spec": object{"pause": object{"by": "eve"}}}, byPolicy}})
	r.uninstall(ctx, t)
}
