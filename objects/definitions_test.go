package objects_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
)

// TestCheckDefinitions: definitions that lack a field, a value or a kind are older than the program. Newer ones are no
// error, and neither are those of this version.
func TestCheckDefinitions(t *testing.T) {
	now := string(objectstest.Definitions())
	for _, c := range []struct{ name, old, new, want string }{
		{"this version", "", "", ""},
		{"a new field of a pause", `"until":{`, `"untilEvent":{"type":"string"},"until":{`, ""},
		{"a new phase", `"Waiting","Approved"`, `"Waiting","Parked","Approved"`, ""},
		{"no field of a status", `"holder":{`, `"process":{`, "does not know RebalancePlan.status.holder"},
		{"no field of an item", `"readyAfter":{`, `"ready":{`, "does not know RebalancePlan.status.steps[].readyAfter"},
		{"no end of a pause", `"until":{`, `"till":{`, "does not know Rebalancer.spec.pause.until"},
		{"no phase Refused", `,"Refused"`, ``, "does not know the value Refused of RebalancePlan.status.phase"},
		{"no kind", `"kind":"RebalanceHistory"`, `"kind":"RebalanceLog"`, "does not know RebalanceHistory"},
		{"another version", `"version":"v1alpha1"`, `"version":"v1"`, "does not know RebalanceHistory"},
		{"no document", now, `<html>`, "invalid character"},
	} {
		if !strings.Contains(now, c.old) {
			t.Fatalf("%s: the document has no %s", c.name, c.old)
		}
		client, server := objectstest.New(nil)
		if c.old != "" {
			server.Definitions = []byte(strings.ReplaceAll(now, c.old, c.new))
		}
		err := client.CheckDefinitions(t.Context(), time.Now())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if strings.HasPrefix(c.want, "it lacks") && !errors.Is(err, objects.ErrOldDefinition) {
			t.Errorf("%s: %v is no ErrOldDefinition", c.name, err)
		}
	}
}

// TestDefinitionsAreReadAgain: a success holds for an hour, and an error for no time.
func TestDefinitionsAreReadAgain(t *testing.T) {
	client, server := objectstest.New(nil)
	read, missing := client.Definitions, apierrors.NewNotFound(schema.GroupResource{}, "")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	client.Definitions = func(context.Context) ([]byte, error) { return nil, missing }
	for range 2 {
		if err := client.CheckDefinitions(t.Context(), at); err == nil || !strings.Contains(err.Error(), "publishes no evenkeel.io/v1alpha1") {
			t.Fatalf("got %v, want that the definitions are missing", err)
		}
	}
	client.Definitions = read
	for _, after := range []time.Duration{0, 59 * time.Minute, 60 * time.Minute, 30 * time.Minute} { // the last one after a clock was set back
		must.Succeed(t, client.CheckDefinitions(t.Context(), at.Add(after)))
	}
	if n := server.Calls["get definitions"]; n != 3 {
		t.Errorf("%d reads, want one at first, one after an hour, and one after the clock was set back", n)
	}
}
