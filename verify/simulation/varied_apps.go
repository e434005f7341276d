package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Varied returns a cluster of unequal nodes over three zones. The workloads have constraints that limit a plan:
// budgets, node affinity, pod affinity, topology spread, zonal volumes, node selectors and do-not-disrupt. About
// 30 % of the nodes hold far more than their share, and 30 % far less. Pods request 35 to 55 % of the CPU.
// mostPods limits the number of pods; 0 means no limit.
//
// A Varied cluster has no broken objects. Tests use it to measure how good a plan is, and use Mixed
// to check whether a plan is allowed.
func Varied(r *rand.Rand, nodes, mostPods int) *cluster.Objects {
	v := &variedCluster{r: r, o: &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}}
	for i := range 4 {
		addNamespace(v.o, fmt.Sprintf("ns%d", i))
	}
	v.addNodes(nodes)
	want := int64((0.35 + 0.2*r.Float64()) * float64(v.totalCPU))
	for i := 0; v.requestedCPU < want && (mostPods == 0 || len(v.o.Pods) < mostPods); i++ {
		replicas := pickRandom(r, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12)
		if nodes <= 10 {
			replicas = min(replicas, 5)
		}
		if mostPods > 0 {
			replicas = min(replicas, mostPods-len(v.o.Pods))
		}
		v.addWorkload(i, replicas)
	}
	return v.o
}

func (v *variedCluster) addWorkload(i, replicas int) {
	a := &variedApp{ns: fmt.Sprintf("ns%d", i%4), name: fmt.Sprintf("a%03d", i), cpu: pickRandom(v.r, int64(100), 200, 250, 300, 400, 500,
		750, 1000, 1500)}
	a.mem = int64(float64(a.cpu<<20) * pickRandom(v.r, 1.0, 2, 3, 4, 6))
	if v.chance(0.35) {
		a.favouredZone = pickRandom(v.r, "z0", "z1", "z2")
	}
	a.template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": a.name}}, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(30)), SchedulerName: corev1.DefaultSchedulerName, RestartPolicy: corev1.RestartPolicyAlways,
		Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/" + a.name + ":v1", Resources: requests(a.cpu, a.mem)}}}}
	v.restrictNodes(a)
	if v.addPodAffinity(a, replicas); v.chance(0.05) {
		a.template.Annotations = map[string]string{"evenkeel.io/do-not-disrupt": "true"}
	}
	v.apps = append(v.apps, a)
	if a.zonalVolume {
		v.addStatefulSet(a, replicas)
	} else {
		v.addDeployment(a, replicas)
	}
	if len(a.pods) > 0 && v.chance(0.25) {
		v.addBudget(a)
	}
}

// restrictNodes makes some workloads require or prefer certain nodes.
func (v *variedCluster) restrictNodes(a *variedApp) {
	in := func(key string, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: "In", Values: values}}}
	}
	require := func(t corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{t}}}}
	}
	spec := &a.template.Spec
	switch x := v.r.Float64(); {
	case x < 0.06:
		a.zonalVolume = true
	case x < 0.10: // pinned to one node
		a.node = map[string]string{"kubernetes.io/hostname": v.o.Nodes[v.r.IntN(len(v.o.Nodes))].Name}
		spec.NodeSelector = a.node
	case x < 0.17:
		a.node = map[string]string{"disk": "ssd"}
		spec.Affinity = require(in("disk", "ssd"))
	case x < 0.22: // two of the three zones; its pods were bound before and may be anywhere
		spec.Affinity = require(in(zoneKey, "z0", "z1"))
	case x < 0.30:
		spec.Affinity = &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 50, Preference: in("disk", "ssd")}}}}
	}
}

// addPodAffinity gives some workloads pod affinity, anti-affinity or topology spread constraints.
func (v *variedCluster) addPodAffinity(a *variedApp, replicas int) {
	own := map[string]string{"app": a.name}
	spec := &a.template.Spec
	affinity := func() *corev1.Affinity {
		if spec.Affinity == nil {
			spec.Affinity = &corev1.Affinity{}
		}
		return spec.Affinity
	}
	term := corev1.PodAffinityTerm{LabelSelector: matchLabels(own), TopologyKey: "kubernetes.io/hostname"}
	switch x := v.r.Float64(); {
	case x < 0.08 && replicas*3 <= len(v.o.Nodes) && a.node == nil:
		a.onePerNode = true
		affinity().PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}
	case x < 0.18:
		affinity().PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 100, PodAffinityTerm: term}}}
	case x < 0.26 && len(v.apps) > 0:
		other := v.apps[v.r.IntN(len(v.apps))]
		near := corev1.PodAffinityTerm{LabelSelector: matchLabels(map[string]string{"app": other.name}),
			Namespaces: []string{other.ns}, TopologyKey: zoneKey}
		if v.chance(0.3) {
			affinity().PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{near}}
		} else {
			affinity().PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 50, PodAffinityTerm: near}}}
		}
	case x < 0.46:
		spec.TopologySpreadConstraints = spreadConstraint(zoneKey, corev1.DoNotSchedule, own)
	case x < 0.54:
		spec.TopologySpreadConstraints = spreadConstraint("kubernetes.io/hostname", corev1.ScheduleAnyway, own)
	}
}

func (v *variedCluster) addDeployment(a *variedApp, replicas int) {
	hashed := maps.Clone(a.template.Labels)
	hashed["pod-template-hash"] = "x"
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: a.name + "-x", UID: types.UID("rs-" + a.name),
		Labels: hashed, OwnerReferences: controlledBy("apps/v1", "Deployment", a.name, types.UID("deploy-"+a.name))}}
	a.owners = controlledBy("apps/v1", "ReplicaSet", rs.Name, rs.UID)
	for i := range replicas {
		v.addPod(a, fmt.Sprintf("%s-x-%02d", a.name, i), hashed)
	}
	n := int32(len(a.pods))
	if n == 0 {
		return // no node has room for a pod
	}
	rs.Spec = appsv1.ReplicaSetSpec{Replicas: &n, Selector: matchLabels(hashed), Template: *a.template.DeepCopy()}
	rs.Spec.Template.Labels = hashed
	v.o.ReplicaSets = append(v.o.ReplicaSets, rs)
	v.o.Deployments = append(v.o.Deployments, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: a.name,
		UID: types.UID("deploy-" + a.name)},
		Spec:   appsv1.DeploymentSpec{Replicas: &n, Selector: matchLabels(a.template.Labels), Template: a.template},
		Status: appsv1.DeploymentStatus{Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}})
}

// addStatefulSet adds a StatefulSet. Each pod has a volume in the zone of its node.
func (v *variedCluster) addStatefulSet(a *variedApp, replicas int) {
	rev, uid := a.name+"-r1", types.UID("set-"+a.name)
	a.owners = controlledBy("apps/v1", "StatefulSet", a.name, uid)
	for i := range replicas {
		name := fmt.Sprintf("%s-%d", a.name, i)
		labels := maps.Clone(a.template.Labels)
		labels[appsv1.ControllerRevisionHashLabelKey], labels[appsv1.StatefulSetPodNameLabel] = rev, name
		p, zone := v.addPod(a, name, labels)
		if p == nil {
			break
		}
		p.Spec.Volumes = []corev1.Volume{{Name: "data",
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + name}}}}
		v.addVolume(a.ns, "data-"+name, zone)
	}
	n := int32(len(a.pods))
	if n == 0 {
		return
	}
	v.o.StatefulSets = append(v.o.StatefulSets, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: a.name, UID: uid},
		Spec: appsv1.StatefulSetSpec{Replicas: &n, Selector: matchLabels(a.template.Labels), Template: a.template},
		Status: appsv1.StatefulSetStatus{Replicas: n, ReadyReplicas: n, CurrentReplicas: n, UpdatedReplicas: n, CurrentRevision: rev,
			UpdateRevision: rev}})
}

func (v *variedCluster) addVolume(ns, claim, zone string) {
	name := "pv-" + ns + "-" + claim
	mode, amount := corev1.PersistentVolumeFilesystem, corev1.ResourceList{"storage": resource.MustParse("10Gi")}
	access := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	v.o.PersistentVolumeClaims = append(v.o.PersistentVolumeClaims,
		&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: claim, UID: types.UID("pvc-" + ns + claim),
			Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
			Spec: corev1.PersistentVolumeClaimSpec{VolumeName: name, StorageClassName: new(""), VolumeMode: &mode, AccessModes: access,
				Resources: corev1.VolumeResourceRequirements{Requests: amount}},
			Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}})
	v.o.PersistentVolumes = append(v.o.PersistentVolumes,
		&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
			Spec: corev1.PersistentVolumeSpec{Capacity: amount, AccessModes: access, VolumeMode: &mode,
				ClaimRef:               &corev1.ObjectReference{Namespace: ns, Name: claim, UID: types.UID("pvc-" + ns + claim)},
				PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "storage." + zone, Path: "/" + name}},
				NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zoneKey, Operator: "In", Values: []string{zone}}}}}}}},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound}})
}

// addPod adds a bound pod and returns the zone of its node. addPod returns nil if no node has room.
func (v *variedCluster) addPod(a *variedApp, name string, labels map[string]string) (*corev1.Pod, string) {
	node := v.pickNode(a)
	if node == nil {
		return nil, ""
	}
	start := v.o.TakenAt.Add(-time.Duration(60+v.r.IntN(600)) * time.Minute)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: name, UID: types.UID(a.ns + "-" + name),
		Labels: maps.Clone(labels), Annotations: a.template.Annotations, OwnerReferences: a.owners},
		Spec: *a.template.Spec.DeepCopy(), Status: readyPod(start)}
	p.Spec.NodeName = node.Name
	a.pods = append(a.pods, p)
	v.o.Pods = append(v.o.Pods, p)
	return p, node.Labels[zoneKey]
}

// addBudget adds a budget that allows some disruptions. About one budget in twelve allows no disruptions.
func (v *variedCluster) addBudget(a *variedApp) {
	n := len(a.pods)
	away := min(n-1, pickRandom(v.r, 1, 1, 1, 2, max(1, n/4)))
	if v.chance(0.08) {
		away = 0
	}
	addBudget(v.o, a.ns, a.name, a.template.Labels, int32(n), int32(away))
}
