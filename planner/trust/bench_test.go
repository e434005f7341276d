package trust_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/planner/trust"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// BenchmarkCheckBinding examines a binding on 5,000 nodes with 100,000 pods. Up to 64 other pods were bound at the same
// moment, so CheckBinding makes up to 65 predictions.
func BenchmarkCheckBinding(b *testing.B) {
	for _, others := range []int{0, 64} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			s, bound := largeSnapshot(b, others+1)
			id := s.PodByUID(bound[others]).ID
			b.ReportAllocs()
			for b.Loop() {
				if _, predicted := trust.CheckBinding(s, id, bound[:others], scheduler.DefaultProfile()); !predicted {
					b.Fatal("the binding was not predicted")
				}
			}
		})
	}
}

// largeSnapshot returns a snapshot, and the UIDs of pods that were bound one second before it.
func largeSnapshot(b *testing.B, pods int) (s *cluster.Snapshot, bound []string) {
	b.Helper()
	o := simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 5000, 100_000)
	o.TakenAt = start.Add(10 * time.Second)
	for i, p := range o.Pods {
		at := start
		if i%1500 == 7 && p.Spec.NodeName != "" && len(bound) < pods {
			at = start.Add(9 * time.Second)
			bound = append(bound, string(p.UID))
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)}}
	}
	s = must.Get(cluster.New(o))(b)
	return s, bound
}
