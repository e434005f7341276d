package placement

import (
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestReplacementBesideTerminatingPod places replacements while their pods still terminate. The
// model must then predict the same as a model of a cluster in which the pods have a deletion
// timestamp and the replacements are bound. After the pods are gone, it must predict the same as
// after plain moves.
func TestReplacementBesideTerminatingPod(t *testing.T) {
	for seed := range int64(12) {
		rnd := rand.New(rand.NewSource(seed))
		b, other := newVariedCluster(seed, 30+int(seed%2)*100), newVariedCluster(seed, 30+int(seed%2)*100)
		beside, moved := b.modelWithProfile(t, scheduler.DefaultProfile()), b.modelWithProfile(t, scheduler.DefaultProfile())
		victims := map[string]bool{}
		for range 12 {
			i := rnd.Intn(len(b.objects.Pods))
			victim, to := b.objects.Pods[i], cluster.NodeID(rnd.Intn(len(b.objects.Nodes)))
			id := podID(t, beside, victim.Name)
			if victims[victim.Name] || beside.Cluster.NodeOf(id) == cluster.NoNode || beside.Cluster.NodeOf(id) == to {
				continue
			}
			victims[victim.Name] = true
			beside.Predict(podID(t, beside, b.objects.Pods[rnd.Intn(len(b.objects.Pods))].Name)) // fills caches
			beside.Cluster.PlaceReplacement(id, to)
			moved.Cluster.Move(id, to)
			replacement := victim.DeepCopy()
			replacement.Name, replacement.UID = victim.Name+"-r", types.UID(victim.Name+"-r")
			replacement.Spec.NodeName = beside.Cluster.Snap.Nodes[to].Name
			other.objects.Pods[i].DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
			other.objects.Pods = append(other.objects.Pods, replacement)
		}
		bound := other.modelWithProfile(t, scheduler.DefaultProfile())
		same := func(when string, want *ClusterModel) {
			for i := range b.objects.Pods {
				name := b.objects.Pods[i].Name
				if i%5 != 0 || victims[name] {
					continue
				}
				got := beside.Predict(podID(t, beside, name))
				if want := want.Predict(podID(t, want, name)); !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d, %s: %s is predicted as %+v, want %+v", seed, when, name, got, want)
				}
			}
		}
		same("while the pods terminate", bound)
		for name := range victims {
			beside.Cluster.EndTermination(podID(t, beside, name))
		}
		same("after the pods are gone", moved)
	}
}
