package cluster

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// podSpecs finds the pod specs inside an object.
func podSpecs(x object) []*corev1.PodSpec {
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
	case *appsv1.ControllerRevision:
		o.Data.Raw = nil // a whole pod template; nothing reads it yet
	}
	return nil
}

// PodSpecs finds the pod specs inside a native object: a pod's own, or that of
// the template.
func PodSpecs(x any) []*corev1.PodSpec {
	if o, ok := x.(object); ok {
		return podSpecsOf(o)
	}
	return nil
}

// SchedulingFields returns what of a container has a say in where its pod goes:
// image, resources, ports, and what it asks of the features of nodes.
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

// HasVolumeClaim reports whether a pod has a volume of a PersistentVolumeClaim, its own or one
// that is made for it.
func HasVolumeClaim(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}
