package waiting

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/controller/state"
)

// TestPlansOfAFormerProgramAreRead checks that no field of the waiting plans of the program of commit 86aae4cf is lost.
func TestPlansOfAFormerProgramAreRead(t *testing.T) {
	text, err := os.ReadFile("../state/testdata/former-state.json")
	if err != nil {
		t.Fatal(err)
	}
	var list corev1.ConfigMapList
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, cm := range list.Items {
		if cm.Name != ConfigMapName {
			continue
		}
		plans, err := decode(cm.BinaryData[keyPlans])
		if err != nil {
			t.Fatal(err)
		}
		if len(plans.Waiting) != 1 || len(plans.Waiting[0].Moves) == 0 {
			t.Fatalf("got %d waiting plans, want 1 with moves", len(plans.Waiting))
		}
		text, err := state.Decompress(cm.BinaryData[keyPlans])
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(plans)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("the program reads other fields than the former one wrote: %s", d)
		}
		return
	}
	t.Error("no plan waits")
}
