// Package v1alpha1 contains the Kubernetes objects of the API group evenkeel.io.
//
// The controller writes only the status of an object, and people write the rest. The package decides the form and the
// bounds of the objects. It never reads or writes them. Numbers are integers, per mille (1000 is the whole) or
// quantities, because a float does not survive every encoder.
//
// +groupName=evenkeel.io
// +versionName=v1alpha1
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the objects.
var GroupVersion = schema.GroupVersion{Group: "evenkeel.io", Version: "v1alpha1"}

// AddToScheme adds the objects to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &RebalancePlan{}, &RebalancePlanList{}, &Rebalancer{}, &RebalancerList{},
		&RebalanceRun{}, &RebalanceRunList{}, &RebalanceHistory{}, &RebalanceHistoryList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
