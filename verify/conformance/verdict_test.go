package conformance

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestJudge checks that a difference is wrong unless the condition of a trait holds for each pod of
// it.
func TestJudge(t *testing.T) {
	plugin := func(name string, evicted ...string) *recordedCase {
		return &recordedCase{Plugin: pluginConfig{Name: name}, Expect: expectation{Evicted: len(evicted), Pods: evicted}}
	}
	varies := plugin("PodLifeTime", "ns/a")
	varies.Expect.ChoiceVaries = true
	guards := &recordedCase{Plugin: pluginConfig{Name: "DefaultEvictor"},
		Expect: expectation{Filter: "Filter", Evictable: map[string]bool{"ns/a": true, "ns/b": false}}}
	nodeFit := plugin("RemoveFailedPods")
	nodeFit.Evictor = map[string]any{"nodeFit": true}
	deviation := plugin("LowNodeUtilization", "ns/a")
	deviation.Plugin.Args = map[string]any{"useDeviationThresholds": true}
	for _, c := range []struct {
		what string
		c    *recordedCase
		r    run
		want string
	}{
		{"the same pods", plugin("PodLifeTime", "ns/a"), run{moved: []string{"ns/a"}}, "equal"},
		{"other pods", plugin("PodLifeTime", "ns/a"), run{moved: []string{"ns/b"}}, "wrong"},
		{"other pods, and the choice is free", varies, run{moved: []string{"ns/b"}}, "equal"},
		{"more pods, and the choice is free", varies, run{moved: []string{"ns/a", "ns/b"}}, "wrong"},
		{"other pods for a balancing plugin", plugin("RemoveDuplicates", "ns/a"), run{moved: []string{"ns/b"}}, "equal"},
		{"other pods for a balancing plugin, and the goal is not met", plugin("RemoveDuplicates", "ns/a"), run{moved: []string{"ns/b"}, unmet: 1}, "wrong"},
		{"other pods for a balancing plugin, up to a limit", plugin("RemoveDuplicates", "ns/a"),
			run{moved: []string{"ns/b"}, unmet: 1, rejected: rejected(1, plan.LimitPerNode, "ns/a").rejected}, "equal"},
		{"fewer pods, and the goal is met", plugin("RemoveDuplicates", "ns/a", "ns/b"), run{moved: []string{"ns/a"}}, "fewer"},
		{"fewer pods, and the goal is not met", plugin("RemoveDuplicates", "ns/a", "ns/b"), run{moved: []string{"ns/a"}, unmet: 1}, "wrong"},
		{"no pod and no goal", plugin("RemoveDuplicates", "ns/a"), run{}, "wrong"},
		{"fewer pods by a lifecycle plugin", plugin("PodLifeTime", "ns/a", "ns/b"), run{moved: []string{"ns/a"}}, "wrong"},
		{"more pods than a balancing plugin", plugin("RemoveDuplicates"), run{moved: []string{"ns/a"}}, "wrong"},
		{"the replacements would return", plugin("RemoveDuplicates", "ns/a"), rejected(1, plan.WouldReturn, "ns/a"), "documented PredictedLanding"},
		{"the replacement of one of two pods would return", plugin("RemoveDuplicates", "ns/a", "ns/b"), rejected(1, plan.WouldReturn, "ns/a"), "wrong"},
		{"another reason", plugin("RemoveDuplicates", "ns/a"), rejected(1, plan.BlockedByPDB, "ns/a"), "wrong"},
		{"the replacement of a pod that is too old would return", plugin("PodLifeTime", "ns/a"), rejected(1, plan.WouldReturn, "ns/a"), "wrong"},
		{"a pod that was asked", guards, run{moved: []string{"ns/a", "ns/other"}}, "equal"},
		{"a pod that may not go", guards, run{moved: []string{"ns/a", "ns/b"}}, "wrong"},
		{"a failed pod is removed", nodeFit, run{moved: []string{"ns/failed"}, removed: map[string]bool{"ns/failed": true}}, "documented EndedPods"},
		{"a failed pod is evicted", nodeFit, run{moved: []string{"ns/failed"}}, "wrong"},
		{"a running pod is removed", nodeFit, run{moved: []string{"ns/a"}, removed: map[string]bool{"ns/a": true}}, "wrong"},
		{"a node that is not emptied", plugin("HighNodeUtilization", "ns/a"), rejected(1, plan.NodeNotEmptied, "ns/a"), "documented WholeNodes"},
		{"such a pod of another plugin", plugin("LowNodeUtilization", "ns/a"), rejected(1, plan.NodeNotEmptied, "ns/a"), "wrong"},
		{"a pod of a cordoned node", plugin("HighNodeUtilization", "ns/cordoned"), run{}, "documented CordonedNodes"},
		{"a pod of another node", plugin("HighNodeUtilization", "ns/a"), run{}, "wrong"},
		{"a mean that would count a cordoned node", deviation, run{}, "documented MeansOfTargets"},
		{"a target without a mean", plugin("LowNodeUtilization", "ns/a"), run{}, "wrong"},
		{"a pod of a DaemonSet", plugin("PodLifeTime", "ns/daemon"), run{}, "documented PodsOfNodesStay"},
		{"a guard and the annotation evict", plugin("PodLifeTime", "ns/annotated"), rejected(1, plan.SystemCritical, "ns/annotated"), "documented EvictAnnotation"},
		{"a budget and the annotation evict", plugin("PodLifeTime", "ns/annotated"), rejected(1, plan.BlockedByPDB, "ns/annotated"), "wrong"},
		{"a guard without the annotation", plugin("PodLifeTime", "ns/a"), rejected(1, plan.SystemCritical, "ns/a"), "wrong"},
		{"a policy that cannot be converted", plugin("PodLifeTime", "ns/a"), run{policyError: "some field"}, "wrong"},
		{"a policy that cannot be converted, where nothing is evicted", plugin("PodLifeTime"), run{policyError: "some field"}, "wrong"},
		{"a policy with which the descheduler fails, too", &recordedCase{Name: "Invalid argument"}, run{policyError: "some field"}, "equal"},
	} {
		c.r.objects = judgedObjects()
		v := judge(c.c, &c.r)
		if got := strings.Join(slices.Insert(slices.Clone(v.traits), 0, string(v.outcome)), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

func rejected(unmet int, code plan.Code, pods ...string) run {
	r := run{unmet: unmet, rejected: map[string][]plan.Reason{}}
	for _, pod := range pods {
		r.rejected[pod] = []plan.Reason{{Code: code}}
	}
	return r
}

// judgedObjects returns pods on which traits depend.
func judgedObjects() objects {
	named := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	}
	failed, cordoned, daemon, annotated := named("failed"), named("cordoned"), named("daemon"), named("annotated")
	failed.Status.Phase = corev1.PodFailed
	cordoned.Spec.NodeName = "cordoned"
	daemon.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet"}}
	annotated.Annotations = map[string]string{"descheduler.alpha.kubernetes.io/evict": "true"}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cordoned"}, Spec: corev1.NodeSpec{Unschedulable: true}}
	return objects{&cluster.Objects{Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{named("a"), failed, cordoned, daemon, annotated}}}
}
