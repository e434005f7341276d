package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Shares of the objects that Diverse changes.
const (
	taintedNodes    = 0.01 // half of them with PreferNoSchedule
	restartingPods  = 0.002
	oldPods         = 0.01
	failedPods      = 0.002
	diskNodes       = 0.5
	diversePools    = 10
	manyRestarts    = 500
	oldPodAge       = 30 * 24 * time.Hour
	differentCauses = 20 // one workload in so many has each constraint
)

// Diverse changes a cluster of Uneven so that each type of strategy has something to repair: workloads with spread
// constraints, required anti-affinity, and required and preferred node affinity; nodes with taints; and pods that
// restarted often, are old, or have failed. The pods of a workload share their constraints, as package observe does.
func Diverse(r *rand.Rand, o *cluster.Objects) {
	diverseNodes(r, o)
	specs := map[string]*corev1.PodSpec{} // by ReplicaSet
	for i, rs := range o.ReplicaSets {
		diverseSpec(&rs.Spec.Template, i)
		o.Deployments[i].Spec.Template = rs.Spec.Template
		specs[rs.Namespace+"/"+rs.Name] = &rs.Spec.Template.Spec
	}
	for i, p := range o.Pods {
		spec := specs[p.Namespace+"/"+p.OwnerReferences[0].Name]
		p.Spec.Affinity, p.Spec.TopologySpreadConstraints, p.Spec.Tolerations = spec.Affinity, spec.TopologySpreadConstraints, spec.Tolerations
		p.CreationTimestamp = metav1.NewTime(o.TakenAt.Add(-time.Hour).Add(time.Duration(i) * time.Millisecond))
		switch x := r.Float64(); {
		case x < oldPods:
			p.CreationTimestamp = metav1.NewTime(o.TakenAt.Add(-oldPodAge).Add(time.Duration(i) * time.Second))
		case x < oldPods+restartingPods:
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, RestartCount: manyRestarts,
				Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: p.CreationTimestamp}}}}
		}
		p.Status.StartTime = &p.CreationTimestamp
	}
	for range int(failedPods * float64(len(o.Pods))) {
		addFailedPod(r, o)
	}
}

func diverseNodes(r *rand.Rand, o *cluster.Objects) {
	for i, n := range o.Nodes {
		n.Labels["pool"] = fmt.Sprint("p", i%diversePools)
		if r.Float64() < diskNodes {
			n.Labels["disk"] = "ssd"
		}
		switch x := r.Float64(); {
		case x < taintedNodes/2:
			n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
		case x < taintedNodes:
			n.Spec.Taints = []corev1.Taint{{Key: "spot", Effect: corev1.TaintEffectPreferNoSchedule}}
		}
	}
}

// diverseSpec adds the constraints of the i-th workload to its template.
func diverseSpec(t *corev1.PodTemplateSpec, i int) {
	app := map[string]string{"app": t.Labels["app"]}
	term := func(key string, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}
	}
	node := func(a corev1.NodeAffinity) *corev1.Affinity { return &corev1.Affinity{NodeAffinity: &a} }
	switch i % differentCauses {
	case 1, 2:
		c := spreadConstraint(corev1.LabelHostname, corev1.DoNotSchedule, app)
		t.Spec.TopologySpreadConstraints = append(t.Spec.TopologySpreadConstraints, c...)
	case 5:
		t.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: corev1.LabelHostname, LabelSelector: matchLabels(app)}}}}
	case 6:
		t.Spec.Affinity = node(corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{term("pool", "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7")}}})
	case 7, 8:
		t.Spec.Affinity = node(corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 50, Preference: term("disk", "ssd")}}})
	case 9:
		t.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
}

// addFailedPod adds a failed copy of a random pod.
func addFailedPod(r *rand.Rand, o *cluster.Objects) {
	p := *o.Pods[r.IntN(len(o.Pods))]
	p.Name = fmt.Sprintf("%s-failed-%d", p.OwnerReferences[0].Name, len(o.Pods))
	p.UID += types.UID(fmt.Sprintf("-failed-%d", len(o.Pods)))
	p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}
	p.CreationTimestamp = metav1.NewTime(o.TakenAt.Add(-2 * time.Hour))
	o.Pods = append(o.Pods, &p)
}
