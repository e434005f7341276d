package state

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestASmallConfigMapDoesNotUnpackToMuchMemory: 2 million empty objects in a few KiB.
func TestASmallConfigMapDoesNotUnpackToMuchMemory(t *testing.T) {
	head := `{"apiVersion":"` + plan.APIVersion + `","kind":"PlannerState",`
	for name, list := range map[string]string{
		"evictions": `"evictions":[`, "reservations": `"runs":[{"runID":"r","reservations":[`, "unknown fields": `"other":[`, "the head": `"kind":[`,
	} {
		packed, err := Compress([]byte(head + list + strings.Repeat("{},", 2_000_000)))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err = unpackConfigMap(&corev1.ConfigMap{BinaryData: map[string][]byte{dataKey: packed}})
		runtime.ReadMemStats(&after)
		if size := (plan.SizeError{}); !errors.As(err, &size) {
			t.Errorf("%s: %v, want a SizeError", name, err)
		}
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 64 {
			t.Errorf("%s: %d KiB unpack to %d MiB", name, len(packed)>>10, mib)
		}
	}
}
