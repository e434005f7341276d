package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// mostPods is the maximum number of pods of a Mixed cluster.
const mostPods = 160

// Mixed returns a small cluster that exercises every guard, annotation and budget rule. The workloads have all
// kinds of owners, budgets, Services and states, and some nodes are crowded or broken. In three of four
// clusters, broken objects are at most half as frequent, so that a plan can move more pods. One snapshot in five
// is taken in a night with a daylight-saving change.
func Mixed(r *rand.Rand) *cluster.Objects {
	now := epoch.Add(time.Duration(r.IntN(14*24*60)) * time.Minute)
	if nights := Nights(); r.IntN(5) == 0 {
		now = nights[r.IntN(len(nights))].Add(time.Duration(r.IntN(6*60)) * time.Minute)
	}
	return MixedAt(r, now)
}

// Nights returns the evenings of the four nights of 2026 with a daylight-saving change in Berlin or
// on Lord Howe Island. The change happens within four hours after the returned time.
func Nights() []time.Time {
	return []time.Time{
		time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 22, 0, 0, 0, time.UTC),
		time.Date(2026, 4, 4, 13, 0, 0, 0, time.UTC), time.Date(2026, 10, 3, 13, 0, 0, 0, time.UTC),
	}
}

// MixedAt returns a Mixed cluster whose snapshot is taken at now.
func MixedAt(r *rand.Rand, now time.Time) *cluster.Objects {
	m := &mixedCluster{base: &mixedBase{r: r, now: now, o: &cluster.Objects{TakenAt: now, ServerVersion: "1.37"}}}
	m.base.chanceFactor = pickRandom(r, 1, 0.5, 0.25, 0.1)
	m.base.addNamespaces()
	m.base.addNodes(4 + r.IntN(17))
	m.base.addPriorityClasses()
	for i := 0; i < 6+r.IntN(16) && len(m.base.o.Pods) < mostPods-12; i++ {
		m.addWorkload(i)
	}
	m.addSinglePods()
	m.addBudgetsAndServices()
	m.addRequiredPeers()
	m.addPrograms()
	return m.base.o
}

// addRequiredPeers adds, in one of three clusters, a pod that requires a pod of some workload on its node.
// addRequiredPeers uses its own random source, so the rest of the cluster does not change.
func (m *mixedCluster) addRequiredPeers() {
	r := rand.New(rand.NewPCG(uint64(m.base.now.Unix()), uint64(len(m.base.o.Pods))))
	if len(m.apps) == 0 || r.IntN(3) > 0 {
		return
	}
	a := m.apps[r.IntN(len(m.apps))]
	if len(a.pods) == 0 || a.pods[0].Spec.NodeName == "" {
		return
	}
	with := a.pods[0]
	term := corev1.PodAffinityTerm{LabelSelector: matchLabels(a.labels), Namespaces: []string{a.ns},
		TopologyKey: "kubernetes.io/hostname"}
	m.base.o.Pods = append(m.base.o.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "clings", UID: "clings", CreationTimestamp: with.CreationTimestamp,
			Labels: map[string]string{"clings": "yes"}},
		Spec: corev1.PodSpec{NodeName: with.Spec.NodeName, SchedulerName: corev1.DefaultSchedulerName,
			Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/clings:v1"}},
			Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				term}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	})
}

func (m *mixedCluster) addWorkload(i int) {
	a := &mixedApp{ns: fmt.Sprintf("ns%d", m.base.r.IntN(5)), name: fmt.Sprintf("a%02d", i), n: int32(2 + m.base.r.IntN(8)),
		cpu: int64(100 * (1 + m.base.r.IntN(9)))}
	if m.base.chance(0.03) {
		a.ns = "kube-system"
	}
	if m.base.chance(0.06) {
		a.n = 1
	}
	a.labels = map[string]string{"app": a.name}
	a.template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": a.name,
		"tier": pickRandom(m.base.r, "front", "back")}},
		Spec: corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(30)), Priority: new(int32(0)), SchedulerName: corev1.DefaultSchedulerName,
			RestartPolicy: corev1.RestartPolicyAlways,
			Containers:    []corev1.Container{{Name: "c", Image: "registry.example.com/" + a.name + ":v1", Resources: requests(a.cpu, a.cpu<<21)}}}}
	if m.base.chance(0.3) {
		m.varyTemplate(a)
	}
	m.apps = append(m.apps, a)
	kinds := []func(*mixedApp){m.addBareReplicaSet, m.addReplicationController, m.addStatefulSet, m.addStatefulSet,
		m.addJob, m.addJob, m.addCronJob, m.addWorkflowJob,
		m.addDaemonSet, m.addCustomController, m.addArgoRollout, m.addCanary, m.addOperatorOwned, m.addOperatorOwned, m.addOrphans, m.addBarePods}
	if m.base.r.Float64() > 0.55*m.base.chanceFactor {
		m.addDeployment(a)
	} else {
		pickRandom(m.base.r, kinds...)(a)
	}
	for range 3 {
		if m.base.chance(0.25) {
			m.addTrouble(a)
		}
	}
}
