package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// AddViolations adds to a cluster what the strategies about violations repair: pods whose affinity, anti-affinity or
// spread constraints were declared after they started, taints that came later, restarts, and failed pods.
func AddViolations(r *rand.Rand, o *cluster.Objects) {
	v := &violations{r, o}
	v.changeNodes()
	v.createPods()
	for _, a := range v.apps() {
		switch r.IntN(9) {
		case 0:
			v.keepApart(a, a)
		case 1:
			v.keepApart(a, pickRandom(r, v.apps()...))
		case 2:
			v.declareNodeAffinity(a)
		case 3, 4, 5:
			v.declareSpreads(a)
		case 6:
			v.restart(a)
		case 7:
			v.addFailedPods(a)
		}
	}
}

// AddAntiAffinity lets about half of the workloads declare required anti-affinity, most of them between their own pods.
func AddAntiAffinity(r *rand.Rand, o *cluster.Objects) {
	v := &violations{r, o}
	for _, a := range v.apps() {
		switch r.IntN(6) {
		case 0, 1:
			v.keepApart(a, a)
		case 2:
			v.keepApart(a, pickRandom(r, v.apps()...))
		}
	}
}

type violations struct {
	r *rand.Rand
	o *cluster.Objects
}

// app identifies a workload by its namespace and the label app of its pods.
type app struct{ ns, name string }

// apps returns the workloads in a fixed order.
func (v *violations) apps() []app {
	seen := map[app]bool{}
	for _, p := range v.o.Pods {
		if name := p.Labels["app"]; name != "" {
			seen[app{p.Namespace, name}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b app) int { return slices.Compare([]string{a.ns, a.name}, []string{b.ns, b.name}) })
}

// pods returns the pods of a workload.
func (v *violations) pods(a app) (out []*corev1.Pod) {
	for _, p := range v.o.Pods {
		if p.Namespace == a.ns && p.Labels["app"] == a.name {
			out = append(out, p)
		}
	}
	return out
}

// edit changes the pods of a workload and the templates of its controllers.
func (v *violations) edit(a app, change func(s *corev1.PodSpec)) {
	for _, p := range v.pods(a) {
		change(&p.Spec)
	}
	template := func(o metav1.ObjectMeta, t *corev1.PodTemplateSpec) {
		if o.Namespace == a.ns && t.Labels["app"] == a.name {
			change(&t.Spec)
		}
	}
	for _, x := range v.o.Deployments {
		template(x.ObjectMeta, &x.Spec.Template)
	}
	for _, x := range v.o.ReplicaSets {
		template(x.ObjectMeta, &x.Spec.Template)
	}
	for _, x := range v.o.StatefulSets {
		template(x.ObjectMeta, &x.Spec.Template)
	}
	for _, x := range v.o.DaemonSets {
		template(x.ObjectMeta, &x.Spec.Template)
	}
	for _, x := range v.o.Jobs {
		template(x.ObjectMeta, &x.Spec.Template)
	}
	for _, x := range v.o.CronJobs {
		template(x.ObjectMeta, &x.Spec.JobTemplate.Spec.Template)
	}
	for _, x := range v.o.ReplicationControllers {
		template(x.ObjectMeta, x.Spec.Template)
	}
}

// changeNodes labels and taints some nodes.
func (v *violations) changeNodes() {
	for _, n := range v.o.Nodes {
		if v.r.IntN(2) == 0 {
			n.Labels["kind"] = "fast"
		}
		if v.r.IntN(12) == 0 {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "dedicated", Value: pickRandom(v.r, "a", "b"),
				Effect: pickRandom(v.r, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)})
		}
	}
}

// createPods sets the creation of pods that have only a start.
func (v *violations) createPods() {
	for _, p := range v.o.Pods {
		if p.CreationTimestamp.IsZero() && p.Status.StartTime != nil {
			p.CreationTimestamp = *p.Status.StartTime
		}
	}
}

// keepApart lets a workload declare required anti-affinity to the pods of a workload.
func (v *violations) keepApart(a, from app) {
	term := corev1.PodAffinityTerm{LabelSelector: matchLabels(map[string]string{"app": from.name}),
		TopologyKey: pickRandom(v.r, corev1.LabelHostname, corev1.LabelHostname, corev1.LabelHostname, zoneKey)}
	switch {
	case from.ns != a.ns:
		term.Namespaces = []string{from.ns}
	case v.r.IntN(3) == 0:
		term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: pickRandom(v.r, nil, map[string]string{"team": "red"})}
	case v.r.IntN(3) == 0:
		term.MatchLabelKeys = []string{"pod-template-hash"}
	}
	v.edit(a, func(s *corev1.PodSpec) {
		if s.Affinity = s.Affinity.DeepCopy(); s.Affinity == nil {
			s.Affinity = &corev1.Affinity{}
		}
		if s.Affinity.PodAntiAffinity == nil {
			s.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		x := s.Affinity.PodAntiAffinity
		x.RequiredDuringSchedulingIgnoredDuringExecution = append(x.RequiredDuringSchedulingIgnoredDuringExecution, *term.DeepCopy())
	})
	for _, p := range v.pods(a) {
		mergeLabelKeys(p)
	}
}

// mergeLabelKeys adds the labels in matchLabelKeys to the selector of the pod's last term of
// required anti-affinity, as the API server does.
func mergeLabelKeys(p *corev1.Pod) {
	terms := p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	t := &terms[len(terms)-1]
	for _, k := range t.MatchLabelKeys {
		if value, ok := p.Labels[k]; ok {
			t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: k, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
		}
	}
}

// declareNodeAffinity lets a workload require or prefer the nodes of a kind.
func (v *violations) declareNodeAffinity(a app) {
	term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "kind",
		Operator: corev1.NodeSelectorOpIn, Values: []string{"fast"}}}}
	how := v.r.IntN(4)
	v.edit(a, func(s *corev1.PodSpec) {
		if how == 0 {
			s.NodeSelector = map[string]string{"kind": "fast"}
			return
		}
		if s.Affinity = s.Affinity.DeepCopy(); s.Affinity == nil {
			s.Affinity = &corev1.Affinity{}
		}
		s.Affinity.NodeAffinity = &corev1.NodeAffinity{}
		if how < 3 {
			s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}
		} else {
			s.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{
				{Weight: 100, Preference: term}}
		}
	})
}

// declareSpreads lets a workload declare one or two spread constraints, often both over zones and over nodes.
func (v *violations) declareSpreads(a app) {
	selected := map[string]string{"app": a.name}
	if tier := v.pods(a)[0].Labels["tier"]; tier != "" && v.r.IntN(4) == 0 {
		selected = map[string]string{"tier": tier} // the pods of other workloads count too
	}
	constraint := func(key string) corev1.TopologySpreadConstraint {
		c := spreadConstraint(key, pickRandom(v.r, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway), selected)[0]
		c.MaxSkew = pickRandom(v.r, int32(1), 1, 2)
		if v.r.IntN(3) == 0 {
			c.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
		}
		if v.r.IntN(4) == 0 {
			c.NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore)
		}
		if v.r.IntN(4) == 0 {
			c.MatchLabelKeys = []string{"pod-template-hash"}
		}
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && v.r.IntN(4) == 0 {
			c.MinDomains = new(pickRandom(v.r, int32(2), 4))
		}
		return c
	}
	declared := []corev1.TopologySpreadConstraint{constraint(zoneKey), constraint(corev1.LabelHostname)}
	if n := v.r.IntN(6); n < 2 {
		declared = declared[n : n+1]
	}
	v.edit(a, func(s *corev1.PodSpec) { s.TopologySpreadConstraints = declared })
}

// restart gives the pods of a workload a number of restarts. Some wait in CrashLoopBackOff and are not Ready.
func (v *violations) restart(a app) {
	for _, p := range v.pods(a) {
		if p.Status.Phase != corev1.PodRunning || v.r.IntN(2) == 0 {
			continue
		}
		c := corev1.ContainerStatus{Name: "c", RestartCount: int32(v.r.IntN(12))}
		if v.r.IntN(3) == 0 {
			c.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
			p.Status.Conditions = slices.Clone(p.Status.Conditions)
			for i := range p.Status.Conditions {
				if p.Status.Conditions[i].Type == corev1.PodReady {
					p.Status.Conditions[i].Status = corev1.ConditionFalse
				}
			}
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{c}
	}
}

// addFailedPods adds failed pods beside the pods of a workload.
func (v *violations) addFailedPods(a app) {
	for i, p := range v.pods(a) {
		if p.Spec.NodeName == "" || v.r.IntN(2) == 0 {
			continue
		}
		c := p.DeepCopy()
		c.Name, c.UID = fmt.Sprintf("%s-failed-%d", a.name, i), types.UID(fmt.Sprintf("%s-%s-failed-%d", a.ns, a.name, i))
		c.DeletionTimestamp, c.Status.ContainerStatuses = nil, nil
		c.CreationTimestamp = metav1.NewTime(v.o.TakenAt.Add(-time.Duration(v.r.IntN(180)) * time.Minute))
		c.Status.Phase, c.Status.Conditions, c.Status.Reason = corev1.PodFailed, nil, pickRandom(v.r, "Evicted", "NodeAffinity", "")
		v.o.Pods = append(v.o.Pods, c)
	}
}
