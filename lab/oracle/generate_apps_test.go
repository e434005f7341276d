package oracle

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/lab/oracle/real"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// addApp adds an owner, possibly a Service, and pods on random nodes. Some pods are terminating or not bound.
func (g *generatedCluster) addApp(i int) {
	name, ns := fmt.Sprintf("a%d", i), g.oneOf("ns0", "ns1")
	l := map[string]string{"app": name}
	if g.chance(0.7) {
		l["tier"] = g.oneOf("web", "db")
	}
	g.labels = l
	spec, yes := g.randomPodSpec(), true
	tpl := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: l}, Spec: spec}
	meta := metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("own-" + name)}
	ref := metav1.OwnerReference{APIVersion: "apps/v1", Name: name, UID: meta.UID, Controller: &yes}
	sel := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	switch g.Intn(4) {
	case 0:
		ref.Kind = "StatefulSet"
		s := &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: sel, Template: tpl}}
		g.objects.StatefulSets = append(g.objects.StatefulSets, s)
	case 1:
		ref.APIVersion, ref.Kind = "v1", "ReplicationController"
		g.objects.ReplicationControllers = append(g.objects.ReplicationControllers, &corev1.ReplicationController{ObjectMeta: meta,
			Spec: corev1.ReplicationControllerSpec{Selector: sel.MatchLabels, Template: &tpl}})
	case 2:
		ref.APIVersion, ref.Kind = "example.com/v1", "Thing"
	default:
		ref.Kind = "ReplicaSet"
		g.objects.ReplicaSets = append(g.objects.ReplicaSets,
			&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: sel, Template: tpl}})
	}
	if g.chance(0.5) {
		g.objects.Services = append(g.objects.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
			Spec: corev1.ServiceSpec{Selector: map[string]string{g.oneOf("app", "app", "tier"): l["app"]}}})
	}
	mount := g.volumeMounter(ns, name, &spec)
	for k := range 1 + g.Intn(6) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("%s-%d", name, k),
			UID: types.UID(fmt.Sprintf("%s-%d", name, k)), Labels: l, OwnerReferences: []metav1.OwnerReference{ref}},
			Spec: *spec.DeepCopy(), Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		p.Spec.SchedulerName = corev1.DefaultSchedulerName
		mount(p)
		switch at := g.objects.Nodes[g.Intn(len(g.objects.Nodes))].Name; {
		case g.themes["nominated"] && g.chance(0.25):
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, NominatedNodeName: at}
		case !g.chance(0.05):
			p.Spec.NodeName = at
			if g.themes["resizes"] && g.chance(0.7) {
				g.addResourceStatuses(p)
			}
		}
		if g.chance(0.1) {
			now := metav1.Unix(1, 0)
			p.DeletionTimestamp, p.Finalizers = &now, []string{"example.com/wait"}
		}
		g.objects.Pods = append(g.objects.Pods, p)
	}
}

func (g *generatedCluster) randomPodSpec() corev1.PodSpec {
	var spec corev1.PodSpec
	for i := range 1 + g.Intn(2) {
		spec.Containers = append(spec.Containers, g.randomContainer(i))
	}
	if g.chance(map[bool]float64{true: 0.5, false: 0.15}[g.themes["resizes"]]) {
		spec.InitContainers = append(spec.InitContainers,
			corev1.Container{Name: "i", Image: "img2:v1", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("900m")}}})
	}
	if g.themes["sidecars"] && g.chance(0.5) {
		g.addSidecar(&spec)
	}
	if g.themes["overhead"] && g.chance(0.5) {
		spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse(g.oneOf("70m", "700m")), "memory": resource.MustParse("300Mi")}
	}
	if g.themes["podLevel"] && g.chance(0.5) {
		g.setPodLevelRequests(&spec)
	}
	if g.themes["features"] && g.chance(0.5) {
		g.requireNodeFeatures(&spec)
	}
	if g.themes["affinity"] && g.chance(0.15) {
		spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	for g.chance(0.3) {
		t := corev1.Toleration{Key: g.oneOf("k1", "k2", corev1.TaintNodeUnschedulable, corev1.TaintNodeNotReady), Operator: "Exists",
			Effect: corev1.TaintEffect(g.oneOf("", "NoSchedule", "PreferNoSchedule"))}
		if g.chance(0.4) {
			t.Operator, t.Value = "Equal", g.oneOf("v1", "v2")
		}
		spec.Tolerations = append(spec.Tolerations, t)
	}
	if g.chance(0.7) {
		spec.Affinity = g.randomAffinity()
	}
	if g.themes["spread"] && g.chance(0.8) {
		spec.TopologySpreadConstraints = g.randomSpreadConstraints()
	}
	if g.themes["nominated"] {
		priority := int32(g.Intn(3))
		spec.Priority = &priority
	}
	return spec
}

func (g *generatedCluster) randomContainer(i int) corev1.Container {
	c := corev1.Container{Name: fmt.Sprint("c", i), Image: g.oneOf("img0", "img1:v1", "img2:v1", "none")}
	c.Resources.Requests = corev1.ResourceList{}
	if g.chance(0.7) {
		c.Resources.Requests["cpu"] = *resource.NewMilliQuantity(int64(50+g.Intn(900)), resource.DecimalSI)
	}
	if g.chance(0.7) {
		c.Resources.Requests["memory"] = *resource.NewQuantity(int64(10+g.Intn(900))<<20, resource.BinarySI)
	}
	if g.chance(0.1) {
		c.Resources.Requests["ephemeral-storage"] = resource.MustParse("3Gi")
	}
	if g.themes["gpu"] && g.chance(0.4) {
		c.Resources.Requests["example.com/gpu"] = resource.MustParse("1")
		c.Resources.Limits = corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
	}
	if g.themes["ports"] && g.chance(0.5) {
		for g.chance(0.7) {
			c.Ports = append(c.Ports, corev1.ContainerPort{HostPort: int32(80 + g.Intn(3)), ContainerPort: 80,
				HostIP: g.oneOf("", "0.0.0.0", "10.0.0.1", "10.0.0.2"), Protocol: corev1.Protocol(g.oneOf("", "TCP", "UDP"))})
		}
	}
	return c
}

// addSidecar adds an init container that restarts always, before or after the other init containers.
func (g *generatedCluster) addSidecar(spec *corev1.PodSpec) {
	always := corev1.ContainerRestartPolicyAlways
	c := g.randomContainer(9)
	c.RestartPolicy = &always
	if g.chance(0.5) {
		spec.InitContainers = append([]corev1.Container{c}, spec.InitContainers...)
		return
	}
	spec.InitContainers = append(spec.InitContainers, c)
}

// setPodLevelRequests sets pod-level requests for cpu, memory, or both.
func (g *generatedCluster) setPodLevelRequests(spec *corev1.PodSpec) {
	spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{}}
	if g.chance(0.7) {
		spec.Resources.Requests["cpu"] = *resource.NewMilliQuantity(int64(500+g.Intn(3500)), resource.DecimalSI)
	}
	if g.chance(0.7) {
		spec.Resources.Requests["memory"] = *resource.NewQuantity(int64(500+g.Intn(3000))<<20, resource.BinarySI)
	}
}

// requireNodeFeatures adds a requirement for a node feature that not every node declares.
func (g *generatedCluster) requireNodeFeatures(spec *corev1.PodSpec) {
	switch g.Intn(3) {
	case 0:
		no := false
		spec.HostNetwork, spec.HostUsers = true, &no
	case 1:
		spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	default:
		if schedulerMinor < 37 {
			return // older API servers do not know mount options
		}
		spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "m", BindMountOptions: []string{"noexec"}}}
	}
}

// volumeMounter returns a function that adds volumes to an app's pods: either the same volumes for
// all pods, or one claim per pod like a StatefulSet.
func (g *generatedCluster) volumeMounter(ns, app string, spec *corev1.PodSpec) func(*corev1.Pod) {
	var same []corev1.Volume
	each := false
	if g.themes["disks"] && g.chance(0.6) {
		same = append(same, g.inlineVolume())
	}
	if g.themes["portworx"] && g.chance(0.4) {
		source := &corev1.PortworxVolumeSource{VolumeID: g.oneOf("h0", "h1", "h2")}
		same = append(same, corev1.Volume{Name: "portworx", VolumeSource: corev1.VolumeSource{PortworxVolume: source}})
	}
	if g.themes["images"] && g.chance(0.5) {
		image := &corev1.ImageVolumeSource{Reference: g.oneOf("img0", "img1:v1")}
		same = append(same, corev1.Volume{Name: "image", VolumeSource: corev1.VolumeSource{Image: image}})
	}
	if g.themes["ephemeral"] && g.chance(0.6) {
		same = append(same, g.ephemeralVolume())
	}
	if g.themes["claims"] && g.chance(0.8) {
		if each = g.chance(0.6); !each {
			g.addClaim(ns, app)
			same = append(same, claimVolume("shared", app))
		}
		if g.chance(0.2) {
			g.addClaim(ns, app+"-more")
			same = append(same, claimVolume("more", app+"-more"))
		}
	}
	return func(p *corev1.Pod) {
		p.Spec.Volumes = slices.Clone(same)
		if each {
			g.addClaim(ns, "data-"+p.Name)
			p.Spec.Volumes = append(p.Spec.Volumes, claimVolume("data", "data-"+p.Name))
		}
		for _, c := range real.EphemeralClaims(g.objects.StorageClasses, p) {
			c.Annotations = map[string]string{}
			if g.chance(0.8) {
				g.bindToNewVolume(c, "fast")
			}
			g.objects.PersistentVolumeClaims = append(g.objects.PersistentVolumeClaims, c)
		}
	}
}

func claimVolume(name, claim string) corev1.Volume {
	source := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: source}}
}

func (g *generatedCluster) ephemeralVolume() corev1.Volume {
	class := g.oneOf("fast", "wide", "local")
	t := &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: gibibytes(1 + g.Intn(30))}}}}
	if g.chance(0.8) {
		t.Spec.StorageClassName = &class
	}
	source := &corev1.EphemeralVolumeSource{VolumeClaimTemplate: t}
	return corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: source}}
}
