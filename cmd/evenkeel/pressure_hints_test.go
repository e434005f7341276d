package main

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// TestHintedNodes checks that a process finds the hinted nodes by their hints and labels, even if it is not the leader.
func TestHintedNodes(t *testing.T) {
	on := config.Default()
	on.Hints.Enabled, on.Hints.Label = true, "status=presure"
	tainted, _ := on.PressureOptions().Owned().WithHint(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}},
		pressure.Hint{Rule: "cpu", Value: 0.9, Taint: on.Hints.TaintKey(), Expires: time.Now()})
	nodes := []*corev1.Node{tainted, {ObjectMeta: metav1.ObjectMeta{Name: "n2"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "n3", Labels: map[string]string{"status": "presure"}}}}
	p := &pressureHints{nodes: func() []*corev1.Node { return nodes }}
	if _, _, on := p.HintedNodes(); on {
		t.Error("hints are enabled without a configuration")
	}
	p.setConfig(config.Default())
	if _, _, on := p.HintedNodes(); on {
		t.Error("hints are enabled, although the configuration disables them")
	}
	p.setConfig(on)
	if nodes, value, on := p.HintedNodes(); !slices.Equal(nodes, []string{"n1", "n3"}) || value != "presure" || !on {
		t.Errorf("%v %s %t", nodes, value, on)
	}
}
