package approval

import (
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A ConfigMap of a few kilobytes can unpack to millions of moves. Pending must answer it without decoding them, because
// each leader in turn would run out of memory.
func TestAHostilePlanIsNotDecoded(t *testing.T) {
	for name, text := range map[string]string{
		"many moves":    `{"apiVersion":"evenkeel.io/v1alpha1","kind":"Plan","moves":[{}` + strings.Repeat(",{}", 1<<20) + `]}`,
		"many codes":    `{"kind":"Plan","rejections":{"counts":{"a":1` + strings.Repeat(`,"b":1`, 4<<20) + `}}}`,
		"deep":          `{"kind":"Plan","x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
		"a long string": `{"kind":"Plan","id":"` + strings.Repeat("a", 40<<20) + `"}`,
	} {
		packed, err := state.Compress([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		client := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "evenkeel", Name: ConfigMapName},
			Data: map[string]string{keyState: statePending}, BinaryData: map[string][]byte{keyPlan: packed}})
		b := New(client, "evenkeel")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := b.Pending(t.Context())
		runtime.ReadMemStats(&after)
		if r != nil || err == nil || !strings.Contains(err.Error(), "reading the plan in ConfigMap evenkeel-approval: ") {
			t.Errorf("%s: request %v, error %v", name, r != nil, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 300<<20 {
			t.Errorf("%s: %d KiB packed took %d MiB to refuse, want at most 300 MiB", name, len(packed)>>10, used>>20)
		}
		if report, err := b.Report(t.Context(), ""); err != nil || report == nil || report.Stopped.Code != plan.PlanRefused {
			t.Errorf("%s: report %+v (%v), want PlanRefused", name, report, err)
		}
	}
}
