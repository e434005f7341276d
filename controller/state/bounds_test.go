package state

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestASmallConfigMapDoesNotUnpackToMuchMemory checks that a ConfigMap of a few KiB that unpacks to 2 million objects
// is refused without using much memory.
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
		_, _, err = unpackConfigMap(&corev1.ConfigMap{BinaryData: map[string][]byte{dataKey: packed}}, new(unpacked))
		runtime.ReadMemStats(&after)
		if size := (plan.SizeError{}); !errors.As(err, &size) {
			t.Errorf("%s: %v, want a SizeError", name, err)
		}
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 64 {
			t.Errorf("%s: %d KiB unpack to %d MiB", name, len(packed)>>10, mib)
		}
	}
}

// TestAllConfigMapsTogetherUnpackToBoundedMemory checks that Load refuses ConfigMaps that together exceed the bounds,
// although each of them is within the bounds.
func TestAllConfigMapsTogetherUnpackToBoundedMemory(t *testing.T) {
	packed, err := Compress([]byte(`{"apiVersion":"` + plan.APIVersion + `","kind":"PlannerState","other":[` +
		strings.Repeat("{},", 150_000) + "{}]}"))
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset()
	for _, name := range partNames() {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: namePrefix + name}, BinaryData: map[string][]byte{dataKey: packed}}
		must.Succeed(t, client.Tracker().Add(cm))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = New(client, "ns").Load(context.Background())
	runtime.ReadMemStats(&after)
	if size := (plan.SizeError{}); !errors.As(err, &size) {
		t.Errorf("%v, want a SizeError", err)
	}
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 256 {
		t.Errorf("%d KiB each unpack to %d MiB", len(packed)>>10, mib)
	}
}
