package simulation

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// writeBudgetStatus writes the status that the disruption controller would write. Some budgets get a stale status.
func (m *mixedBase) writeBudgetStatus(b *policyv1.PodDisruptionBudget) {
	sel, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		panic("simulation: invalid selector of a generated budget: " + err.Error())
	}
	var pods []*corev1.Pod
	for _, p := range m.o.Pods {
		if p.Namespace == b.Namespace && sel.Matches(labels.Set(p.Labels)) {
			pods = append(pods, p)
		}
	}
	s := &b.Status
	s.ObservedGeneration = b.Generation
	if m.chance(0.08) && len(pods) > 0 {
		ago := pickRandom(m.r, 10*time.Second, time.Minute, 5*time.Minute)
		s.DisruptedPods = map[string]metav1.Time{pods[m.r.IntN(len(pods))].Name: metav1.NewTime(m.now.Add(-ago))}
	}
	healthy := 0
	for _, p := range pods {
		at, gone := s.DisruptedPods[p.Name]
		if p.DeletionTimestamp == nil && podReady(p) && !(gone && m.now.Sub(at.Time) < 2*time.Minute) {
			healthy++
		}
	}
	expected, ok := m.sumScales(pods)
	desired := 0
	switch {
	case b.Spec.MaxUnavailable != nil:
		n, _ := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, expected, true)
		desired = max(0, expected-n)
	case b.Spec.MinAvailable.Type == intstr.Int:
		expected, ok, desired = len(pods), true, int(b.Spec.MinAvailable.IntVal)
	default:
		desired, _ = intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, expected, true)
	}
	if !ok { // the disruption controller then allows no disruption
		return
	}
	s.CurrentHealthy, s.DesiredHealthy, s.ExpectedPods = int32(healthy), int32(desired), int32(expected)
	if expected > 0 {
		s.DisruptionsAllowed = int32(max(0, healthy-desired))
	}
	m.delayStatus(b)
}

func (m *mixedBase) delayStatus(b *policyv1.PodDisruptionBudget) {
	s := &b.Status
	switch {
	case m.chance(0.04):
		b.Generation = 2
	case m.chance(0.04):
		s.DisruptionsAllowed, s.CurrentHealthy = s.DisruptionsAllowed+1, s.CurrentHealthy+1
	case m.chance(0.04):
		s.DisruptionsAllowed, s.CurrentHealthy = max(0, s.DisruptionsAllowed-1), max(0, s.CurrentHealthy-1)
	}
}

func podReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// sumScales returns the total replicas of the pods' controllers, or false if a controller has no scale.
func (m *mixedBase) sumScales(pods []*corev1.Pod) (int, bool) {
	sum, seen := 0, map[string]bool{}
	for _, p := range pods {
		if len(p.OwnerReferences) == 0 {
			continue
		}
		ref := p.OwnerReferences[0]
		if seen[string(ref.UID)] {
			continue
		}
		seen[string(ref.UID)] = true
		n, ok := m.replicasOf(p.Namespace, ref)
		if !ok {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

func (m *mixedBase) replicasOf(ns string, ref metav1.OwnerReference) (int, bool) {
	if strings.HasPrefix(ref.APIVersion, "example.com/") {
		return 4, true // the API server reads the scale of the custom resource
	}
	for _, x := range m.o.ReplicaSets {
		if x.Namespace != ns || x.UID != ref.UID {
			continue
		}
		for _, d := range m.o.Deployments {
			if len(x.OwnerReferences) > 0 && d.UID == x.OwnerReferences[0].UID {
				return int(*d.Spec.Replicas), true
			}
		}
		return int(*x.Spec.Replicas), true
	}
	for _, x := range m.o.StatefulSets {
		if x.UID == ref.UID {
			return int(*x.Spec.Replicas), true
		}
	}
	for _, x := range m.o.ReplicationControllers {
		if x.UID == ref.UID {
			return int(*x.Spec.Replicas), true
		}
	}
	return 0, false
}

func (m *mixedBase) addBudget(ns, name string, sel *metav1.LabelSelector) {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("pdb-" + ns + name),
		Generation: 1}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: sel}}
	amounts := []intstr.IntOrString{intstr.FromInt32(int32(pickRandom(m.r, 1, 1, 2, 3, 0))),
		intstr.FromString(pickRandom(m.r, "10%", "25%", "30%", "34%", "50%", "0%")),
		intstr.FromInt32(int32(1 + m.r.IntN(4))), intstr.FromString(pickRandom(m.r, "50%", "67%", "75%", "90%"))}
	if i := m.r.IntN(4); i < 2 {
		b.Spec.MaxUnavailable = &amounts[i]
	} else {
		b.Spec.MinAvailable = &amounts[i]
	}
	b.Spec.UnhealthyPodEvictionPolicy = pickRandom(m.r, nil, nil, new(policyv1.AlwaysAllow), new(policyv1.IfHealthyBudget))
	m.writeBudgetStatus(b)
	m.o.PodDisruptionBudgets = append(m.o.PodDisruptionBudgets, b)
}
