// Package seed creates scenarios in a lab: nodes, and workloads whose pods are Ready on exactly the nodes that the
// scenario names. The workloads' controllers own the pods and have nothing left to do.
package seed

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// ZoneKey is the zone label of nodes.
const ZoneKey = "topology.kubernetes.io/zone"

// CreateNodes creates perZone Ready nodes in each of the zones, with 10 CPU and 10Gi each. n1 is in
// zone-1, n2 in zone-2, and so on in turn.
func CreateNodes(ctx context.Context, client kubernetes.Interface, zones, perZone int) error {
	return CreateNodesWithStatus(ctx, client, zones, perZone, corev1.NodeStatus{})
}

// CreateNodesWithStatus is like CreateNodes. The nodes have the addresses and endpoints of the status.
func CreateNodesWithStatus(ctx context.Context, client kubernetes.Interface, zones, perZone int, status corev1.NodeStatus) error {
	for i := range zones * perZone {
		n := Node{Name: fmt.Sprintf("n%d", i+1), Zone: fmt.Sprintf("zone-%d", i%zones+1), Status: status}
		if err := CreateNode(ctx, client, n); err != nil {
			return err
		}
	}
	return nil
}

// Node describes a fake Ready node. If CPU or MemoryGi is 0, it is 10.
type Node struct {
	Name, Zone    string
	CPU, MemoryGi int64
	Annotations   map[string]string // in addition to the annotation with which kwok manages the node
	Status        corev1.NodeStatus // addresses and endpoints of the kubelet
}

// CreateNode creates a node unless it exists.
func CreateNode(ctx context.Context, client kubernetes.Interface, n Node) error {
	n.Status.Capacity = corev1.ResourceList{"cpu": *resource.NewQuantity(cmp.Or(n.CPU, 10), resource.DecimalSI),
		"memory": *resource.NewQuantity(cmp.Or(n.MemoryGi, 10)<<30, resource.BinarySI),
		"pods":   resource.MustParse("110"), "ephemeral-storage": resource.MustParse("100Gi")}
	n.Status.Allocatable = n.Status.Capacity
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}
	annotations := map[string]string{"kwok.x-k8s.io/node": "fake"}
	maps.Copy(annotations, n.Annotations)
	labels := map[string]string{ZoneKey: n.Zone, "topology.kubernetes.io/region": "lab", "kubernetes.io/hostname": n.Name,
		"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{Status: n.Status,
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Annotations: annotations, Labels: labels}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating node %s: %w", n.Name, err)
	}
	return nil
}

// appTimeout limits the time until one app is stable, on a slow machine with many other apps.
const appTimeout = 5 * time.Minute

// App is a Deployment with a fixed node for each pod.
type App struct {
	Name     string
	MilliCPU int64
	MemoryMi int64
	// Nodes lists the node of each pod.
	Nodes          []string
	GraceSeconds   int64
	AffinityApp    string // adds required pod affinity to this app by node; empty for none
	EmptyDir       bool
	WithoutService bool
	SchedulerName  string // scheduler name; empty for default-scheduler
	// ZoneSkew is the maxSkew of a DoNotSchedule spread constraint by zone; 0 for none.
	ZoneSkew int32
	// PreferredNodes lists nodes that the pods prefer by node affinity.
	PreferredNodes []string
	// AllowedNodes lists the nodes to which required node affinity limits the pods; empty for all. It excludes
	// PreferredNodes and AvoidedNodeLabel.
	AllowedNodes []string
	// HostPort is a host port of each pod; 0 for none.
	HostPort int32
	// Apart adds required anti-affinity by node between the pods.
	Apart bool
	// ApartFrom adds required anti-affinity by node to this app; empty for none.
	ApartFrom string
	// AvoidedNodeLabel is a node label that the pods avoid by preferred node affinity.
	AvoidedNodeLabel map[string]string
	// Annotations are set on all pods, including replacements.
	Annotations map[string]string
	// Change changes the spec of all pods, including replacements; nil changes nothing.
	Change func(*corev1.PodSpec)
}

// ThreeZoneApps returns the scenario with three zones of one node each. Apps a, b and c request 70
// %, 70 % and 10 % of the three nodes. Deployment d has six pods, each of which requests 10 % of a
// node; place is the number of its pods per node.
func ThreeZoneApps(place [3]int, grace int64) []App {
	var d []string
	for i, k := range place {
		for range k {
			d = append(d, fmt.Sprintf("n%d", i+1))
		}
	}
	return []App{
		{Name: "a", MilliCPU: 1000, MemoryMi: 1020, Nodes: []string{"n1", "n2", "n3"}, GraceSeconds: grace},
		{Name: "b", MilliCPU: 3000, MemoryMi: 3060, Nodes: []string{"n1", "n2"}, GraceSeconds: grace},
		{Name: "c", MilliCPU: 3000, MemoryMi: 3060, Nodes: []string{"n1", "n2"}, GraceSeconds: grace, AffinityApp: "b"},
		{Name: "d", MilliCPU: 1000, MemoryMi: 1020, Nodes: d, GraceSeconds: grace},
	}
}

// create creates the pods first, then the ReplicaSet, then the Deployment. In this order, each controller adopts the
// existing objects and creates none.
func (a App) create(ctx context.Context, client kubernetes.Interface, ns string) error {
	labels := map[string]string{"app": a.Name}
	hashed := map[string]string{"app": a.Name, appsv1.DefaultDeploymentUniqueLabelKey: "seed"}
	replicas := int32(len(a.Nodes))
	spec := a.podSpec()
	for i, node := range a.Nodes {
		name, err := PodName(ctx, client, ns, a.Name, i)
		if err != nil {
			return err
		}
		bound := *spec.DeepCopy()
		bound.NodeName = node
		meta := metav1.ObjectMeta{Name: name, Labels: hashed, Annotations: a.Annotations}
		p := &corev1.Pod{ObjectMeta: meta, Spec: bound}
		if _, err := client.CoreV1().Pods(ns).Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := a.waitUntilCached(ctx, client, ns); err != nil {
		return fmt.Errorf("waiting until the controllers' cache has the pods: %w", err)
	}
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: a.Name + "-seed", Labels: hashed,
			Annotations: map[string]string{"deployment.kubernetes.io/revision": "1"}},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: hashed},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: hashed, Annotations: a.Annotations}, Spec: spec}},
	}
	if _, err := client.AppsV1().ReplicaSets(ns).Create(ctx, rs, metav1.CreateOptions{}); err != nil {
		return err
	}
	// Once the ReplicaSet has a status, it is in the informer cache of the Deployment controller. If the Deployment
	// came earlier, its controller would create a second ReplicaSet.
	if err := WaitUntil(ctx, appTimeout, func() (bool, error) {
		rs, err := client.AppsV1().ReplicaSets(ns).Get(ctx, rs.Name, metav1.GetOptions{})
		return err == nil && rs.Status.ReadyReplicas == replicas, err
	}); err != nil {
		return fmt.Errorf("waiting for ReplicaSet %s: %w", rs.Name, err)
	}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: a.Name, Labels: labels},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: a.Annotations}, Spec: spec}},
	}
	if _, err := client.AppsV1().Deployments(ns).Create(ctx, d, metav1.CreateOptions{}); err != nil {
		return err
	}
	if a.WithoutService {
		return nil
	}
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: a.Name},
		Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}}}
	_, err := client.CoreV1().Services(ns).Create(ctx, svc, metav1.CreateOptions{})
	return err
}

// PodName returns the name of pod i of an app in a namespace. A namespace that is created again gets pods with other
// names, because kwok may still delete pods by the names of the former ones.
func PodName(ctx context.Context, client kubernetes.Interface, ns, app string, i int) (string, error) {
	namespace, err := client.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-seed-%d-%.8s", app, i, namespace.UID), nil
}

// waitUntilCached waits until all pods are in the controllers' informer cache, so that the ReplicaSet controller adopts
// them and creates none. A temporary budget shows when: the disruption controller counts healthy pods from the same
// cache.
func (a App) waitUntilCached(ctx context.Context, client kubernetes.Interface, ns string) error {
	none := intstr.FromInt32(0)
	api := client.PolicyV1().PodDisruptionBudgets(ns)
	name := "seeding-" + a.Name
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &none,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.Name}}}}
	if _, err := api.Create(ctx, b, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := WaitUntil(ctx, appTimeout, func() (bool, error) {
		b, err := api.Get(ctx, name, metav1.GetOptions{})
		if err == nil && b.Status.CurrentHealthy != int32(len(a.Nodes)) {
			err = fmt.Errorf("%d of %d pods are healthy", b.Status.CurrentHealthy, len(a.Nodes))
		}
		return err == nil, err
	}); err != nil {
		return err
	}
	return api.Delete(ctx, name, metav1.DeleteOptions{})
}

func (a App) podSpec() corev1.PodSpec {
	no, yes := false, true
	user := int64(65532)
	spec := corev1.PodSpec{
		SchedulerName:                 a.SchedulerName,
		TerminationGracePeriodSeconds: &a.GraceSeconds,
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &user,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers: []corev1.Container{{Name: "app", Image: "registry.k8s.io/pause:3.10",
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no,
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				"cpu":    *resource.NewMilliQuantity(a.MilliCPU, resource.DecimalSI),
				"memory": *resource.NewQuantity(a.MemoryMi<<20, resource.BinarySI)}}}},
	}
	if a.AffinityApp != "" {
		term := corev1.PodAffinityTerm{TopologyKey: "kubernetes.io/hostname",
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.AffinityApp}}}
		required := []corev1.PodAffinityTerm{term}
		spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	}
	if a.ZoneSkew > 0 {
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: a.ZoneSkew, TopologyKey: ZoneKey,
			WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.Name}}}}
	}
	if len(a.PreferredNodes) > 0 {
		spec.Affinity = preferredNodeAffinity(corev1.NodeSelectorRequirement{Key: "kubernetes.io/hostname",
			Operator: corev1.NodeSelectorOpIn, Values: a.PreferredNodes})
	}
	for key, value := range a.AvoidedNodeLabel {
		avoid := corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: []string{value}}
		spec.Affinity = preferredNodeAffinity(avoid)
	}
	a.constrain(&spec)
	if a.EmptyDir {
		spec.Volumes = []corev1.Volume{{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	if a.Change != nil {
		a.Change(&spec)
	}
	return spec
}

// constrain adds the host port, required node affinity and required anti-affinity.
func (a App) constrain(spec *corev1.PodSpec) {
	if a.HostPort > 0 {
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: a.HostPort}}
	}
	if len(a.AllowedNodes) > 0 {
		term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: "kubernetes.io/hostname", Operator: corev1.NodeSelectorOpIn, Values: a.AllowedNodes}}}
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}}}
	}
	if a.Apart {
		a.ApartFrom = a.Name
	}
	if a.ApartFrom != "" {
		if spec.Affinity == nil {
			spec.Affinity = &corev1.Affinity{}
		}
		spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: "kubernetes.io/hostname", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.ApartFrom}}}}}
	}
}

// preferredNodeAffinity returns a preferred node affinity with one requirement.
func preferredNodeAffinity(r corev1.NodeSelectorRequirement) *corev1.Affinity {
	term := corev1.PreferredSchedulingTerm{Weight: 100,
		Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}}}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{term}}}
}

// waitUntilStable waits until the Deployment has exactly the seeded pods, all Ready.
func (a App) waitUntilStable(ctx context.Context, client kubernetes.Interface, ns string) error {
	want := int32(len(a.Nodes))
	if err := WaitUntil(ctx, appTimeout, func() (bool, error) {
		d, err := client.AppsV1().Deployments(ns).Get(ctx, a.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		s := d.Status
		return s.ObservedGeneration >= d.Generation && s.ReadyReplicas == want && s.UpdatedReplicas == want && s.Replicas == want, nil
	}); err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=" + a.Name})
	if err != nil {
		return err
	}
	var on []string
	for _, p := range pods.Items {
		on = append(on, p.Spec.NodeName)
	}
	slices.Sort(on)
	if want := slices.Sorted(slices.Values(a.Nodes)); !slices.Equal(on, want) {
		return fmt.Errorf("pods are on nodes %v, want %v", on, want)
	}
	return nil
}
