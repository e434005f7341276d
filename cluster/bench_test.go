package cluster_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// BenchmarkRead reads 500 nodes and 10,000 pods of several kilobytes each from JSON.
func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	must.Succeed(b, cluster.Write(&text, simulation.Crowded(rand.New(rand.NewPCG(1, 3)), 500, 500, 20), cluster.JSON))
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		must.Succeed(b, cluster.Read(bytes.NewReader(text.Bytes()), "bench", &cluster.Objects{}))
	}
}

// BenchmarkNew indexes clusters whose pods are as large as those of an API server.
func BenchmarkNew(b *testing.B) {
	for _, size := range [][2]int{{500, 10_000}, {5000, 150_000}} {
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", size[0], size[1]), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			o := simulation.Uneven(r, size[0], size[1])
			simulation.Realistic(r, o)
			r.Shuffle(len(o.Pods), func(i, j int) { o.Pods[i], o.Pods[j] = o.Pods[j], o.Pods[i] }) // in random order, as from an informer
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cluster.New(o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
