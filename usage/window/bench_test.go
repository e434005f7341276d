package window_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// largeSample returns a sample of 5,000 nodes and 150,000 pods.
func largeSample() (usage.Sample, []usage.Node) {
	s := usage.Sample{Nodes: map[string]usage.Reading{}, Pods: map[string]usage.Reading{}}
	var nodes []usage.Node
	for i := range 5000 {
		n := testNode(fmt.Sprintf("node-%04d", i))
		nodes = append(nodes, n)
		s.Nodes[n.Name] = usage.Reading{Used: map[string]int64{"cpu": int64(i % 1000), "memory": int64(i) << 20}}
		for j := range 30 {
			s.Pods[fmt.Sprintf("namespace-%02d/deployment-%04d-7d9f8-%05d", i%50, i, j)] = usage.Reading{
				Used: map[string]int64{"cpu": int64(j * 7), "memory": int64(j) << 22}}
		}
	}
	return s, nodes
}

func setSampleTime(s *usage.Sample, t time.Time) {
	s.Taken = t
	for _, m := range []map[string]usage.Reading{s.Nodes, s.Pods} {
		for k, r := range m {
			r.At = t
			m[k] = r
		}
	}
}

func benchOptions() window.Options {
	o := testOptions(window.LevelWatch{Name: "hot-nodes", Resource: "cpu", Enter: 0.8, Leave: 0.7, For: 3},
		window.LevelWatch{Name: "level", Resource: "memory", Enter: 0.1, Leave: 0.05, Deviation: true, For: 3})
	o.KeepNodeSamples = 15 * time.Minute
	return o
}

// BenchmarkAdd adds one sample. The metric MB is the memory that full windows take.
func BenchmarkAdd(b *testing.B) {
	s, nodes := largeSample()
	w := window.New(benchOptions())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 31 {
		setSampleTime(&s, secondsAfterStart(30*i))
		w.Add(s, nodes, onNodeA)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	i, spent := 31, time.Duration(0)
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		setSampleTime(&s, secondsAfterStart(30*i))
		i++
		b.StartTimer()
		begun := cputime.Used(b)
		w.Add(s, nodes, onNodeA)
		spent += cputime.Used(b) - begun
	}
	b.ReportMetric(0, "ns/op") // other programs may use the machine
	b.ReportMetric(spent.Seconds()*1000/float64(b.N), "CPU-ms/op")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
	runtime.KeepAlive(w)
}

// BenchmarkUsage computes the usage, as each pass does, and the usage without pods, as each sample does.
func BenchmarkUsage(b *testing.B) {
	s, nodes := largeSample()
	w := window.New(benchOptions())
	for i := range 31 {
		setSampleTime(&s, secondsAfterStart(30*i))
		w.Add(s, nodes, onNodeA)
	}
	b.Run("all", func(b *testing.B) {
		begun := cputime.Used(b)
		for b.Loop() {
			w.Usage(secondsAfterStart(900))
		}
		b.ReportMetric((cputime.Used(b)-begun).Seconds()*1000/float64(b.N), "CPU-ms/op")
	})
	b.Run("nodes", func(b *testing.B) {
		begun := cputime.Used(b)
		for b.Loop() {
			w.NodeUsage(secondsAfterStart(900))
		}
		b.ReportMetric((cputime.Used(b)-begun).Seconds()*1000/float64(b.N), "CPU-ms/op")
	})
}
