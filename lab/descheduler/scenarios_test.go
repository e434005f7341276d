package descheduler

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// scenario says how the clusters for one plugin differ from others.
type scenario struct {
	apps         int // at least; less than twice as many
	crowded      bool
	taintedFrac  float64 // share of the nodes
	violatedFrac float64 // share of the workloads that violate changes
	violate      func(g *generator, a *app)
}

// scenarios holds the scenario of each plugin.
var scenarios = map[string]scenario{
	"LowNodeUtilization":                          {apps: 10, crowded: true, taintedFrac: 0.05},
	"HighNodeUtilization":                         {apps: 5, crowded: true},
	"RemoveDuplicates":                            {apps: 5, crowded: true, taintedFrac: 0.05},
	"RemovePodsViolatingTopologySpreadConstraint": {apps: 5, crowded: true, taintedFrac: 0.05, violatedFrac: 0.5, violate: (*generator).declareSpread},
	"RemovePodsViolatingInterPodAntiAffinity":     {apps: 5, crowded: true, taintedFrac: 0.05, violatedFrac: 0.5, violate: (*generator).declareAntiAffinity},
	"RemovePodsViolatingNodeAffinity":             {apps: 6, taintedFrac: 0.1, violatedFrac: 0.5, violate: (*generator).declareNodeAffinity},
	"RemovePodsViolatingNodeTaints":               {apps: 6, taintedFrac: 0.35},
	"RemovePodsHavingTooManyRestarts":             {apps: 6, violatedFrac: 0.5, violate: (*generator).restart},
	"PodLifeTime":                                 {apps: 5},
	"RemoveFailedPods":                            {apps: 5, violatedFrac: 0.6, violate: (*generator).fail},
}

// edit changes the pods of a workload and its template, as an author who adds what the pods lacked
// when they started.
func (g *generator) edit(a *app, change func(s *corev1.PodSpec)) {
	change(&a.spec)
	for _, p := range a.pods {
		change(&p.Spec)
	}
	g.setReplicas(a)
}

// declareSpread spreads the pods of a workload over zones, over nodes, or over both.
func (g *generator) declareSpread(a *app) {
	var declared []corev1.TopologySpreadConstraint
	for _, key := range pick(g.r, []string{zoneKey}, []string{corev1.LabelHostname}, []string{zoneKey, corev1.LabelHostname}) {
		c := corev1.TopologySpreadConstraint{MaxSkew: pick(g.r, int32(1), 1, 2), TopologyKey: key,
			WhenUnsatisfiable: pick(g.r, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway),
			LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.name}}}
		if g.r.IntN(3) == 0 {
			c.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
		}
		declared = append(declared, c)
	}
	g.edit(a, func(s *corev1.PodSpec) { s.TopologySpreadConstraints = declared })
}

// declareAntiAffinity keeps the pods of a workload apart from each other, or from those of another
// workload.
func (g *generator) declareAntiAffinity(a *app) {
	from := a
	if other := pick(g.r, g.apps...); other.namespace == a.namespace && g.r.IntN(3) == 0 {
		from = other
	}
	term := corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": from.name}},
		TopologyKey: pick(g.r, corev1.LabelHostname, corev1.LabelHostname, corev1.LabelHostname, zoneKey)}
	g.edit(a, func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{*term.DeepCopy()}}}
	})
}

// declareNodeAffinity requires or prefers nodes of one kind.
func (g *generator) declareNodeAffinity(a *app) {
	how := g.r.IntN(4)
	term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "kind", Operator: corev1.NodeSelectorOpIn, Values: []string{"fast"}}}}
	g.edit(a, func(s *corev1.PodSpec) {
		switch how {
		case 0, 1:
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{*term.DeepCopy()}}}}
		default:
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 100, Preference: *term.DeepCopy()}}}}
		}
	})
}

// restart gives pods a number of restarts. Some of them wait for their next restart.
func (g *generator) restart(a *app) {
	for _, p := range a.pods {
		if g.r.IntN(2) == 0 {
			continue
		}
		s := &p.Status.ContainerStatuses[0]
		if s.RestartCount = int32(g.r.IntN(40)); g.r.IntN(4) == 0 {
			s.Ready, s.Started, s.State = false, new(false), corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
			p.Status.Conditions[0].Status = corev1.ConditionFalse
		}
	}
}

// fail adds failed pods beside the pods of a workload, whose controller has replaced them.
func (g *generator) fail(a *app) {
	for i, p := range a.pods {
		if g.r.IntN(3) == 0 {
			continue
		}
		f := p.DeepCopy()
		f.Name, f.CreationTimestamp = fmt.Sprintf("%s-failed-%d", a.name, i), g.ago(time.Duration(3+g.r.IntN(300))*time.Minute)
		f.UID = types.UID(f.Name)
		ended := metav1.NewTime(f.CreationTimestamp.Add(time.Minute))
		f.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: pick(g.r, "Evicted", "NodeAffinity", ""), StartTime: &f.CreationTimestamp,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "PodFailed", LastTransitionTime: ended}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: pick(g.r, int32(1), 137), Reason: pick(g.r, "Error", "OOMKilled"), StartedAt: f.CreationTimestamp, FinishedAt: ended}}}}}
		g.o.Pods = append(g.o.Pods, f)
	}
}
