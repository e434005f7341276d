package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestStrategiesLandingNotRequired checks a pod that has been stuck for longer than Lifetime
// allows, on a full cluster. With landing: required, it stays. With landing: notRequired, it is
// evicted although no place is predicted. Its replacement comes back to the node once the pod is
// gone, or stays Pending if the node takes no pods. A second pass moves nothing.
func TestStrategiesLandingNotRequired(t *testing.T) {
	skipIfShort(t)
	for name, pending := range map[string]bool{"the replacement comes back": false, "the replacement stays Pending": true} {
		t.Run(name, func(t *testing.T) {
			ns := seedApps(t, []seed.App{
				{Name: "full", MilliCPU: 6000, MemoryMi: 512, Nodes: []string{"n1", "n2", "n3"}, GraceSeconds: 1},
				{Name: "web", MilliCPU: 3500, MemoryMi: 512, Nodes: []string{"n1", "n2", "n3"}, GraceSeconds: 1},
			})
			changePodStatus(t, ns, seededPod(t, ns, "web", 0), func(p *corev1.Pod) {
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.com/Stuck",
					Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour))})
			})
			if pending {
				taintNode(t, "n1", corev1.TaintEffectNoSchedule)
			}
			waitForReadyReplicas(t, ns, "web", 3)
			config := func(landing string) string {
				return "limits: {perNamespace: unlimited}\nguards: {minPodAge: 0s}\nstrategies: {s: {type: Lifetime, landing: " + landing + ", " +
					"schedule: \"0 * * * *\", args: {minAge: 0s, conditions: [{type: example.com/Stuck, status: \"True\", minTimeSinceTransition: 10m}]}}}\n"
			}
			a := newAuditedPasses(t, ns, config("required"))
			code := map[bool]string{false: "UncertainLanding", true: "NoTargetFits"}[pending]
			if r := a.onePass(); len(r.Spec.Moves) > 0 || len(r.Outcomes()) > 0 || r.NotMoved()[code] != 1 {
				t.Fatalf("with landing: required, %d moves and the rejections %v, want none and %s", len(r.Spec.Moves),
					r.NotMoved(), code)
			}
			checkEvictions(t, ns, 0)
			a.config = testbed.ConfigFile(t, config("notRequired"))
			r := a.onePass()
			if len(r.Spec.Moves) != 1 || len(r.Outcomes()) != 1 || r.Outcomes()[0].Outcome != "evicted" || r.Status.Stopped != nil {
				t.Fatalf("%d moves with the outcomes %q, stopped %v, want one eviction", len(r.Spec.Moves), r.OutcomeCodes(), r.Status.Stopped)
			}
			m := r.Spec.Moves[0]
			if o := r.Outcomes()[0]; m.Landing != "notRequired" || m.To != "" || o.Pending != pending || o.Reason.Code != "PodExpired" {
				t.Errorf("move %+v, outcome %+v", m, o)
			}
			nodes := nodesOf(t, ns, "web")
			slices.Sort(nodes)
			if got, want := strings.Join(nodes, " "), map[bool]string{false: "n1 n2 n3", true: " n2 n3"}[pending]; got != want {
				t.Errorf("the pods are on %q, want %q", got, want)
			}
			if second := a.onePass(); len(second.Spec.Moves) > 0 {
				t.Errorf("the second pass plans %d moves, want none", len(second.Spec.Moves))
			}
			checkEvictions(t, ns, 1)
			a.verify(1)
		})
	}
}
