package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const objectsAPI = "/apis/evenkeel.io/v1alpha1/namespaces"

// objectKinds are the kinds of evenkeel.io, each with the content of a valid object and the columns of kubectl get.
var objectKinds = []struct{ resource, kind, content, columns string }{
	{"rebalanceplans", "RebalancePlan", `"spec": {"id": "a", "mode": "Approve", "takenAt": "2026-01-01T00:00:00Z", "expires": "2026-01-02T00:00:00Z",
		"cluster": {"uid": "u"}, "strategyNames": "zones", "moveCount": 1, "score": "81 -> 93", "moves": [{"step": 1, "wave": 1, "from": "n3",
		"pod": {"namespace": "shop", "name": "p"}, "owner": {"kind": "Deployment", "name": "d"}, "reason": {"code": "ZoneSkewed"}}]},
		"decision": {"by": "ann", "approve": {"all": true}}, "status": {"phase": "Completed"}`,
		"Name|Strategies|Mode|Phase|Moves|Evicted|As predicted|Score|Age: one zones Approve <nil> 1 <nil> <nil> 81 -> 93"},
	{"rebalancers", "Rebalancer", `"spec": {"pause": {"by": "ann"}}, "status": {"mode": "Live"}`,
		"Name|Mode|Started by|Ready|Paused by|Evicting|Score/1000|Unmet goals|Last pass|Age: one <nil> <nil> <nil> ann <nil> <nil> <nil> <nil>"},
	{"rebalanceruns", "RebalanceRun", `"spec": {"strategies": ["zones"], "by": "ann"}, "status": {"phase": "Completed"}`,
		`Name|Strategies|By|Phase|Plan|Age: one ["zones"] ann <nil> <nil>`},
	{"rebalancehistories", "RebalanceHistory", `"hours": [{"start": "2026-01-01T00:00:00Z", "evicted": 2}]`, "Name|Age: one"},
}

// TestObjects checks that the API server accepts the definitions of the four kinds with their rules: an object of each
// can be created, its status is a subresource, and kubectl get shows its columns.
func TestObjects(t *testing.T) {
	ns := seedApps(t, nil)
	server := lab.Client.Discovery().RESTClient()
	for _, k := range objectKinds {
		created := must.Get(createObject(t, ns, k.resource, k.kind, k.content))(t)
		if _, has := created["status"]; has {
			t.Errorf("%s: the API server stores a status that is set at creation", k.kind)
		}
		var table metav1.Table
		must.Succeed(t, json.Unmarshal(must.Get(server.Get().AbsPath(objectsAPI, ns, k.resource).
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context()))(t), &table))
		var names, values []string
		for i, c := range table.ColumnDefinitions {
			if names = append(names, c.Name); c.Name != "Age" {
				values = append(values, fmt.Sprint(table.Rows[0].Cells[i]))
			}
		}
		if got := strings.Join(names, "|") + ": " + strings.Join(values, " "); got != k.columns {
			t.Errorf("%s: kubectl get shows\n%s, want\n%s", k.kind, got, k.columns)
		}
		if k.kind == "RebalanceHistory" {
			continue // it has no status
		}
		changed := must.Get(answer(t, server.Patch(types.MergePatchType).AbsPath(objectsAPI, ns, k.resource, "one", "status"),
			`{"status": {"holder": "h", "leader": "h"}, "spec": null, "decision": null}`))(t)
		if fmt.Sprint(changed["status"]) == "<nil>" || fmt.Sprint(changed["spec"], changed["decision"]) != fmt.Sprint(created["spec"], created["decision"]) {
			t.Errorf("%s: an update of the status changes %v to %v", k.kind, created, changed)
		}
	}
}

// TestObjectsAreValidated checks what the API server refuses: changes of what never changes, and invalid objects.
func TestObjectsAreValidated(t *testing.T) {
	ns := seedApps(t, nil)
	for _, k := range objectKinds {
		must.Get(createObject(t, ns, k.resource, k.kind, k.content))(t)
	}
	many := strings.Repeat(`"s", `, 100) + `"t"`
	for _, c := range []struct{ name, resource, patch, want string }{
		{"a plan with other moves", "rebalanceplans", `{"spec": {"moves": []}}`, "a plan never changes"},
		{"a plan that expires later", "rebalanceplans", `{"spec": {"expires": "2027-01-01T00:00:00Z"}}`, "a plan never changes"},
		{"a decision by nobody", "rebalanceplans", `{"decision": {"by": ""}}`, "decision.by"},
		{"a decision about nothing", "rebalanceplans", `{"decision": {"approve": {"all": null}}}`, "at least 1 properties"},
		{"a decision about too many strategies", "rebalanceplans", `{"decision": {"approve": {"strategies": [` + many + `]}}}`, "at most 100 items"},
		{"a decision about steps", "rebalanceplans", `{"decision": {"approve": {"all": null, "steps": [1, 2]}}}`, ""},
		{"no decision", "rebalanceplans", `{"decision": null}`, ""},
		{"a run of other strategies", "rebalanceruns", `{"spec": {"strategies": ["hot"]}}`, "a request never changes"},
		{"a run by another person", "rebalanceruns", `{"spec": {"by": "eve"}}`, "a request never changes"},
		{"a pause with a reason", "rebalancers", `{"spec": {"pause": {"reason": "upgrade"}}}`, ""},
		{"a pause with a long reason", "rebalancers", `{"spec": {"pause": {"reason": "` + strings.Repeat("x", 301) + `"}}}`, "may not be more than 300"},
		{"no pause", "rebalancers", `{"spec": {"pause": null}}`, ""},
		{"a history with a wrong time", "rebalancehistories", `{"hours": [{"start": "noon"}]}`, "must be of type date-time"},
	} {
		r := lab.Client.Discovery().RESTClient().Patch(types.MergePatchType).AbsPath(objectsAPI, ns, c.resource, "one")
		_, err := answer(t, r, c.patch)
		if c.want == "" && err != nil || c.want != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got error %v, want %q", c.name, err, c.want)
		}
	}
	for _, strategies := range []string{`[]`, `["a", "a"]`, `[""]`} {
		_, err := createObject(t, ns, "rebalanceruns", "RebalanceRun", `"spec": {"by": "ann", "strategies": `+strategies+`}`)
		if !apierrors.IsInvalid(err) {
			t.Errorf("a request for the strategies %s: got error %v, want that it is invalid", strategies, err)
		}
	}
}

// TestAPlanThatIsPrintedCanBeCreated: the API server accepts the plan that `evenkeel plan` prints, and changes nothing
// of it. The same plan exists only once.
func TestAPlanThatIsPrintedCanBeCreated(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	r := runEvenkeel(t, "plan", "-o", "json", "--config", testbed.ConfigFile(t, zonesConfig), "--lease-namespace", ns)
	var printed map[string]any
	must.Succeed(t, json.Unmarshal([]byte(r.stdout), &printed))
	create := func() (map[string]any, error) {
		post := lab.Client.Discovery().RESTClient().Post().AbsPath(objectsAPI, ns, "rebalanceplans").SetHeader("Content-Type", "application/json").
			Param("fieldValidation", "Strict")
		return answer(t, post, r.stdout)
	}
	created := must.Get(create())(t)
	if fmt.Sprint(created["spec"]) != fmt.Sprint(printed["spec"]) || printed["status"] != nil {
		t.Errorf("the API server stores\n%v\nof\n%v", created["spec"], printed)
	}
	if _, err := create(); !apierrors.IsAlreadyExists(err) {
		t.Errorf("creating it again: %v, want that it exists", err)
	}
}

// createObject creates an object with the name one, and returns it as the API server stores it.
func createObject(t *testing.T, ns, resource, kind, content string) (map[string]any, error) {
	t.Helper()
	r := lab.Client.Discovery().RESTClient().Post().AbsPath(objectsAPI, ns, resource).SetHeader("Content-Type", "application/json")
	return answer(t, r, fmt.Sprintf(`{"apiVersion": "evenkeel.io/v1alpha1", "kind": %q, "metadata": {"name": "one"}, %s}`, kind, content))
}

// answer sends a request with a body, and returns the object in the answer.
func answer(t *testing.T, r *rest.Request, body string) (object map[string]any, err error) {
	t.Helper()
	result := r.Body([]byte(body)).Do(t.Context())
	if err := result.Error(); err != nil { // Raw does not return the message of the API server
		return nil, err
	}
	err = json.Unmarshal(must.Get(result.Raw())(t), &object)
	return object, err
}
