package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestAmounts(t *testing.T) {
	u := newUsageFixture("metricsServer", "n1", "n2", "n3", "n4")
	u.addPod("a", "a1", "n1", 100, -time.Hour)
	u.addPod("b", "b1", "n1", 200, -time.Hour)
	u.addPod("b", "b2", "n2", 200, -time.Hour) // unknown
	u.addPod("b", "b3", "n3", 200, time.Second)
	for _, n := range []string{"n1", "n2", "n3", "n4"} {
		u.addNodeUsage(n, 1000)
	}
	u.o.Usage.Nodes[3].At = sampleTime.Add(-10 * time.Minute)
	u.addPodUsage("a1", "uid-a1", "n1", 400)
	u.addPodUsage("b1", "uid-b1", "n1", 500)
	s := u.snapshot(t)
	onlyB := must.Get(labels.Parse("app=b"))(t)
	trust := UsageRequirements{MaxAge: 3 * time.Minute, MinCoverage: 0.75}
	for _, c := range []struct {
		what  string
		m     Measure
		t     UsageRequirements
		nodes string // used/certain
		pods  string // freed/added of a1 b1 b2 b3
		known int
	}{
		{"requests", Measure{Resource: "cpu"}, trust, "300/300 200/200 200/200 0/0", "100/100 200/200 200/200 200/200", 4},
		{"requests of some", Measure{Resource: "cpu", Pods: onlyB}, trust, "200/200 200/200 200/200 0/0", "0/0 200/200 200/200 200/200", 4},
		{"numbers of pods", Measure{Resource: "pods"}, trust, "2/2 1/1 1/1 0/0", "1/1 1/1 1/1 1/1", 4},
		{"numbers of some pods", Measure{Resource: "pods", Pods: onlyB}, trust, "1/1 1/1 1/1 0/0", "0/0 1/1 1/1 1/1", 4},
		{"load", Measure{ByUsage: true, Resource: "cpu"}, trust, "1000/1000 1000/1000 1500/1000 ?", "400/400 500/500 0/500 0/500", 3},
		{"usage of any age", Measure{ByUsage: true, Resource: "cpu"}, UsageRequirements{}, "1000/1000 1000/1000 1500/1000 1000/1000",
			"400/400 500/500 0/500 0/500", 4},
		{"usage of some pods: unknown if one of them is unknown", Measure{ByUsage: true, Resource: "cpu", Pods: onlyB}, trust,
			"500/500 ? 500/0 ?",
			"0/0 500/500 0/500 0/500", 2},
		{"usage of a resource that is not measured", Measure{ByUsage: true, Resource: "memory"}, trust, "? ? ? ?", "0/0 0/0 0/0 0/0", 0},
	} {
		a := s.Amounts(c.m, c.t)
		var nodes, pods []string
		for i := range s.Nodes {
			used, sure, known := a.NodeUsed(NodeID(i))
			if !known {
				nodes = append(nodes, "?")
				continue
			}
			nodes = append(nodes, fmt.Sprintf("%d/%d", used, sure))
		}
		for i := range s.Pods {
			pods = append(pods, fmt.Sprintf("%d/%d", a.Contribution(PodID(i), s.Pods[i].Node), a.Contribution(PodID(i), NoNode)))
		}
		if got := strings.Join(nodes, " "); got != c.nodes {
			t.Errorf("%s: nodes %s, want %s", c.what, got, c.nodes)
		}
		if got := strings.Join(pods, " "); got != c.pods {
			t.Errorf("%s: pods %s, want %s", c.what, got, c.pods)
		}
		known, all := a.Coverage(Scope{})
		if known != c.known || all != 4 {
			t.Errorf("%s: %d of %d nodes are known, want %d of 4", c.what, known, all, c.known)
		}
		if got := a.CoverageSufficient(Scope{Usage: c.t}); got != (c.known >= 3) {
			t.Errorf("%s: CoverageSufficient is %v with %d of 4 nodes", c.what, got, c.known)
		}
	}
}

// TestUsageIsRead checks that a snapshot may contain one Usage among its documents.
func TestUsageIsRead(t *testing.T) {
	doc := `{"apiVersion":"evenkeel.io/v1alpha1","kind":"Usage","source":"prometheus","nodes":[{"name":"n1","used":{"cpu":%s}}]}`
	o := &Objects{}
	if err := Read(strings.NewReader(fmt.Sprintf(doc, "100")), "f", o); err != nil || o.Usage.Source != "prometheus" ||
		o.Usage.Nodes[0].Used["cpu"] != 100 {
		t.Fatalf("%+v: %v", o.Usage, err)
	}
	if err := Read(strings.NewReader(fmt.Sprintf(doc, "100")), "f", o); err == nil || !strings.Contains(err.Error(), "second Usage") {
		t.Errorf("a second Usage was accepted: %v", err)
	}
	if err := Read(strings.NewReader(fmt.Sprintf(doc, "0.5")), "g", &Objects{}); err == nil ||
		!strings.Contains(err.Error(), "g, document 1: reading the Usage") {
		t.Errorf("a fraction of a milliCPU was accepted: %v", err)
	}
}
