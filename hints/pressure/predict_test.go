package pressure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// clusterWithEveryState returns a cluster in which every state occurs.
func clusterWithEveryState(t *testing.T) (pressure.Options, []*corev1.Node, *cluster.Usage) {
	t.Helper()
	o := pressure.Options{
		Label: "status=presure", Taint: pressure.Key, MaxHintedFrac: 0.3, TTL: 10 * time.Minute,
		Rules: []pressure.Rule{{Name: "cpu", Resource: "cpu", Enter: 0.8, Leave: 0.7, MinSamples: 3}},
	}
	var nodes []*corev1.Node
	u := &cluster.Usage{}
	for _, x := range []struct {
		name    string
		value   float64
		samples int
		expires time.Duration // of the existing hint; 0: no hint
		label   string
	}{
		{"capped", 0.81, 3, 0, ""}, {"cool", 0.5, 0, 5 * time.Minute, ""}, {"counting", 0.9, 1, 0, ""}, {"expired", 0.5, 0, -time.Minute, ""},
		{"foreign", 0.5, 0, 0, "presure"}, {"hot", 0.95, 3, 0, ""}, {"hot-again", 0.99, 3, -time.Minute, ""}, {"standing", 0.9, 3,
			9 * time.Minute, ""}, {"unmeasured", 0, 0, 0, ""}, {"well", 0.1, 0, 0, ""},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: x.name, Labels: map[string]string{}}}
		if x.label != "" {
			n.Labels["status"] = x.label
		}
		if x.expires != 0 {
			n, _ = o.Owned().WithHint(n, pressure.Hint{Since: noon.Add(-time.Hour), Expires: noon.Add(x.expires), Rule: "cpu", Value: 0.9, Label: o.Label,
				Taint: o.Taint})
		}
		nodes = append(nodes, n)
		if x.value > 0 {
			u.Nodes = append(u.Nodes, cluster.NodeUsage{Name: x.name, At: noon, Used: map[string]int64{"cpu": 1}})
			u.Marks = append(u.Marks, cluster.Mark{Watch: "hints/cpu", Node: x.name, Resource: "cpu", Hot: x.samples == 3, Samples: x.samples,
				Required: 3, Value: x.value})
		}
	}
	return o, nodes, u
}

func TestStandings(t *testing.T) {
	o, nodes, u := clusterWithEveryState(t)
	var got []string
	for _, s := range o.NodeHints(nodes, u, "status", pressure.Key, noon) {
		line := fmt.Sprintf("%s %s", s.Node, s.State)
		switch s.State {
		case pressure.NotOurs:
			line += fmt.Sprintf(" %s: %s", s.Foreign.Description, s.Foreign.RemoveCommand())
		case pressure.AwaitingSamples:
			line += fmt.Sprintf(" %d of %d %s", s.Samples, s.RequiredSamples, s.Rule)
		case pressure.ToWrite:
			line += fmt.Sprintf(" %v since %s", s.Value, s.Since.Format(time.TimeOnly))
		}
		got = append(got, line)
	}
	want := []string{
		"capped limitReached", "cool wouldBeCleared", "counting awaitingSamples 1 of 3 cpu", "expired expired",
		"foreign foreign label status=presure: kubectl label node foreign status-",
		"hot wouldBeWritten 0.95 since 12:00:00", "hot-again wouldBeWritten 0.99 since 11:00:00", "standing present",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Predict returns the nodes exactly as Decide's changes would leave them. It does not modify its arguments.
func TestForetold(t *testing.T) {
	o, nodes, u := clusterWithEveryState(t)
	before := make([]*corev1.Node, len(nodes))
	for i, n := range nodes {
		before[i] = n.DeepCopy()
	}
	changed := o.Predict(nodes, u, noon)
	if d := cmp.Diff(before, nodes); d != "" {
		t.Errorf("Predict modified its arguments: %s", d)
	}
	var names []string
	for i, n := range nodes {
		out, is := changed[n.Name]
		if !is {
			continue
		}
		names = append(names, n.Name)
		if out.Name != n.Name {
			t.Errorf("%s became %s", n.Name, out.Name)
		}
		nodes[i] = out
	}
	if got := strings.Join(names, " "); got != "cool expired hot hot-again" {
		t.Errorf("changed: %s", got)
	}
	if again := o.Decide(nodes, u, pressure.LastHot{}, noon).Changes; len(again) > 0 {
		t.Errorf("the predicted nodes need further changes: %+v", again)
	}
	hot := changed["hot"]
	if hot.Labels["status"] != "presure" || !slices.ContainsFunc(hot.Spec.Taints,
		func(x corev1.Taint) bool { return x.Key == pressure.Key }) || changed["cool"].Labels["status"] != "" {
		t.Errorf("got labels %v and taints %v on hot, labels %v on cool", hot.Labels, hot.Spec.Taints, changed["cool"].Labels)
	}
}

// The command contains the effect of the taint. Without the effect, kubectl would remove all taints with the key.
func TestForeignTaint(t *testing.T) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{
		{Key: "k", Value: "v", Effect: corev1.TaintEffectPreferNoSchedule}, {Key: "k", Effect: corev1.TaintEffectNoSchedule}}}}
	found := pressure.Owned{}.FindForeign(n, "", "k")
	if len(found) != 1 || found[0].RemoveCommand() != "kubectl taint node n1 k=v:PreferNoSchedule-" {
		t.Errorf("%+v", found)
	}
}
