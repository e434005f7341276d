package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
)

// TestPools checks which label names the pools: one of the configuration with several values, or else that of an
// autoscaler.
func TestPools(t *testing.T) {
	node := func(name string, labels map[string]string) cluster.Node {
		return cluster.Node{Name: name, Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}}
	}
	s := &cluster.Snapshot{Nodes: []cluster.Node{node("n1", map[string]string{"pool": "a", "os": "linux", "karpenter.sh/nodepool": "default"}),
		node("n2", map[string]string{"pool": "b", "os": "linux"}), node("n3", nil)}}
	for selector, want := range map[string]string{"": "karpenter.sh/nodepool", "os=linux": "karpenter.sh/nodepool", "os=linux,pool in (a)": "pool", "!!": "karpenter.sh/nodepool"} {
		c := config.Default()
		c.Strategies = []config.Strategy{{NodeSelector: selector}}
		label, of := pools(c, s)
		if label != want || of["n3"] != "" || label == "pool" && of["n2"] != "b" {
			t.Errorf("selector %q: label %q with %v, want %q", selector, label, of, want)
		}
	}
	for _, key := range []string{"agentpool", "kops.k8s.io/instancegroup", "node.cluster.x-k8s.io/pool"} {
		s := &cluster.Snapshot{Nodes: []cluster.Node{node("n1", map[string]string{key: "a"})}}
		if label, _ := pools(config.Default(), s); label != key {
			t.Errorf("label %q, want %q", label, key)
		}
	}
	if label, of := pools(config.Default(), &cluster.Snapshot{}); label != "" || of != nil {
		t.Errorf("no nodes: label %q with %v", label, of)
	}
}
