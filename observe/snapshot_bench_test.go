package observe

import (
	"math/rand/v2"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// storeObjects puts objects into the stores of the informers.
func storeObjects(b *testing.B, o *Observer, objects *cluster.Objects) {
	b.Helper()
	keep := newInternCache().stripAndIntern
	for _, w := range o.watched {
		var list []any
		switch w.resource {
		case "nodes":
			list = anySlice(objects.Nodes)
		case "pods":
			list = anySlice(objects.Pods)
		case "replicasets":
			list = anySlice(objects.ReplicaSets)
		case "deployments":
			list = anySlice(objects.Deployments)
		case "namespaces":
			list = anySlice(objects.Namespaces)
		}
		for _, x := range list {
			kept, err := keep(x)
			if err == nil {
				err = w.informer.GetStore().Add(kept)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func anySlice[T any](list []T) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

// BenchmarkSnapshot takes a snapshot of 5,000 nodes and 150,000 pods in the informers. Each pod
// takes six kilobytes on the wire. cpu-s/op includes garbage collection. It is the figure to
// compare if other programs use the machine.
func BenchmarkSnapshot(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	objects := simulation.Uneven(r, 5000, 150_000)
	simulation.Realistic(r, objects)
	o := New(newClient(kubeSystem()), clocktesting.NewFakePassiveClock(objects.TakenAt.Add(time.Minute)))
	storeObjects(b, o, objects)
	objects = nil
	begun := cputime.Used(b)
	b.ReportAllocs()
	for b.Loop() {
		s := must.Get(o.Snapshot(b.Context()))(b)
		if len(s.Pods) != 150_000 {
			b.Fatalf("%d pods", len(s.Pods))
		}
	}
	b.ReportMetric((cputime.Used(b)-begun).Seconds()/float64(b.N), "cpu-s/op")
}
