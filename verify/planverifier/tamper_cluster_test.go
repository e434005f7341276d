package planverifier_test

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
)

// editFirstPod changes the pod of the first move.
func editFirstPod(f func(m *planCase, p *corev1.Pod)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		x := m.plan.Moves[0]
		f(m, m.pod(x))
		return x.Pod.String(), true
	}
}

// editSourceNode changes the source node of the first move.
func editSourceNode(f func(m *planCase, n *corev1.Node)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		x := m.plan.Moves[0]
		for _, n := range m.o.Nodes {
			if n.Name == x.From {
				f(m, n)
			}
		}
		return x.Pod.String(), true
	}
}

// editTargetNode changes the target node of the first move.
func editTargetNode(f func(m *planCase, n *corev1.Node)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		x := m.plan.Moves[0]
		for _, n := range m.o.Nodes {
			if n.Name == x.To {
				f(m, n)
			}
		}
		return x.Pod.String(), true
	}
}

// editDeployment changes the Deployment of the first moved pod that belongs to a Deployment.
func editDeployment(f func(m *planCase, d *appsv1.Deployment)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		for _, x := range m.plan.Moves {
			for _, d := range m.o.Deployments {
				if x.Owner.Kind == "Deployment" && d.Namespace == x.Pod.Namespace && d.Name == x.Owner.Name {
					f(m, d)
					return x.Pod.String(), true
				}
			}
		}
		return "", false
	}
}

// editOwner changes the first owner of a kind that a moved pod has.
func editOwner(kind string, f func(m *planCase, o metav1.Object)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		for _, x := range m.plan.Moves {
			for _, o := range ownersOf(m, m.pod(x)) {
				if o.kind == kind {
					f(m, o)
					return x.Pod.String(), true
				}
			}
		}
		return "", false
	}
}

type ownerOf struct {
	metav1.Object
	kind string
}

// ownersOf returns the direct owner of the pod and the owner of that owner.
func ownersOf(m *planCase, p *corev1.Pod) (out []ownerOf) {
	ref := metav1.GetControllerOf(p)
	for _, rs := range m.o.ReplicaSets {
		if ref != nil && ref.Kind == "ReplicaSet" && rs.Namespace == p.Namespace && rs.Name == ref.Name {
			out = append(out, ownerOf{rs, "ReplicaSet"})
			ref = metav1.GetControllerOf(rs)
			break
		}
	}
	for _, d := range m.o.Deployments {
		if ref != nil && ref.Kind == "Deployment" && d.Namespace == p.Namespace && d.Name == ref.Name {
			out = append(out, ownerOf{d, "Deployment"})
		}
	}
	for _, s := range m.o.StatefulSets {
		if ref != nil && ref.Kind == "StatefulSet" && s.Namespace == p.Namespace && s.Name == ref.Name {
			out = append(out, ownerOf{s, "StatefulSet"})
		}
	}
	return out
}

// siblingOf returns a pod of the same direct owner that the plan does not move, and the pod of the first move with one.
func siblingOf(m *planCase) (sibling, moved *corev1.Pod) {
	stays := map[string]bool{}
	for _, p := range m.o.Pods {
		stays[string(p.UID)] = p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded && p.DeletionTimestamp == nil
	}
	for _, x := range m.plan.Moves {
		stays[x.Pod.UID] = false
	}
	for _, x := range m.plan.Moves {
		moved := m.pod(x)
		ref := metav1.GetControllerOf(moved)
		for _, p := range m.o.Pods {
			other := metav1.GetControllerOf(p)
			if stays[string(p.UID)] && ref != nil && other != nil && p.Namespace == moved.Namespace && ref.UID == other.UID &&
				p.Spec.NodeName != "" && (ref.Kind == "ReplicaSet" || ref.Kind == "StatefulSet") {
				return p, moved
			}
		}
	}
	return nil, nil
}

// editSibling changes a pod of a workload of which the plan moves another pod.
func editSibling(f func(m *planCase, p *corev1.Pod)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		sibling, moved := siblingOf(m)
		if sibling == nil {
			return "", false
		}
		f(m, sibling)
		return moved.Namespace + "/" + moved.Name, true
	}
}

// removeSibling removes a pod of a workload that the plan does not move.
func removeSibling(m *planCase) (string, bool) {
	sibling, moved := siblingOf(m)
	if sibling == nil {
		return "", false
	}
	m.o.Pods = slices.DeleteFunc(m.o.Pods, func(p *corev1.Pod) bool { return p == sibling })
	return moved.Namespace + "/" + moved.Name, true
}

// clusterTampers change the cluster so that it forbids a planned move.
var clusterTampers = []tampering{
	{"a mirror pod", plan.MirrorPod, editFirstPod(func(m *planCase, p *corev1.Pod) { p.Annotations["kubernetes.io/config.mirror"] = "x" })},
	{"a terminating pod", plan.PodTerminating,
		editFirstPod(func(m *planCase, p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: m.o.TakenAt} })},
	{"a terminal pod", plan.PodTerminal, editFirstPod(func(m *planCase, p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })},
	{"a pod without a node", plan.PodNotBound, editFirstPod(func(m *planCase, p *corev1.Pod) { p.Spec.NodeName = "" })},
	{"a bare pod", plan.BarePod, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.OwnerReferences = nil
		m.rules.Protect["BarePods"] = true
	})},
	{"a young pod", plan.PodTooYoung, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Status.StartTime = &metav1.Time{Time: m.o.TakenAt.Add(-time.Minute)}
		m.rules.MinPodAge = time.Minute + time.Second
	})},
	{"a pod with a long grace period", plan.GracePeriodTooLong, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Spec.TerminationGracePeriodSeconds, m.rules.MaxGracePeriod = new(int64(1e10)), time.Hour
	})},
	{"a pod of a group", plan.PartOfGroup, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Labels["kueue.x-k8s.io/queue-name"] = "batch"
	})},
	{"a ReplicaSet of a group", plan.PartOfGroup, editOwner("ReplicaSet", func(m *planCase, o metav1.Object) {
		o.SetLabels(map[string]string{"leaderworkerset.sigs.k8s.io/name": "a"})
	})},
	{"a Deployment of a group", plan.PartOfGroup, editOwner("Deployment", func(m *planCase, o metav1.Object) {
		o.SetAnnotations(map[string]string{"scheduling.x-k8s.io/pod-group": ""})
		m.rules.Groups = []string{"Kueue", "Volcano", "LeaderWorkerSet", "JobSet"}
	})},
	{"a StatefulSet of a group", plan.PartOfGroup, editOwner("StatefulSet", func(m *planCase, o metav1.Object) {
		o.SetLabels(map[string]string{"kueue.x-k8s.io/queue-name": "batch"})
	})},
	{"a paused StatefulSet", plan.WorkloadPaused, editOwner("StatefulSet", func(m *planCase, o metav1.Object) {
		o.SetAnnotations(map[string]string{"example.com/paused": ""})
	})},
	{"a Deployment that Cluster API pauses", plan.WorkloadPaused, editOwner("Deployment", func(m *planCase, o metav1.Object) {
		o.SetAnnotations(map[string]string{"cluster.x-k8s.io/paused": "false"})
	})},
	{"a workload whose last victim has no replacement", plan.ReplacementMissing, removeSibling},
	{"a sibling that another program evicts", plan.EvictionInBackground, editSibling(func(m *planCase, p *corev1.Pod) {
		p.Annotations = map[string]string{"descheduler.alpha.kubernetes.io/eviction-in-progress": "true"}
	})},
	{"a sibling whose eviction continues", plan.EvictionInBackground, editSibling(func(m *planCase, p *corev1.Pod) {
		m.rules.State.Background = []plan.BackgroundEviction{{Pod: plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)},
			Until: m.o.TakenAt.Add(time.Second)}}
	})},
	{"a scheduler that tried nothing since a pod came, though kubectl debug node made another", plan.SchedulerNotResponding,
		editFirstPod(func(m *planCase, p *corev1.Pod) {
			for name, age := range map[string]time.Duration{"waiting": 3 * time.Minute, "node-debugger": 2 * time.Minute} {
				x := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: name, UID: types.UID(name),
					CreationTimestamp: metav1.NewTime(m.o.TakenAt.Add(-age))}}
				x.Spec.SchedulerName = p.Spec.SchedulerName
				if name != "waiting" {
					x.Spec.NodeName = p.Spec.NodeName
					x.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
				}
				m.o.Pods = append(m.o.Pods, x)
			}
		})},
	{"a blocking pod of another namespace", plan.BlockedByPod, editFirstPod(func(m *planCase, p *corev1.Pod) {
		m.o.Pods = append(m.o.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "night", UID: "night", Labels: map[string]string{"runtime": "long"},
				DeletionTimestamp: &metav1.Time{Time: m.o.TakenAt}},
			Spec: corev1.PodSpec{NodeName: p.Spec.NodeName}, Status: corev1.PodStatus{Phase: corev1.PodRunning,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}}})
		m.rules.BlockingPods = []planverifier.PodSelector{{Selector: labels.SelectorFromSet(labels.Set{"runtime": "long"}), Namespace: "elsewhere"}}
	})},
	{"a pod with a high priority", plan.PriorityTooHigh,
		editFirstPod(func(m *planCase, p *corev1.Pod) { n := int32(100); p.Spec.Priority = &n; m.rules.PriorityBelow = "100" })},
	{"evict: never", plan.EvictNever, editFirstPod(func(m *planCase, p *corev1.Pod) { p.Annotations["evenkeel.io/evict"] = "never" })},
	{"evict: never as a label, prefer as an annotation", plan.EvictNever, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Annotations["evenkeel.io/evict"], p.Labels["evenkeel.io/evict"] = "prefer", "never"
	})},
	{"do-not-disrupt with a duration", plan.DoNotDisrupt,
		editFirstPod(func(m *planCase, p *corev1.Pod) { p.Annotations["karpenter.sh/do-not-disrupt"] = "10000h" })},
	{"an unreadable annotation", plan.RequestUnreadable,
		editFirstPod(func(m *planCase, p *corev1.Pod) { p.Annotations["evenkeel.io/evict"] = "nevre" })},
	{"a closed window annotation", plan.OutsideWindow, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Annotations["evenkeel.io/window"] = m.o.TakenAt.Add(time.Hour).UTC().Format("4 15 * * *") + " 30m Etc/UTC"
	})},
	{"local storage", plan.LocalStorage, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "x", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		m.rules.Protect["PodsWithLocalStorage"] = true
	})},
	{"an excluded namespace", plan.NamespaceExcluded,
		editFirstPod(func(m *planCase, p *corev1.Pod) { m.rules.Exclude = append(m.rules.Exclude, p.Namespace) })},
	{"a namespace that is being deleted", plan.NoReplacement, editFirstPod(func(m *planCase, p *corev1.Pod) {
		for _, ns := range m.o.Namespaces {
			if ns.Name == p.Namespace {
				ns.DeletionTimestamp = &metav1.Time{Time: m.o.TakenAt}
			}
		}
	})},
	{"an excluded node", plan.NodeExcluded,
		editSourceNode(func(m *planCase, n *corev1.Node) { n.Annotations["evenkeel.io/exclude"] = "true" })},
	{"a node that is not Ready", plan.NodeNotReady,
		editSourceNode(func(m *planCase, n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown })},
	{"a node that Karpenter disrupts", plan.NodeBeingDisrupted, editSourceNode(func(m *planCase, n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule})
	})},
	{"a node of EKS Fargate", plan.VirtualNode, editSourceNode(func(m *planCase, n *corev1.Node) {
		n.Labels["eks.amazonaws.com/compute-type"] = "fargate"
	})},
	{"a target that virtual-kubelet runs", plan.VirtualNode, editTargetNode(func(m *planCase, n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "virtual-kubelet.io/provider", Value: "azure", Effect: corev1.TaintEffectNoSchedule})
	})},
	{"a node that virtualNodeSelector selects", plan.VirtualNode, editSourceNode(func(m *planCase, n *corev1.Node) {
		n.Labels["a"], m.rules.VirtualNodeSelector = "b", labels.SelectorFromSet(labels.Set{"a": "b"})
	})},
	{"a node that a spot interruption handler drains", plan.NodeBeingDrained, editSourceNode(func(m *planCase, n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "aws-node-termination-handler/spot-itn", Effect: corev1.TaintEffectNoSchedule})
	})},
	{"a target that kured reboots", plan.NodeBeingDrained, editTargetNode(func(m *planCase, n *corev1.Node) {
		n.Annotations["weave.works/kured-reboot-in-progress"] = "x"
	})},
	{"a cordoned node from which others evict", plan.NodeBeingDrained, editSourceNode(func(m *planCase, n *corev1.Node) {
		n.Spec.Unschedulable = true
		m.o.Pods = append(m.o.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "evicted", UID: "evicted", DeletionTimestamp: &metav1.Time{Time: m.o.TakenAt}},
			Spec:       corev1.PodSpec{NodeName: n.Name},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse},
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}}})
	})},
	{"a blocking pod on the node", plan.BlockedByPod, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Labels["runtime"] = "long"
		m.rules.BlockingPods = []planverifier.PodSelector{{Selector: labels.SelectorFromSet(labels.Set{"runtime": "long"}), Namespace: p.Namespace}}
	})},
	{"a paused Deployment", plan.WorkloadPaused, editDeployment(func(m *planCase, d *appsv1.Deployment) { d.Spec.Paused = true })},
	{"a target that is being deleted", plan.NodeBeingDisrupted, editTargetNode(func(m *planCase, n *corev1.Node) {
		n.DeletionTimestamp = &metav1.Time{Time: m.o.TakenAt}
	})},
	{"a pod with the zero start time", plan.PodTooYoung, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Status.StartTime, m.rules.MinPodAge = &metav1.Time{}, time.Minute
	})},
	{"a rollout", plan.RolloutInProgress, editDeployment(func(m *planCase, d *appsv1.Deployment) { d.Generation++ })},
	{"a workload that scales down", plan.ScalingDown, editDeployment(func(m *planCase, d *appsv1.Deployment) { *d.Spec.Replicas-- })},
	{"a degraded workload", plan.WorkloadDegraded, editDeployment(func(m *planCase, d *appsv1.Deployment) {
		*d.Spec.Replicas += 3
		m.rules.Protect["DegradedWorkloads"] = true
	})},
	{"too few replicas", plan.TooFewReplicas,
		editDeployment(func(m *planCase, d *appsv1.Deployment) { m.rules.MinReplicas = int(*d.Spec.Replicas) + 1 })},
	{"the only pod that satisfies a required affinity", plan.RequiredByAffinity, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Labels["only"] = "me"
		m.rules.Protect["PodsRequiredByAffinity"] = true
		needs := p.DeepCopy()
		needs.Name, needs.UID, needs.Labels, needs.OwnerReferences = "needs", "needs", map[string]string{}, nil
		needs.Spec.Affinity = &corev1.Affinity{
			PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"only": "me"}}, TopologyKey: "kubernetes.io/hostname"}}}}
		m.o.Pods = append(m.o.Pods, needs)
	})},
	{"the last Ready pod of a Service", plan.LastReadyPod, editFirstPod(func(m *planCase, p *corev1.Pod) {
		m.rules.Protect["LastReadyPods"] = true
		p.Labels["only"] = "me"
		m.o.Services = append(m.o.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "only"},
			Spec: corev1.ServiceSpec{Selector: map[string]string{"only": "me"}}})
	})},
}

func budgetsOf(m *planCase, p *corev1.Pod) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for _, b := range m.o.PodDisruptionBudgets {
		if sel, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil && b.Namespace == p.Namespace &&
			sel.Matches(labels.Set(p.Labels)) {
			out = append(out, b)
		}
	}
	return out
}

func isReady(p *corev1.Pod) bool {
	return p.Status.Conditions[0].Type == corev1.PodReady && p.Status.Conditions[0].Status == corev1.ConditionTrue
}

// editBudget changes the budget of the first Ready pod in wave 1 that has exactly one budget. taken
// is the number of Ready pods that wave 1 evicts from this budget, and p is the last of these pods.
func editBudget(f func(b *policyv1.PodDisruptionBudget, p *corev1.Pod, healthy, taken int32)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		var b *policyv1.PodDisruptionBudget
		var last *corev1.Pod
		taken := int32(0)
		for _, x := range m.plan.Moves {
			p := m.pod(x)
			mine := budgetsOf(m, p)
			if x.Wave == 1 && len(mine) == 1 && isReady(p) && (b == nil || b == mine[0]) {
				b, last = mine[0], p
				taken++
			}
		}
		if b == nil {
			return "", false
		}
		f(b, last, b.Status.CurrentHealthy, taken)
		return last.Namespace + "/" + last.Name, true
	}
}

// budgetTampers make wave 1 exceed a PodDisruptionBudget by one eviction.
var budgetTampers = []tampering{
	{"one more than the pods of the budget allow", plan.BlockedByPDB,
		editBudget(func(b *policyv1.PodDisruptionBudget, p *corev1.Pod, healthy, taken int32) {
			n := intstr.FromInt32(healthy - taken + 1)
			b.Spec.MinAvailable, b.Spec.MaxUnavailable = &n, nil // the status is not updated yet
		})},
	{"one more than the status allows", plan.BlockedByPDB,
		editBudget(func(b *policyv1.PodDisruptionBudget, p *corev1.Pod, healthy, taken int32) {
			b.Status.DisruptionsAllowed = taken - 1
		})},
	{"a budget that was changed", plan.PDBNotObserved, editBudget(func(b *policyv1.PodDisruptionBudget, p *corev1.Pod, healthy, taken int32) {
		b.Generation = b.Status.ObservedGeneration + 1
	})},
	{"a pod in disruptedPods", plan.BlockedByPDB, editBudget(func(b *policyv1.PodDisruptionBudget, p *corev1.Pod, healthy, taken int32) {
		b.Status.DisruptedPods = map[string]metav1.Time{p.Name: {Time: p.Status.StartTime.Add(1000 * time.Hour)}}
	})},
	{"two budgets", plan.MultiplePDBs, editFirstPod(func(m *planCase, p *corev1.Pod) {
		n := intstr.FromInt32(100)
		for _, name := range []string{"one", "two"} {
			m.o.PodDisruptionBudgets = append(m.o.PodDisruptionBudgets,
				&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name},
					Spec:   policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &n, Selector: &metav1.LabelSelector{MatchLabels: maps.Clone(p.Labels)}},
					Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 100, CurrentHealthy: 100, ExpectedPods: 100}})
		}
	})},
}
