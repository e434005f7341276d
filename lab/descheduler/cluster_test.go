package descheduler

import (
	"fmt"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

const zoneKey = corev1.LabelTopologyZone

// generator makes a random cluster.
type generator struct {
	r    *rand.Rand
	o    *cluster.Objects
	now  time.Time
	free []resources // by node
	// crowding is the exponent of the distribution of pods over the nodes: 1 is even, and greater
	// values crowd the first nodes.
	crowding float64
	apps     []*app
}

type resources struct{ milliCPU, memory, pods int64 }

// app is a workload and its pods.
type app struct {
	namespace, name string
	kind            string // of the controller of its pods
	spec            corev1.PodSpec
	pods            []*corev1.Pod
}

// pick returns a random element.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// newCluster returns a random cluster of 5 to 12 nodes in three zones, in which the plugin mostly
// finds something to do. If the thresholds are distances from the mean, the nodes are equally
// large, because the two products take the mean of different sizes differently.
func newCluster(r *rand.Rand, p *policy, now time.Time) *cluster.Objects {
	g := &generator{r: r, now: now, crowding: 1, o: &cluster.Objects{TakenAt: now, ServerVersion: "1.37"}}
	x := scenarios[p.plugin]
	if x.crowded {
		g.crowding = 1 + 2*r.Float64()
	}
	g.addNodes(5+r.IntN(8), p.rule.UseDeviationThresholds)
	g.addNamespaces()
	for i := range x.apps + r.IntN(x.apps) {
		g.addApp(i)
	}
	g.taintNodes(x.taintedFrac)
	for _, a := range g.apps {
		if x.violate != nil && r.Float64() < x.violatedFrac {
			x.violate(g, a)
		}
	}
	g.addDaemonSet()
	return g.o
}

func (g *generator) addNamespaces() {
	for i, name := range []string{"ns0", "ns1", "ns2"} {
		g.o.Namespaces = append(g.o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name),
			Labels: map[string]string{corev1.LabelMetadataName: name, "team": []string{"red", "blue", "red"}[i]}}})
	}
	for name, value := range map[string]int32{"low": 100, "high": 20000} {
		g.o.PriorityClasses = append(g.o.PriorityClasses, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value})
	}
}

func (g *generator) addNodes(n int, equal bool) {
	same := pick(g.r, int64(4), 8)
	for i := range n {
		name := fmt.Sprintf("node%02d", i)
		f := resources{milliCPU: 1000 * pick(g.r, int64(4), 8), pods: pick(g.r, int64(20), 40)}
		if equal {
			f.milliCPU, f.pods = 1000*same, 30
		}
		f.memory = f.milliCPU * 4 << 20
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: g.ago(1000 * time.Hour),
			Labels: map[string]string{corev1.LabelHostname: name, zoneKey: fmt.Sprintf("zone%d", i%3), "kind": pick(g.r, "fast", "slow")}},
			Status: corev1.NodeStatus{Capacity: f.list(), Allocatable: f.list(),
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
		g.o.Nodes, g.free = append(g.o.Nodes, node), append(g.free, f)
	}
	g.o.Nodes[g.r.IntN(n)].Labels["kind"] = "fast"
	if g.r.IntN(4) == 0 {
		g.o.Nodes[g.r.IntN(n)].Spec.Unschedulable = true
	}
}

// taintNodes taints a share of the nodes, on which pods run already.
func (g *generator) taintNodes(frac float64) {
	for _, n := range g.o.Nodes {
		if g.r.Float64() < frac {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "dedicated", Value: pick(g.r, "a", "b"),
				Effect: pick(g.r, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)})
		}
	}
}

func (r resources) list() corev1.ResourceList {
	return corev1.ResourceList{"cpu": *resource.NewMilliQuantity(r.milliCPU, resource.DecimalSI),
		"memory": *resource.NewQuantity(r.memory, resource.BinarySI), "pods": *resource.NewQuantity(r.pods, resource.DecimalSI)}
}

func (g *generator) ago(d time.Duration) metav1.Time {
	return metav1.NewTime(g.now.Add(-d).Truncate(time.Second))
}

// addApp adds a workload whose pods fit on their nodes.
func (g *generator) addApp(i int) {
	name := fmt.Sprintf("app%02d", i)
	a := &app{namespace: pick(g.r, "ns0", "ns1", "ns2"), name: name,
		kind: pick(g.r, "ReplicaSet", "ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "Job")}
	size := resources{milliCPU: 100 * int64(1+g.r.IntN(8)), memory: int64(1+g.r.IntN(8)) * 128 << 20, pods: 1}
	requests := size.list()
	delete(requests, "pods")
	a.spec = corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, RestartPolicy: corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: new(int64(30)), Priority: new(int32(0)),
		Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/" + name + ":v1", Resources: corev1.ResourceRequirements{Requests: requests}}}}
	if a.kind == "Job" {
		a.spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}
	switch g.r.IntN(6) {
	case 0:
		a.spec.PriorityClassName, a.spec.Priority = "low", new(int32(100))
	case 1:
		a.spec.PriorityClassName, a.spec.Priority = "high", new(int32(20000))
	}
	if g.r.IntN(8) == 0 {
		a.spec.Volumes = []corev1.Volume{{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	if g.r.IntN(6) == 0 {
		a.spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	owner := g.addOwner(a, 1+g.r.IntN(8))
	for replica := range cap(a.pods) {
		if node, ok := g.place(size); ok {
			g.addPod(a, owner, replica, node)
		}
	}
	g.setReplicas(a)
	g.apps = append(g.apps, a)
}

// place reserves room for a pod and returns the node.
func (g *generator) place(size resources) (string, bool) {
	u := g.r.Float64()
	x := 1.0
	for c := g.crowding; c > 0; c-- {
		if c >= 1 || g.r.Float64() < c {
			x *= u
			u = g.r.Float64()
		}
	}
	first := min(int(x*float64(len(g.free))), len(g.free)-1)
	for i := range g.free {
		n := (first + i) % len(g.free)
		if f := &g.free[n]; f.milliCPU-size.milliCPU >= 500 && f.memory-size.memory >= 256<<20 && f.pods > 2 && !g.o.Nodes[n].Spec.Unschedulable {
			f.milliCPU, f.memory, f.pods = f.milliCPU-size.milliCPU, f.memory-size.memory, f.pods-1
			return g.o.Nodes[n].Name, true
		}
	}
	return "", false
}

// addOwner adds the controllers of a workload, and reserves space for its pods.
func (g *generator) addOwner(a *app, replicas int) metav1.OwnerReference {
	a.pods = make([]*corev1.Pod, 0, replicas)
	labels := a.labels()
	meta := metav1.ObjectMeta{Namespace: a.namespace, Name: a.name, UID: types.UID("owner-" + a.name), CreationTimestamp: g.ago(900 * time.Hour)}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: a.spec}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.name}}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: a.kind, Name: a.name, UID: meta.UID, Controller: new(true)}
	switch a.kind {
	case "ReplicaSet":
		d := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}}
		meta.Name, meta.UID, meta.Labels = a.name+"-v1", types.UID("rs-"+a.name), labels
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: a.name, UID: d.UID, Controller: new(true)}}
		g.o.Deployments = append(g.o.Deployments, d)
		g.o.ReplicaSets = append(g.o.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}})
		owner.Name, owner.UID = meta.Name, meta.UID
	case "StatefulSet":
		g.o.StatefulSets = append(g.o.StatefulSets, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			Selector: selector, Template: template, ServiceName: a.name}})
	case "Job":
		owner.APIVersion = "batch/v1"
		g.o.Jobs = append(g.o.Jobs, &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Selector: selector, Template: template, BackoffLimit: new(int32(100))}})
	}
	return owner
}

// setReplicas sets the number of replicas of the controllers to the number of pods.
func (g *generator) setReplicas(a *app) {
	n := int32(len(a.pods))
	for _, d := range g.o.Deployments {
		if d.Name == a.name {
			d.Spec.Replicas, d.Spec.Template.Spec, d.Status = &n, a.spec, appsv1.DeploymentStatus{Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
		}
	}
	for _, rs := range g.o.ReplicaSets {
		if rs.Name == a.name+"-v1" {
			rs.Spec.Replicas, rs.Spec.Template.Spec, rs.Status.Replicas, rs.Status.ReadyReplicas = &n, a.spec, n, n
		}
	}
	for _, s := range g.o.StatefulSets {
		if s.Name == a.name {
			s.Spec.Replicas, s.Spec.Template.Spec, s.Status.Replicas, s.Status.ReadyReplicas = &n, a.spec, n, n
		}
	}
	for _, j := range g.o.Jobs {
		if j.Name == a.name {
			j.Spec.Parallelism, j.Spec.Completions, j.Spec.Template.Spec = &n, &n, a.spec
			j.Status.Active, j.Status.Ready, j.Status.StartTime = n, &n, new(g.ago(900*time.Hour))
		}
	}
}

func (a *app) labels() map[string]string {
	tier := "front"
	if a.name[len(a.name)-1]%2 == 0 {
		tier = "back"
	}
	return map[string]string{"app": a.name, "tier": tier, "pod-template-hash": "v1"}
}

func (g *generator) addPod(a *app, owner metav1.OwnerReference, replica int, node string) {
	started := g.ago(10*time.Minute + time.Duration(g.r.IntN(72*60))*time.Minute)
	name := fmt.Sprintf("%s-%d", owner.Name, replica)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: name, UID: types.UID(name), Labels: a.labels(),
		CreationTimestamp: started, OwnerReferences: []metav1.OwnerReference{owner}}, Spec: *a.spec.DeepCopy()}
	p.Spec.NodeName, p.Status = node, running(started)
	a.pods, g.o.Pods = append(a.pods, p), append(g.o.Pods, p)
}

// running returns the status of a Ready pod.
func running(started metav1.Time) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &started,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: started}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Ready: true, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}}}}
}

// addDaemonSet adds a small pod on each node, for which addPod left room.
func (g *generator) addDaemonSet() {
	a := &app{namespace: "kube-system", name: "agent", kind: "DaemonSet", spec: corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName,
		Priority: new(int32(0)), Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/agent:v1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("64Mi")}}}}}}
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.name, UID: "owner-agent"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.name}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: a.labels()}, Spec: a.spec}}}
	g.o.DaemonSets = append(g.o.DaemonSets, ds)
	g.o.Namespaces = append(g.o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.namespace, UID: types.UID(a.namespace),
		Labels: map[string]string{corev1.LabelMetadataName: a.namespace}}})
	for i, n := range g.o.Nodes {
		g.addPod(a, metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: a.name, UID: ds.UID, Controller: new(true)}, i, n.Name)
	}
}
