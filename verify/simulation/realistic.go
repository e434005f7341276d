package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Realistic adds to pods and nodes the fields that an API server, a kubelet, an overlay network and a service mesh
// write. Each pod then takes five to six kilobytes as protobuf, as in real clusters. The planner reads only a few
// of these fields, such as tolerations, priority and allocated resources.
func Realistic(r *rand.Rand, o *cluster.Objects) {
	for i, p := range o.Pods {
		p.UID = realisticUID(r)
		p.ResourceVersion = fmt.Sprint(1_000_000 + i)
		p.CreationTimestamp = metav1.NewTime(epoch)
		p.GenerateName = p.Name[:strings.LastIndex(p.Name, "-")+1]
		p.Annotations = map[string]string{
			"cni.example.com/containerID": randomHex(r, 64), "cni.example.com/podIP": realisticIP(i) + "/32",
			"cni.example.com/podIPs":            realisticIP(i) + "/32",
			"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z", "prometheus.io/scrape": "true", "prometheus.io/port": "8080",
			"checksum/config": randomHex(r, 64)}
		p.ManagedFields = managedFields()
		realisticSpec(&p.Spec, p.Name)
		realisticStatus(r, i, p)
	}
	for i, n := range o.Nodes {
		realisticNode(r, i, n)
	}
}

func realisticUID(r *rand.Rand) types.UID {
	return types.UID(randomHex(r, 8) + "-" + randomHex(r, 4) + "-" + randomHex(r, 4) + "-" + randomHex(r, 4) + "-" + randomHex(r, 12))
}

func realisticIP(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255) }

func randomHex(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%016x", r.Uint64())
	}
	return b.String()[:n]
}

// managedFields returns the managed fields of a controller and of a kubelet.
func managedFields() []metav1.ManagedFieldsEntry {
	at := metav1.NewTime(epoch)
	entry := func(manager, sub string, bytes int) metav1.ManagedFieldsEntry {
		raw := `{"f:metadata":{` + strings.Repeat(`"f:labels":{".":{}},`, bytes/20) + `"f:x":{}}}`
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(raw), Subresource: sub}
	}
	return []metav1.ManagedFieldsEntry{entry("kube-controller-manager", "", 1200), entry("kubelet", "status", 900)}
}

func realisticSpec(s *corev1.PodSpec, name string) {
	seconds, expires, mode, yes, links, zero := int64(300), int64(3607), int32(420), true, true, int32(0)
	s.RestartPolicy, s.DNSPolicy, s.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, corev1.DefaultSchedulerName
	s.ServiceAccountName, s.DeprecatedServiceAccount, s.EnableServiceLinks, s.Priority = "app", "app", &links, &zero
	s.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &yes, FSGroup: &expires,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	s.PreemptionPolicy = new(corev1.PreemptLowerPriority)
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists,
			Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
	}
	token := "kube-api-access-" + name[len(name)-5:]
	s.Volumes = append(s.Volumes,
		corev1.Volume{Name: "config",
			VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{
				Name: "app-config"}, DefaultMode: &mode}}},
		corev1.Volume{Name: token, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: &mode,
			Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &expires, Path: "token"}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
					Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace",
					FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}},
			}}}})
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Scheme: "HTTP"}}, TimeoutSeconds: 1,
			PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3}
	}
	for i := range s.Containers {
		c := &s.Containers[i]
		c.Args, c.Ports = []string{"--config=/etc/app/config.yaml", "--port=8080"},
			[]corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}
		c.LivenessProbe, c.ReadinessProbe = probe("/healthz"), probe("/readyz")
		c.ImagePullPolicy, c.TerminationMessagePath, c.TerminationMessagePolicy = corev1.PullIfNotPresent, "/dev/termination-log",
			corev1.TerminationMessageReadFile
		c.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(bool),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/etc/app"},
			{Name: token, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}}
		c.Resources.Limits = c.Resources.Requests.DeepCopy()
	}
}

func realisticStatus(r *rand.Rand, i int, p *corev1.Pod) {
	yes, started, at := true, metav1.NewTime(epoch), metav1.NewTime(epoch.Add(time.Second))
	s := &p.Status
	s.StartTime, s.QOSClass, s.ObservedGeneration = &started, corev1.PodQOSGuaranteed, 1
	s.HostIP, s.PodIP = "192.168.1.7", realisticIP(i)
	s.HostIPs, s.PodIPs = []corev1.HostIP{{IP: s.HostIP}}, []corev1.PodIP{{IP: s.PodIP}}
	s.Conditions = nil
	for _, c := range []corev1.PodConditionType{"PodReadyToStartContainers", corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady,
		corev1.PodScheduled} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: c, Status: corev1.ConditionTrue, LastTransitionTime: at,
			ObservedGeneration: 1})
	}
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image,
			ImageID:     "registry.example.com/app@sha256:" + randomHex(r, 64),
			ContainerID: "containerd://" + randomHex(r, 64), Ready: true, Started: &yes,
			State:              corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
			AllocatedResources: c.Resources.Requests.DeepCopy(), Resources: c.Resources.DeepCopy(),
			VolumeMounts: []corev1.VolumeMountStatus{{Name: c.VolumeMounts[0].Name, MountPath: c.VolumeMounts[0].MountPath},
				{Name: c.VolumeMounts[1].Name, MountPath: c.VolumeMounts[1].MountPath, ReadOnly: true}}})
	}
}

func realisticNode(r *rand.Rand, i int, n *corev1.Node) {
	n.UID, n.ResourceVersion, n.CreationTimestamp, n.ManagedFields = realisticUID(r), fmt.Sprint(i), metav1.NewTime(epoch), managedFields()
	n.Status.Capacity = n.Status.Allocatable.DeepCopy()
	n.Status.Capacity["ephemeral-storage"] = resource.MustParse("100Gi")
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: realisticIP(i)},
		{Type: corev1.NodeHostName, Address: n.Name}}
	n.Status.NodeInfo = corev1.NodeSystemInfo{MachineID: randomHex(r, 32), BootID: randomHex(r, 32), KernelVersion: "6.12.0",
		OSImage: "Linux", ContainerRuntimeVersion: "containerd://2.1.0", KubeletVersion: "v1.37.1", OperatingSystem: "linux",
		Architecture: "amd64"}
	for k := range 30 {
		n.Status.Images = append(n.Status.Images,
			corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.com/image%02d@sha256:%064x", k, k),
				fmt.Sprintf("registry.example.com/image%02d:v1", k)}, SizeBytes: int64(k+1) << 24})
	}
}
