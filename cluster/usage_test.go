package cluster_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func exampleUsage() *cluster.Usage {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return &cluster.Usage{
		APIVersion: "evenkeel.io/v1alpha1", Kind: "Usage", Source: "prometheus", Statistic: "p90", WindowSeconds: 300, SampledAt: at, Samples: 10,
		Nodes: []cluster.NodeUsage{{Name: "n1", At: at, Used: map[string]int64{"cpu": 900, "memory": 1 << 40},
			Deviation: map[string]int64{"cpu": 12}}},
		Pods:     []cluster.PodUsage{{Namespace: "shop", Name: "web", UID: "u", Node: "n1", Used: map[string]int64{"cpu": 7}}},
		Marks:    []cluster.Mark{{Watch: "hot-nodes", Node: "n1", Resource: "cpu", Hot: true, Samples: 3, Required: 3, Value: 0.9, Since: at}},
		Problems: []string{"Unreachable: https://10.0.0.1:9090: connection refused", "Unreachable: again", "one sample"},
	}
}

// TestReadKeepsUsage checks that a Usage survives writing and reading in both formats.
func TestReadKeepsUsage(t *testing.T) {
	o := &cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}, Usage: exampleUsage(),
		PlannerState: []byte(plannerStateJSON)}
	for _, f := range []cluster.Format{cluster.JSON, cluster.YAML} {
		var out bytes.Buffer
		must.Succeed(t, cluster.Write(&out, o, f))
		again, err := readText(t, out.String())
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if diff := cmp.Diff(exampleUsage(), again.Usage); diff != "" || len(again.Skipped) > 0 || string(again.PlannerState) != plannerStateJSON {
			t.Errorf("%s: skipped %v, state %s (-want +got):\n%s", f, again.Skipped, again.PlannerState, diff)
		}
	}
}

func TestAUsageThatCannotBeUsed(t *testing.T) {
	one := `{"apiVersion":"evenkeel.io/v1alpha1","kind":"Usage","source":"metricsServer"}`
	for text, want := range map[string]string{
		one + "\n" + one + "\n":                   "in.yaml, document 2: second Usage; a snapshot can contain only one",
		strings.ReplaceAll(one, "v1alpha1", "v2"): "a Usage of version evenkeel.io/v2, which is not supported (want evenkeel.io/v1alpha1)",
		strings.ReplaceAll(one, `"metricsServer"`, `"x","nodes":[{"used":{"cpu":1.5}}]`): "reading the Usage: nodes.used: want a whole number in range, found 1.5",
	} {
		if _, err := readText(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestRedactKeepsUsage checks that Redact keeps usage but removes addresses from problems.
func TestRedactKeepsUsage(t *testing.T) {
	o := &cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}, Usage: exampleUsage()}
	want := exampleUsage()
	want.Problems = []string{"Unreachable (redacted)", "one sample"}
	if diff := cmp.Diff(want, cluster.Redact(o).Usage); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(exampleUsage(), o.Usage); diff != "" {
		t.Errorf("Redact changed its input: %s", diff)
	}
}
