package cluster_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

func TestStarted(t *testing.T) {
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		start *metav1.Time
		want  time.Time
		known bool
	}{
		{"no start time", nil, time.Time{}, false},
		{"the zero time", &metav1.Time{}, time.Time{}, false},
		{"after the creation", &metav1.Time{Time: created.Add(time.Minute)}, created.Add(time.Minute), true},
		{"before the creation", &metav1.Time{Time: created.Add(-time.Hour)}, created, true},
	} {
		p := cluster.Pod{Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(created)},
			Status: corev1.PodStatus{StartTime: c.start}}}
		if got, known := p.Started(); got != c.want || known != c.known {
			t.Errorf("%s: Started() = %v, %v; want %v, %v", c.name, got, known, c.want, c.known)
		}
	}
}
