package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// An API server stores no object without a name, with a negative amount, or with an amount
// whose sums overflow. Such an object was written by hand or is damaged. The limits are far
// above the largest machines, which have a few dozen TiB of memory.
var (
	maxCPU      = resourceapi.MustParse("1M")
	maxQuantity = resourceapi.MustParse("1Pi")
)

// clusterScopedKinds are the kinds without a namespace.
var clusterScopedKinds = []string{"Namespace", "Node", "PriorityClass", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment", "NodeMetrics"}

// validateObject returns an error if no API server would store the object.
func validateObject(kind string, x object) error {
	if x.GetName() == "" {
		return errors.New("metadata.name is missing")
	}
	if x.GetNamespace() == "" && !slices.Contains(clusterScopedKinds, kind) {
		return errors.New("metadata.namespace is missing")
	}
	if n := specReplicas(x); n != nil && *n < 0 {
		return fmt.Errorf("%d replicas are fewer than none", *n)
	}
	if n, ok := x.(*corev1.Node); ok {
		return errors.Join(checkAmounts("status.capacity", n.Status.Capacity), checkAmounts("status.allocatable", n.Status.Allocatable))
	}
	if m, ok := x.(*metricsv1beta1.NodeMetrics); ok {
		return checkAmounts("usage", m.Usage)
	}
	for _, s := range podSpecsOf(x) {
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

// podSpecsOf leaves out the objects that podSpecs changes.
func podSpecsOf(x object) []*corev1.PodSpec {
	if _, ok := x.(*appsv1.ControllerRevision); ok {
		return nil
	}
	return podSpecs(x)
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
	if s.Resources != nil {
		if err := checkRequirements("resources", s.Resources); err != nil {
			return err
		}
	}
	return checkAmounts("overhead", s.Overhead)
}

func checkRequirements(at string, r *corev1.ResourceRequirements) error {
	return errors.Join(checkAmounts(at+".requests", r.Requests), checkAmounts(at+".limits", r.Limits))
}

func checkAmounts(at string, list corev1.ResourceList) error {
	for _, name := range sortedKeys(list) {
		q := list[name]
		limit := maxQuantity
		if name == corev1.ResourceCPU {
			limit = maxCPU
		}
		if q.Sign() < 0 {
			return fmt.Errorf("%s.%s: %s is less than nothing", at, name, q.String())
		}
		if q.Cmp(limit) > 0 {
			return fmt.Errorf("%s.%s: %s is more than any machine has", at, name, q.String())
		}
	}
	return nil
}

// plainDecodeError says in plain words, with the field, why an object could not be decoded.
func plainDecodeError(raw []byte, err error) error {
	var wrongType *json.UnmarshalTypeError
	var noTime *time.ParseError
	switch {
	case errors.As(err, &wrongType):
		found, isNumber := strings.CutPrefix(wrongType.Value, "number ")
		wanted := wantedType(wrongType.Type)
		if isNumber && wanted == "a whole number" { // the number has a fraction, or is too large
			wanted += " in range"
		}
		if word, ok := jsonTypeNames[found]; ok {
			found = word
		}
		if wanted == "a word" && (wrongType.Value == "bool" || wrongType.Value == "number") {
			wanted = "a word (in quotes)"
		}
		return errors.New(strings.TrimPrefix(wrongType.Field+": want "+wanted+", found "+found, ": "))
	case errors.As(err, &noTime):
		return fmt.Errorf("%s is not a time such as 2026-01-02T15:04:05Z", strconv.Quote(strings.Trim(noTime.Value, `"`)))
	case errors.Is(err, resourceapi.ErrFormatWrong), errors.Is(err, resourceapi.ErrNumeric), errors.Is(err, resourceapi.ErrSuffix):
		var x any
		if json.Unmarshal(raw, &x) == nil {
			if at, text, ok := findBadQuantity(x, ""); ok {
				return fmt.Errorf("%s: %q is not an amount (want a number, or one with a unit, such as 500m, 2 or 4Gi)", at, text)
			}
		}
	}
	return err
}

var jsonTypeNames = map[string]string{"array": "a list", "object": "keys and values", "bool": "true or false", "number": "a number", "string": "a word"}

func wantedType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "keys and values"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a word"
	case reflect.Pointer:
		return wantedType(t.Elem())
	}
	return "a whole number"
}

// quantityFields are the fields that map resource names to quantities.
var quantityFields = []string{"requests", "limits", "capacity", "allocatable", "overhead", "usage"}

// findBadQuantity returns the path and text of the first quantity that cannot be parsed.
func findBadQuantity(x any, path string) (at, text string, found bool) {
	switch x := x.(type) {
	case map[string]any:
		isAmounts := slices.Contains(quantityFields, path[strings.LastIndex(path, ".")+1:])
		for _, key := range sortedKeys(x) {
			below := strings.TrimPrefix(path+"."+key, ".")
			if s, ok := x[key].(string); ok && isAmounts {
				if _, err := resourceapi.ParseQuantity(s); err != nil {
					return below, s, true
				}
			}
			if at, text, found = findBadQuantity(x[key], below); found {
				return at, text, true
			}
		}
	case []any:
		for i := range x {
			if at, text, found = findBadQuantity(x[i], fmt.Sprintf("%s[%d]", path, i)); found {
				return at, text, true
			}
		}
	}
	return "", "", false
}
