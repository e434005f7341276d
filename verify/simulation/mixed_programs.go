package simulation

import (
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addPrograms adds, in one of eight clusters, the marks of programs that group pods or drain nodes,
// pods with long grace periods or finalizers, a full ResourceQuota, and an event FailedCreate.
// addPrograms uses its own random source, so the rest of the cluster does not change.
func (m *mixedCluster) addPrograms() {
	r := rand.New(rand.NewPCG(uint64(m.base.now.Unix()), uint64(len(m.apps))))
	if len(m.apps) == 0 || r.IntN(8) > 0 {
		return
	}
	a := m.apps[r.IntN(len(m.apps))]
	for _, p := range a.pods {
		switch r.IntN(4) {
		case 0:
			p.Labels[pickRandom(r, "kueue.x-k8s.io/queue-name", "scheduling.x-k8s.io/pod-group", "leaderworkerset.sigs.k8s.io/name")] = "a"
		case 1:
			p.Annotations[pickRandom(r, "scheduling.k8s.io/group-name", "volcano.sh/job-name")] = "a"
		case 2:
			p.Spec.TerminationGracePeriodSeconds = new(pickRandom(r, int64(600), 601, 86400, 1e10))
		}
	}
	owned := m.apps[r.IntN(len(m.apps))]
	for _, p := range owned.pods {
		p.Finalizers = append(p.Finalizers, "example.com/backup")
	}
	if r.IntN(2) == 0 {
		full := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
		m.base.o.ResourceQuotas = append(m.base.o.ResourceQuotas, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: owned.ns, Name: "full"},
			Spec: corev1.ResourceQuotaSpec{Hard: full}, Status: corev1.ResourceQuotaStatus{Hard: full, Used: full}})
	}
	n := m.base.o.Nodes[r.IntN(len(m.base.o.Nodes))]
	switch r.IntN(3) {
	case 0:
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: pickRandom(r, "aws-node-termination-handler/spot-itn",
			"cloud.google.com/impending-node-termination"), Effect: corev1.TaintEffectNoSchedule})
	case 1:
		n.Annotations["weave.works/kured-reboot-in-progress"] = "2026-01-01T00:00:00Z"
	case 2: // kubectl drain
		n.Spec.Unschedulable = true
		for _, p := range a.pods {
			if p.Spec.NodeName == n.Name {
				p.DeletionTimestamp = new(metav1.NewTime(m.base.now))
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget,
					Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
				break
			}
		}
	}
	if refused := m.apps[r.IntN(len(m.apps))].pods; r.IntN(2) == 0 && len(refused) > 0 {
		m.addFailedCreate(r, refused[0])
	}
}

// addFailedCreate adds an event that says that the controller of the pod could not create a pod. It happened up to an
// hour ago.
func (m *mixedCluster) addFailedCreate(r *rand.Rand, p *corev1.Pod) {
	c := metav1.GetControllerOf(p)
	if c == nil {
		return
	}
	at := metav1.NewTime(m.base.now.Add(-time.Duration(r.IntN(60)) * time.Minute))
	m.base.o.Events = append(m.base.o.Events, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: p.Namespace, Name: c.Name + ".1", CreationTimestamp: at},
		InvolvedObject: corev1.ObjectReference{Kind: c.Kind, Namespace: p.Namespace, Name: c.Name, UID: c.UID},
		Reason:         "FailedCreate", LastTimestamp: at})
}
