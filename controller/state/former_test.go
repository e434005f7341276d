package state

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/planner/history"
)

// readFormerState returns the ConfigMaps that the program of commit 86aae4cf wrote in the lab, as kubectl printed them:
// a complete pass, a killed pass, and a pause.
func readFormerState(t *testing.T) []corev1.ConfigMap {
	t.Helper()
	text, err := os.ReadFile("testdata/former-state.json")
	if err != nil {
		t.Fatal(err)
	}
	var list corev1.ConfigMapList
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// TestStateOfAFormerProgramIsRead checks that no field of the former program's state is lost.
func TestStateOfAFormerProgramIsRead(t *testing.T) {
	client, namespace, parts := fake.NewClientset(), "", 0
	var pause *corev1.ConfigMap
	for _, cm := range readFormerState(t) {
		namespace = cm.Namespace
		if err := client.Tracker().Add(&cm); err != nil {
			t.Fatal(err)
		}
		if cm.Name == PauseName {
			pause = &cm
		}
		if !strings.HasPrefix(cm.Name, namePrefix) || len(cm.BinaryData) == 0 {
			continue
		}
		parts++
		part, text, err := unpackConfigMap(&cm)
		if err != nil {
			t.Errorf("%s: %v", cm.Name, err)
			continue
		}
		again, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(decodeAny(t, text), decodeAny(t, again)); d != "" {
			t.Errorf("%s: the program reads other fields than the former one wrote: %s", cm.Name, d)
		}
	}
	st := mustLoad(t, New(client, namespace))
	for what, n := range map[string]int{"parts": parts, "evictions": len(st.Evictions), "open passes": len(st.Runs)} {
		if n == 0 {
			t.Errorf("the former state has no %s", what)
		}
	}
	last := st.Evictions[len(st.Evictions)-1].Minute
	if n := history.CountLastHour(st, last).Cluster; n == 0 {
		t.Error("no eviction counts toward the limit per hour")
	}
	if pause == nil {
		t.Fatal("there is no pause")
	}
	if p := parsePause(pause); p.Since.IsZero() || p.Until.Sub(p.Since).Hours() != 2 || p.Reason != "release 42" || p.By == "" {
		t.Errorf("got pause %+v", p)
	}
}

func decodeAny(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
