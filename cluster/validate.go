package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// clusterScopedKinds lists the kinds whose objects have no namespace.
var clusterScopedKinds = []string{"Namespace", "Node", "PriorityClass", "PersistentVolume", "StorageClass", "CSINode",
	"CSIDriver", "VolumeAttachment", "RuntimeClass", "NodeMetrics"}

// validateObject returns an error if an API server would reject the object. Users may pass objects
// that were written by hand or are damaged.
func validateObject(kind string, x object) error {
	if x.GetName() == "" {
		return errors.New("metadata.name is missing")
	}
	if x.GetNamespace() == "" && !slices.Contains(clusterScopedKinds, kind) {
		return errors.New("metadata.namespace is missing")
	}
	if n := specReplicas(x); n != nil && *n < 0 {
		return fmt.Errorf("%d replicas: the number is negative", *n)
	}
	if n, ok := x.(*corev1.Node); ok {
		return errors.Join(checkAmounts("status.capacity", n.Status.Capacity), checkAmounts("status.allocatable", n.Status.Allocatable))
	}
	if m, ok := x.(*metricsv1beta1.NodeMetrics); ok {
		return checkAmounts("usage", m.Usage)
	}
	if m, ok := x.(*metricsv1beta1.PodMetrics); ok {
		for i := range m.Containers {
			if err := checkAmounts(fmt.Sprintf("containers[%d].usage", i), m.Containers[i].Usage); err != nil {
				return err
			}
		}
	}
	for _, s := range PodSpecs(x) {
		if err := checkPodAmounts(s); err != nil {
			return err
		}
	}
	return nil
}

func specReplicas(x object) *int32 {
	switch o := x.(type) {
	case *appsv1.Deployment:
		return o.Spec.Replicas
	case *appsv1.ReplicaSet:
		return o.Spec.Replicas
	case *appsv1.StatefulSet:
		return o.Spec.Replicas
	case *corev1.ReplicationController:
		return o.Spec.Replicas
	case *batchv1.Job:
		return o.Spec.Parallelism
	}
	return nil
}

func checkPodAmounts(s *corev1.PodSpec) error {
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"containers", s.Containers}, {"initContainers", s.InitContainers}} {
		for i := range list.containers {
			at := fmt.Sprintf("%s[%d].resources", list.name, i)
			if err := checkRequirements(at, &list.containers[i].Resources); err != nil {
				return err
			}
		}
	}
	return errors.Join(checkRequirements("resources", cmp.Or(s.Resources, &corev1.ResourceRequirements{})),
		checkAmounts("overhead", s.Overhead))
}

func checkRequirements(at string, r *corev1.ResourceRequirements) error {
	return errors.Join(checkAmounts(at+".requests", r.Requests), checkAmounts(at+".limits", r.Limits))
}

// checkAmounts refuses negative amounts. An amount that no machine has is valid, as it is for the API server: MilliCPU
// and boundedValue bound it.
func checkAmounts(at string, list corev1.ResourceList) error {
	for _, name := range sortedKeys(list) {
		if q := list[name]; q.Sign() < 0 {
			return fmt.Errorf("%s.%s: %s is negative", at, name, q.String())
		}
	}
	return nil
}
