package simulation

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// varyTemplate adds a property to a workload's pod template that a guard or the scheduler checks.
func (m *mixedCluster) varyTemplate(a *mixedApp) {
	s := &a.template.Spec
	claim := func(class *string) {
		name := "data-" + a.name
		m.base.o.PersistentVolumeClaims = append(m.base.o.PersistentVolumeClaims,
			&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: name, UID: types.UID("pvc-" + name)},
				Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: class}})
		s.Volumes = []corev1.Volume{{Name: "data",
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
	}
	switch m.base.r.IntN(15) {
	case 0:
		s.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	case 1:
		s.Volumes = []corev1.Volume{{Name: "logs", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/log"}}}}
	case 2:
		claim(new("fast"))
	case 3:
		claim(new("slow"))
	case 4:
		claim(nil)
	case 5:
		s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("fast")}}
	case 6:
		s.Priority, s.PriorityClassName = new(int32(1000)), "high"
	case 7:
		s.Priority = new(pickRandom(m.base.r, int32(2000000000), 2000001000))
	case 8:
		s.SchedulerName = "other"
	case 9:
		s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
	case 10:
		a.template.Labels["app.kubernetes.io/name"] = "evenkeel"
	case 11:
		a.template.Labels["movable"] = "no"
	case 12, 13:
		s.TopologySpreadConstraints = spreadConstraint(zoneKey, corev1.DoNotSchedule, a.labels)
	case 14:
		s.TopologySpreadConstraints = spreadConstraint(zoneKey, corev1.ScheduleAnyway, a.labels)
	}
}

// addTrouble changes a workload or one of its pods in a way that may forbid an eviction.
func (m *mixedCluster) addTrouble(a *mixedApp) {
	if len(a.pods) == 0 {
		return
	}
	p := a.pods[m.base.r.IntN(len(a.pods))]
	switch m.base.r.IntN(24) {
	case 0, 1:
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	case 2:
		p.DeletionTimestamp = new(metav1.NewTime(m.base.now))
		if m.base.r.IntN(2) == 0 { // a finalizer keeps it
			p.DeletionTimestamp, p.Finalizers = new(metav1.NewTime(m.base.now.Add(-time.Hour))), []string{"example.com/backup"}
		}
	case 3:
		p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		waits := 10 * time.Second
		if m.base.r.IntN(8) == 0 { // its scheduler does not respond
			waits = 10 * time.Minute
		}
		p.CreationTimestamp = metav1.NewTime(m.base.now.Add(-waits))
	case 4: // bound, and still pulling its image
		p.Status.Phase, p.Status.Conditions = corev1.PodPending, nil
	case 5:
		p.Status.Phase, p.Status.Conditions = pickRandom(m.base.r, corev1.PodFailed, corev1.PodSucceeded),
			[]corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	case 6, 7:
		for _, p := range a.pods[m.base.r.IntN(len(a.pods)):] {
			p.Status.StartTime = new(metav1.NewTime(m.base.now.Add(-time.Duration(m.base.r.IntN(7*60)) * time.Second)))
		}
	case 8:
		p.Status.StartTime = nil
	case 9, 10:
		m.base.addRequest(p.Annotations)
	case 11:
		m.base.addForeignAnnotation(p.Annotations)
	case 12, 13:
		if len(a.meta) > 0 {
			m.base.addRequest(a.meta[m.base.r.IntN(len(a.meta))].Annotations)
		}
	case 14: // one pod too many
		m.addPod(a, p.Labels, fmt.Sprintf("%s-more-%02d", a.name, len(a.pods)))
	case 15:
		if len(a.meta) > 0 {
			o := a.meta[m.base.r.IntN(len(a.meta))]
			o.DeletionTimestamp, o.Finalizers = new(metav1.NewTime(m.base.now)), []string{"foregroundDeletion"}
		}
	case 16:
		p.Labels["evenkeel.io/"+pickRandom(m.base.r, "evict", "do-not-disrupt")] = pickRandom(m.base.r, "never", "true", "1h")
	case 17, 18: // replacements lack this label
		for range 1 + m.base.r.IntN(3) {
			a.pods[m.base.r.IntN(len(a.pods))].Labels["track"] = "canary"
		}
	case 19, 20:
		for range 1 + m.base.r.IntN(3) {
			a.pods[m.base.r.IntN(len(a.pods))].Labels["role"] = "leader"
		}
	case 21:
		m.base.addForeignAnnotation(p.Annotations)
	case 22: // an annotation and a label with the same key
		m.base.addRequest(p.Annotations)
		for _, k := range []string{"evenkeel.io/evict", "evenkeel.io/do-not-disrupt"} {
			if v, asked := p.Annotations[k]; asked {
				p.Annotations[k], p.Labels[k] = pickRandom(m.base.r, "prefer", "false", "30m", v), pickRandom(m.base.r, "never", "true", "2h", v)
			}
		}
	case 23: // a pod as written by hand
		p.Spec.Priority, p.Spec.PriorityClassName = nil, pickRandom(m.base.r, "", "high", "batch", "gone", "system-cluster-critical")
		delete(p.Labels, "controller-revision-hash")
	}
}

// addSinglePods adds bare pods, mirror pods and static pods.
func (m *mixedCluster) addSinglePods() {
	for i := range m.base.r.IntN(4) {
		a := &mixedApp{ns: "ns0", name: fmt.Sprintf("single%d", i), n: 1, cpu: 300,
			template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/single:v1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(300, resource.DecimalSI)}}}}}}}
		p := m.addPod(a, map[string]string{"single": "yes"}, a.name)
		switch m.base.r.IntN(3) {
		case 0:
			p.Annotations["kubernetes.io/config.mirror"], p.Annotations["kubernetes.io/config.source"] = "hash", "file"
		case 1:
			p.Annotations["kubernetes.io/config.source"] = pickRandom(m.base.r, "file", "http")
		}
	}
}

// addBudgetsAndServices adds PodDisruptionBudgets and Services.
func (m *mixedCluster) addBudgetsAndServices() {
	for _, a := range m.apps {
		if m.base.r.IntN(2) == 0 {
			m.base.addBudget(a.ns, a.name, matchLabels(a.labels))
		}
		if m.base.chance(0.05) {
			m.base.addBudget(a.ns, a.name+"-too", matchLabels(a.labels))
		}
		if m.base.r.IntN(3) > 0 {
			m.base.addService(a.ns, a.name, a.labels)
		}
	}
	for i := range 5 {
		ns := fmt.Sprintf("ns%d", i)
		m.base.addService(ns, "leader", map[string]string{"role": "leader"})
		switch {
		case m.base.chance(0.03):
			m.base.addBudget(ns, "all", &metav1.LabelSelector{})
		case m.base.chance(0.05):
			m.base.addBudget(ns, "tier", &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "front"}})
		case m.base.chance(0.15):
			m.base.addBudget(ns, "canary", &metav1.LabelSelector{MatchLabels: map[string]string{"track": "canary"}})
		case m.base.chance(0.15):
			m.base.addService(ns, "canary", map[string]string{"track": "canary"})
		}
	}
}
