package cluster_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/simtest"
)

// BenchmarkRead reads 500 nodes and 10,000 pods of some kilobytes from JSON.
func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	if err := cluster.Write(&text, simtest.Crowded(rand.New(rand.NewPCG(1, 3)), 500, 500, 20), cluster.JSON); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if err := cluster.Read(bytes.NewReader(text.Bytes()), "bench", &cluster.Objects{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNew indexes the same cluster.
func BenchmarkNew(b *testing.B) {
	o := simtest.Crowded(rand.New(rand.NewPCG(1, 3)), 500, 500, 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cluster.New(o); err != nil {
			b.Fatal(err)
		}
	}
}
