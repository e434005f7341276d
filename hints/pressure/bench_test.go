package pressure_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// BenchmarkDecide measures one sample of 5,000 nodes. 1,000 of them are hot and have a hint,
// and no node must be written.
func BenchmarkDecide(b *testing.B) {
	o := pressure.Options{Label: "status=presure", Taint: pressure.Key, MaxHintedFrac: 0.34, TTL: 10 * time.Minute, Rules: []pressure.Rule{
		{Name: "cpu", Resource: "cpu", Enter: 0.8, Leave: 0.7}, {Name: "memory", Resource: "memory", Enter: 0.9, Leave: 0.8},
	}}
	u := &cluster.Usage{SampledAt: noon}
	var nodes []*corev1.Node
	for i := range 5000 {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%04d", i), Labels: map[string]string{},
			Annotations: map[string]string{}}}
		for j := range 20 {
			n.Labels[fmt.Sprint("example.com/label-", j)], n.Annotations[fmt.Sprint("example.com/note-", j)] = "x", "y"
		}
		for range 50 { // the images are most of a node's size
			n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{"registry.example.com/a/b@sha256:0123456789abcdef",
				"registry.example.com/a/b:1"}, SizeBytes: 1})
		}
		u.Nodes = append(u.Nodes, cluster.NodeUsage{Name: n.Name, At: noon, Used: map[string]int64{"cpu": 1, "memory": 1}})
		if i%5 == 0 {
			u.Marks = append(u.Marks, cluster.Mark{Watch: "hints/cpu", Node: n.Name, Resource: "cpu", Hot: true, Value: 0.9})
		}
		nodes = append(nodes, n)
	}
	seen := pressure.LastHot{}
	index := map[string]int{}
	for i, n := range nodes {
		index[n.Name] = i
	}
	for _, c := range o.Decide(nodes, u, seen, noon).Changes {
		nodes[index[c.Node]], _ = o.Owned().WithHint(nodes[index[c.Node]], *c.Hint)
	}
	for b.Loop() {
		if d := o.Decide(nodes, u, seen, noon); len(d.Changes) > 0 || len(d.Hinted) != 1000 {
			b.Fatalf("got %d changes, %d hinted nodes", len(d.Changes), len(d.Hinted))
		}
	}
}
