package cluster

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

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

// SchedulingFields returns a copy of a container without the fields that do not influence where
// its pod can run.
func SchedulingFields(c *corev1.Container) corev1.Container {
	out := corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, Ports: c.Ports,
		RestartPolicy: c.RestartPolicy, RestartPolicyRules: c.RestartPolicyRules}
	for _, m := range c.VolumeMounts {
		if len(m.BindMountOptions) > 0 {
			out.VolumeMounts = append(out.VolumeMounts, corev1.VolumeMount{Name: m.Name, BindMountOptions: m.BindMountOptions})
		}
	}
	return out
}

// HasVolumeClaim reports whether a pod has a volume backed by a PersistentVolumeClaim, existing
// or generated.
func HasVolumeClaim(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}
