package waiting

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// formerPlans returns the packed plans that the program of commit 86aae4cf wrote in the lab.
func formerPlans(t *testing.T) []byte {
	t.Helper()
	text := must.Get(os.ReadFile("../state/testdata/former-breaker.json"))(t)
	var list corev1.ConfigMapList
	must.Succeed(t, json.Unmarshal(text, &list))
	for _, cm := range list.Items {
		if cm.Name == ConfigMapName {
			return cm.BinaryData[keyPlans]
		}
	}
	t.Fatal("no plan waits")
	return nil
}

// TestPlanOfAFormerProgramIsRead checks that no field of a plan that waits is lost, so that it can be approved after
// an upgrade. A move of today has a priority in place of the former cost, which nothing reads.
func TestPlanOfAFormerProgramIsRead(t *testing.T) {
	packed := formerPlans(t)
	plans := must.Get(decode(packed))(t)
	if len(plans.Waiting) != 1 || len(plans.Waiting[0].Plan.Moves) != 5 {
		t.Fatalf("got %d plans, want 1 with 5 moves", len(plans.Waiting))
	}
	if m := plans.Waiting[0].Plan.Moves[0]; m.Pod.Namespace != "mill" || m.From != "n2" || m.Reason.Code != plan.ZoneSkewed {
		t.Errorf("got move %+v", m)
	}
	text := must.Get(state.Decompress(packed))(t)
	again := must.Get(json.Marshal(plans))(t)
	orderOfMoves := cmpopts.IgnoreMapEntries(func(key string, _ any) bool { return key == "cost" || key == "priority" })
	if d := cmp.Diff(decodeAny(t, text), decodeAny(t, again), orderOfMoves); d != "" {
		t.Errorf("the program reads other fields than the former one wrote: %s", d)
	}
}

func decodeAny(t *testing.T, text []byte) (v any) {
	t.Helper()
	must.Succeed(t, json.Unmarshal(text, &v))
	return v
}
