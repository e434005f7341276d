package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster/redaction"
)

// keptAnnotationPrefixes lists the prefixes of annotations that decisions may depend on.
var keptAnnotationPrefixes = []string{"evenkeel.io/", "descheduler.alpha.kubernetes.io/", "cluster-autoscaler.kubernetes.io/",
	"karpenter.sh/", "controller.kubernetes.io/", "batch.kubernetes.io/", "kubernetes.io/config.", "deployment.kubernetes.io/",
	"scheduler.alpha.kubernetes.io/", "pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/",
	"storageclass.kubernetes.io/", corev1.MigratedPluginsAnnotationKey, "kueue.x-k8s.io/", "scheduling.k8s.io/",
	"scheduling.volcano.sh/", "volcano.sh/job-name", corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix,
	"seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/",
	"weave.works/kured-reboot-in-progress", "machineconfiguration.openshift.io/desiredDrain", "scheduling.x-k8s.io/", "pod-group.scheduling.sigs.k8s.io", "leaderworkerset.sigs.k8s.io/name", "jobset.sigs.k8s.io/jobset-name"}

// Redact returns copies with the fields and annotations that decisions read (package redaction), and nothing else, such
// as environment variables, commands and addresses. It replaces image names by hashes, and keeps only the names of
// deschedulers (IsDescheduler). It keeps names and labels of objects, because decisions depend on
// them. The redacted snapshot results in the same plan.
func Redact(o *Objects) *Objects {
	out := &Objects{StoppedAt: o.StoppedAt, TakenAt: o.TakenAt, ServerVersion: o.ServerVersion, ClusterUID: o.ClusterUID, Usage: redactUsage(o.Usage),
		PlannerState: o.PlannerState, PlannerStateError: o.PlannerStateError, UnreadVersions: o.UnreadVersions,
		Unread: o.Unread, Listed: o.Listed, Redacted: true}
	for _, k := range kinds {
		for x := range k.all(o) {
			c := x.DeepCopyObject().(object)
			redactObject(c)
			k.add(out, c)
		}
	}
	return out
}

// redactUsage removes the details of problems, because they may contain addresses.
func redactUsage(u *Usage) *Usage {
	if u == nil {
		return nil
	}
	out := *u
	out.Problems = nil
	for _, p := range u.Problems {
		summary, _, found := strings.Cut(p, ": ")
		if found {
			summary += " (redacted)"
		}
		if !slices.Contains(out.Problems, summary) {
			out.Problems = append(out.Problems, summary)
		}
	}
	return &out
}

func redactObject(x object) {
	switch o := x.(type) {
	case *corev1.Event:
		*o = *EventFields(o)
	case *corev1.Pod:
		redactStatus(&o.Status)
	case *corev1.Node:
		for i := range o.Status.Images {
			for j, name := range o.Status.Images[i].Names {
				o.Status.Images[i].Names[j] = hashImage(name)
			}
		}
	}
	for _, spec := range PodSpecs(x) {
		redactSpec(spec)
	}
	redaction.Keep(x, IsDecisionAnnotation)
}

// IsDecisionAnnotation reports whether a decision may depend on the annotation.
func IsDecisionAnnotation(key string) bool {
	return strings.HasSuffix(key, "/paused") || slices.ContainsFunc(keptAnnotationPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

func redactSpec(s *corev1.PodSpec) {
	if c := s.SecurityContext; c != nil {
		redactSELinux(c.SELinuxOptions)
	}
	for _, list := range [][]corev1.Container{s.Containers, s.InitContainers} {
		for i := range list {
			list[i] = SchedulingFields(&list[i])
			redactContainer(&list[i])
		}
	}
	for i := range s.Volumes {
		if v := s.Volumes[i].Image; v != nil {
			v.Reference = hashImage(v.Reference)
		}
		if v := s.Volumes[i].RBD; v != nil {
			for j, address := range v.CephMonitors {
				v.CephMonitors[j] = hashImage(address)
			}
		}
	}
}

// redactContainer hides names and addresses. For decisions, it matters only whether they are set.
func redactContainer(c *corev1.Container) {
	c.Image = hashImage(c.Image)
	if c.SecurityContext != nil {
		redactSELinux(c.SecurityContext.SELinuxOptions)
	}
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if p != nil {
			redactHosts(p.HTTPGet, p.TCPSocket)
		}
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				redactHosts(h.HTTPGet, h.TCPSocket)
			}
		}
	}
}

// redacted replaces a text if decisions only depend on whether the text is set.
const redacted = "redacted"

func redactHosts(get *corev1.HTTPGetAction, socket *corev1.TCPSocketAction) {
	if get != nil {
		get.Host = redacted
	}
	if socket != nil {
		socket.Host = redacted
	}
}

func redactSELinux(o *corev1.SELinuxOptions) {
	if o == nil {
		return
	}
	for _, field := range []*string{&o.User, &o.Role} {
		if *field != "" {
			*field = redacted
		}
	}
}

func redactStatus(s *corev1.PodStatus) {
	for _, list := range [][]corev1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			list[i] = StatusFields(&list[i], s.Phase)
		}
	}
}

// hashImage replaces an image name with a hash. An empty name stays empty.
func hashImage(image string) string {
	if image == "" {
		return ""
	}
	if strings.LastIndex(image, ":") <= strings.LastIndex(image, "/") {
		image += ":latest" // the tag that Kubernetes assumes
	}
	sum := sha256.Sum256([]byte(image))
	hash := hex.EncodeToString(sum[:8])
	if name := ImageName(image); IsDescheduler(name) {
		return "redacted/" + hash + "/" + name + ":latest"
	}
	return "redacted/" + hash + ":latest"
}

// ImageName returns the last part of an image name without tag and digest: descheduler for
// registry.k8s.io/descheduler/descheduler:v0.36.0.
func ImageName(image string) string {
	name, _, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], "@")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// IsDescheduler reports whether a program of this name evicts pods to move them, such as descheduler,
// koord-descheduler and ose-descheduler. Plans name such programs.
func IsDescheduler(program string) bool {
	return program == "descheduler" || strings.HasSuffix(program, "-descheduler")
}

// PodSpecs returns the spec of a pod, or the pod spec in the template of a workload. It returns nil
// for other objects.
func PodSpecs(x any) []*corev1.PodSpec {
	switch o := x.(type) {
	case *corev1.Pod:
		return []*corev1.PodSpec{&o.Spec}
	case *corev1.ReplicationController:
		if o.Spec.Template != nil {
			return []*corev1.PodSpec{&o.Spec.Template.Spec}
		}
	case *appsv1.Deployment:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *appsv1.ReplicaSet:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *appsv1.StatefulSet:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *appsv1.DaemonSet:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *batchv1.Job:
		return []*corev1.PodSpec{&o.Spec.Template.Spec}
	case *batchv1.CronJob:
		return []*corev1.PodSpec{&o.Spec.JobTemplate.Spec.Template.Spec}
	}
	return nil
}

// SchedulingFields returns a copy of a container without the fields that influence neither where its pod can run, nor
// whether the API server accepts it.
func SchedulingFields(c *corev1.Container) corev1.Container {
	out := corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, Ports: c.Ports, SecurityContext: c.SecurityContext,
		LivenessProbe: probeHosts(c.LivenessProbe), ReadinessProbe: probeHosts(c.ReadinessProbe), StartupProbe: probeHosts(c.StartupProbe),
		RestartPolicy: c.RestartPolicy, RestartPolicyRules: c.RestartPolicyRules}
	if l := c.Lifecycle; l != nil {
		start, stop := handlerHosts(l.PostStart), handlerHosts(l.PreStop)
		if start != nil || stop != nil {
			out.Lifecycle = &corev1.Lifecycle{PostStart: start, PreStop: stop}
		}
	}
	for _, m := range c.VolumeMounts {
		if len(m.BindMountOptions) > 0 {
			out.VolumeMounts = append(out.VolumeMounts, corev1.VolumeMount{Name: m.Name, BindMountOptions: m.BindMountOptions})
		}
	}
	return out
}

// probeHosts returns the hosts of a probe, which Pod Security reads, or nil.
func probeHosts(p *corev1.Probe) *corev1.Probe {
	if p == nil {
		return nil
	}
	if h := handlerHosts(&corev1.LifecycleHandler{HTTPGet: p.HTTPGet, TCPSocket: p.TCPSocket}); h != nil {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: h.HTTPGet, TCPSocket: h.TCPSocket}}
	}
	return nil
}

func handlerHosts(h *corev1.LifecycleHandler) *corev1.LifecycleHandler {
	out := &corev1.LifecycleHandler{}
	if h != nil && h.HTTPGet != nil && h.HTTPGet.Host != "" {
		out.HTTPGet = &corev1.HTTPGetAction{Host: h.HTTPGet.Host}
	}
	if h != nil && h.TCPSocket != nil && h.TCPSocket.Host != "" {
		out.TCPSocket = &corev1.TCPSocketAction{Host: h.TCPSocket.Host}
	}
	if *out == (corev1.LifecycleHandler{}) {
		return nil
	}
	return out
}

// StatusFields returns a copy of a container status with the fields that decisions read: the restarts, the reasons and
// exit code of the current state, and the resources during an in-place resize. If the pod has failed, it also has the
// time when the container ended. Other pods lack it, so that the statuses of their init containers are equal.
func StatusFields(c *corev1.ContainerStatus, phase corev1.PodPhase) corev1.ContainerStatus {
	out := corev1.ContainerStatus{Name: c.Name, Ready: c.Ready, RestartCount: c.RestartCount, Resources: c.Resources,
		AllocatedResources: c.AllocatedResources}
	if w := c.State.Waiting; w != nil {
		out.State.Waiting = &corev1.ContainerStateWaiting{Reason: w.Reason}
	}
	if t := c.State.Terminated; t != nil {
		out.State.Terminated = &corev1.ContainerStateTerminated{Reason: t.Reason, ExitCode: t.ExitCode}
		if phase == corev1.PodFailed {
			out.State.Terminated.FinishedAt = t.FinishedAt
		}
	}
	return out
}

// IsStartupCondition reports whether a condition says that the pod has passed a step of its start. No decision reads
// such a condition: every running pod has the same three. While the step is not passed, decisions may read the
// condition. They may also read a condition with a reason, such as PodCompleted of a pod that has succeeded.
func IsStartupCondition(c *corev1.PodCondition) bool {
	return IsStartupConditionType(c.Type) && c.Status == corev1.ConditionTrue && c.Reason == ""
}

// IsStartupConditionType reports whether conditions of the type describe a step of the pod's start.
func IsStartupConditionType(t corev1.PodConditionType) bool {
	return t == corev1.PodReadyToStartContainers || t == corev1.PodInitialized || t == corev1.ContainersReady
}

// HasVolumeClaim reports whether a pod has a volume backed by a PersistentVolumeClaim, existing
// or generated.
func HasVolumeClaim(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}
