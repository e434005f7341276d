package guard

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/resource"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// limitRangeRefusal follows the plugin LimitRanger. It applies the defaults of all LimitRanges in the order of their
// names; the plugin applies them in any order. Then it compares each container, and the sums of the pod, with every
// LimitRange. The API server also refuses a container whose request exceeds a default limit.
func limitRangeRefusal(a *admission, s *cluster.Snapshot, sub submission) string {
	ranges := a.limitRanges[sub.namespace]
	if len(ranges) == 0 {
		return ""
	}
	pod := &corev1.Pod{Spec: *sub.spec.DeepCopy()}
	var containers []*corev1.Container
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			containers = append(containers, &list[i])
		}
	}
	for _, c := range containers {
		c.Resources.Limits, c.Resources.Requests = withDefaults(c.Resources.Limits, nil), withDefaults(c.Resources.Requests, c.Resources.Limits)
		for _, l := range ranges {
			limits, requests := containerDefaults(l)
			c.Resources.Limits, c.Resources.Requests = withDefaults(c.Resources.Limits, limits), withDefaults(c.Resources.Requests, requests)
		}
	}
	for _, l := range ranges {
		for i := range l.Spec.Limits {
			switch item := &l.Spec.Limits[i]; item.Type {
			case corev1.LimitTypeContainer:
				for _, c := range containers {
					if why := outOfRange(item, c.Resources.Requests, c.Resources.Limits); why != "" {
						return fmt.Sprintf("LimitRange %s refuses container %s of %s: %s", l.Name, c.Name, sub.what, why)
					}
				}
			case corev1.LimitTypePod:
				opts := resource.PodResourcesOptions{ExcludeOverhead: true, SkipPodLevelResources: !s.Scheduler.PodLevelResources}
				if why := outOfRange(item, resource.PodRequests(pod, opts), resource.PodLimits(pod, opts)); why != "" {
					return fmt.Sprintf("LimitRange %s refuses %s: %s", l.Name, sub.what, why)
				}
			}
		}
	}
	for _, c := range containers {
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
			limit, request := c.Resources.Limits[name], c.Resources.Requests[name]
			if request.Cmp(limit) > 0 {
				return fmt.Sprintf("container %s of %s requests %s of %s, more than its limit %s, a default of a LimitRange",
					c.Name, sub.what, request.String(), name, limit.String())
			}
		}
	}
	return ""
}

// withDefaults returns the list with the defaults for the resources that it lacks. It changes the list unless it is
// nil.
func withDefaults(list, defaults corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		list = corev1.ResourceList{}
	}
	for name, q := range defaults {
		if _, given := list[name]; !given {
			list[name] = q
		}
	}
	return list
}

// containerDefaults returns the default limits and requests of a LimitRange. An API server stores derived defaults with
// the object: the default limit is max, and the default request is the default limit, otherwise min.
func containerDefaults(l *corev1.LimitRange) (limits, requests corev1.ResourceList) {
	limits, requests = corev1.ResourceList{}, corev1.ResourceList{}
	for i := range l.Spec.Limits {
		if item := &l.Spec.Limits[i]; item.Type == corev1.LimitTypeContainer {
			ofItem := withDefaults(maps.Clone(item.Default), item.Max)
			maps.Copy(limits, ofItem)
			maps.Copy(requests, withDefaults(withDefaults(maps.Clone(item.DefaultRequest), ofItem), item.Min))
		}
	}
	return limits, requests
}

// outOfRange returns why requests or limits are outside of an item of a LimitRange, or "".
func outOfRange(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) string {
	for _, name := range slices.Sorted(maps.Keys(item.Min)) {
		least, limit := item.Min[name], limits[name]
		request, requested := requests[name]
		_, limited := limits[name]
		switch {
		case !requested:
			return fmt.Sprintf("the least %s is %s, and no request is specified", name, least.String())
		case request.Cmp(least) < 0:
			return fmt.Sprintf("the least %s is %s, and the request is %s", name, least.String(), request.String())
		case limited && limit.Cmp(least) < 0:
			return fmt.Sprintf("the least %s is %s, and the limit is %s", name, least.String(), limit.String())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(item.Max)) {
		most, request := item.Max[name], requests[name]
		limit, limited := limits[name]
		switch {
		case !limited:
			return fmt.Sprintf("the most %s is %s, and no limit is specified", name, most.String())
		case limit.Cmp(most) > 0:
			return fmt.Sprintf("the most %s is %s, and the limit is %s", name, most.String(), limit.String())
		case request.Cmp(most) > 0:
			return fmt.Sprintf("the most %s is %s, and the request is %s", name, most.String(), request.String())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(item.MaxLimitRequestRatio)) {
		most, request, limit := item.MaxLimitRequestRatio[name], requests[name], limits[name]
		if request.IsZero() || limit.IsZero() || ratio(limit, request) > most.AsApproximateFloat64() {
			return fmt.Sprintf("the limit may be at most %s times the request of %s, and they are %s and %s",
				most.String(), name, limit.String(), request.String())
		}
	}
	return ""
}

func ratio(a, b resourceapi.Quantity) float64 {
	return a.AsApproximateFloat64() / b.AsApproximateFloat64()
}
