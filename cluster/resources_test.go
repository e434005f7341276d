package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
)

// TestImpossibleAmounts checks that negative amounts are read as 0, and amounts that no machine has as the largest
// possible amount. Quantity.MilliValue overflows for the largest of them.
func TestImpossibleAmounts(t *testing.T) {
	for _, c := range []struct {
		amount               string
		milliCPU, bytes, gpu int64
	}{
		{"0", 0, 0, 0},
		{"1", 1000, 1, 1},
		{"100m", 100, 1, 1},
		{"-1", 0, 0, 0},
		{"999999", 999999000, 999999, 999999},
		{"1Pi", 1e9, 1 << 50, 1 << 50},
		{"9223372036854775807", 1e9, 1 << 50, 1 << 50},
		{"-9223372036854775808", 0, 0, 0},
		{"99999999999999999999999", 1e9, 1 << 50, 1 << 50},
	} {
		q := resourceapi.MustParse(c.amount)
		r := ResourcesOf(corev1.ResourceList{"cpu": q, "memory": q, "ephemeral-storage": q, "nvidia.com/gpu": q, "pods": q})
		if r.MilliCPU != c.milliCPU || r.MemoryBytes != c.bytes || r.EphemeralStorageByte != c.bytes ||
			r.Extended["nvidia.com/gpu"] != c.gpu {
			t.Errorf("%s is %+v", c.amount, r)
		}
	}
}

// TestSumsDoNotOverflow adds more pods of the largest amount than an int64 can count, and removes some of them.
func TestSumsDoNotOverflow(t *testing.T) {
	q := resourceapi.MustParse("8E")
	pod := ResourcesOf(corev1.ResourceList{"cpu": q, "memory": q, "nvidia.com/gpu": q})
	var sum Resources
	for range 20_000 {
		sum.Add(pod)
	}
	for range 1000 {
		sum.Sub(pod)
	}
	if sum.MilliCPU != 19_000*1e9 || sum.MemoryBytes < 1<<61 || sum.Extended["nvidia.com/gpu"] < 1<<61 {
		t.Errorf("the sum is %+v", sum)
	}
}
