package target

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestPodsOfATemplateHaveOneResult compares the results by template with those by pod, on nodes of three platforms.
func TestPodsOfATemplateHaveOneResult(t *testing.T) {
	refused := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 9))
		o := simulation.Mixed(r)
		for _, n := range o.Nodes {
			n.Labels[corev1.LabelOSStable], n.Labels[corev1.LabelArchStable] = "linux", fmt.Sprint("arch", r.IntN(3))
		}
		s := must.Get(cluster.New(o))(t)
		targets, alone := New(s, cluster.Scope{}, nil), New(s, cluster.Scope{}, nil)
		for i := range s.Pods {
			got, want := targets.Of(&s.Pods[i]).May, alone.find(&s.Pods[i]).May
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, %s: may go to %v, want %v", seed, s.Pods[i].Object.Name, got, want)
			}
			if slices.Contains(want, false) {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("no node refuses a pod")
	}
}
