package state

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// readFormerState returns ConfigMaps that the program of commit 86aae4cf wrote in the lab, as kubectl printed them:
//   - former-state.json: a complete pass, a killed pass, and a pause
//   - former-breaker.json: a pass with three bad landings, which opened the breaker, and a plan that waits for approval
func readFormerState(t *testing.T, file string) []corev1.ConfigMap {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("testdata", file)))(t)
	var list corev1.ConfigMapList
	must.Succeed(t, json.Unmarshal(text, &list))
	return list.Items
}

// loadFormerState returns the state in the ConfigMaps. It checks that no field of the former program's state is lost.
func loadFormerState(t *testing.T, items []corev1.ConfigMap) *plan.PlannerState {
	t.Helper()
	client, parts := fake.NewClientset(), 0
	for _, cm := range items {
		must.Succeed(t, client.Tracker().Add(&cm))
		if !strings.HasPrefix(cm.Name, namePrefix) {
			continue
		}
		parts++
		part, text, err := unpackConfigMap(&cm, new(unpacked))
		if err != nil {
			t.Fatalf("%s: %v", cm.Name, err)
		}
		again, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(decodeAny(t, text), decodeAny(t, again)); d != "" {
			t.Errorf("%s: the program reads other fields than the former one wrote: %s", cm.Name, d)
		}
	}
	if parts == 0 {
		t.Fatal("there is no part of a state")
	}
	st := mustLoad(t, New(client, items[0].Namespace))
	return &st
}

// TestStateOfAFormerProgramIsRead checks the limits, the open pass and the pause of a former program.
func TestStateOfAFormerProgramIsRead(t *testing.T) {
	items := readFormerState(t, "former-state.json")
	st := loadFormerState(t, items)
	if len(st.Evictions) == 0 || len(st.Runs) == 0 {
		t.Fatalf("%d counts of evictions, %d open passes; want some of both", len(st.Evictions), len(st.Runs))
	}
	last := st.Evictions[len(st.Evictions)-1].Minute
	if n := history.CountLastHour(*st, last).Cluster; n == 0 {
		t.Error("no eviction counts toward the limit per hour")
	}
	i := slices.IndexFunc(items, func(cm corev1.ConfigMap) bool { return cm.Name == FormerPauseName })
	if i < 0 {
		t.Fatal("there is no pause")
	}
	if p := formerPause(&items[i]); p.Since.IsZero() || p.Until.Sub(p.Since).Hours() != 2 || p.Reason != "release 42" || p.By == "" {
		t.Errorf("got pause %+v", p)
	}
}

// TestBreakerAndBackoffsOfAFormerProgramHold checks that they still hold until their time.
func TestBreakerAndBackoffsOfAFormerProgramHold(t *testing.T) {
	st := loadFormerState(t, readFormerState(t, "former-breaker.json"))
	if st.Breaker == nil || st.Breaker.Until.Sub(st.Breaker.At) != 10*time.Minute || st.Breaker.Reason.Code != plan.BreakerOpen {
		t.Errorf("got breaker %+v, want one of 10 minutes", st.Breaker)
	}
	if len(st.Backoffs) != 3 {
		t.Errorf("got %d back-offs, want 3", len(st.Backoffs))
	}
	for _, b := range st.Backoffs {
		if got, active := history.ActiveBackoff(*st, b.Workload, b.Since.Add(time.Minute)); !active || got.Reason.Code != plan.LandedElsewhere {
			t.Errorf("a minute later, the back-off of %v is %+v, active %v", b.Workload, got, active)
		}
	}
	if len(st.StrategyRuns) != 2 {
		t.Errorf("got last passes of strategies %v, want those of 2", st.StrategyRuns)
	}
}

func decodeAny(t *testing.T, text []byte) (v any) {
	t.Helper()
	must.Succeed(t, json.Unmarshal(text, &v))
	return v
}
