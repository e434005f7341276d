// Package redaction removes every field of a Kubernetes object that is not in its list of kept fields. The list has the
// fields that decisions read. It does not decide what the values of kept fields may contain.
package redaction

import (
	"maps"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Keep sets every field that is not kept to its zero value, and deletes the annotations that are not kept. x is a
// pointer.
func Keep(x any, keepsAnnotation func(key string) bool) {
	annotationFilter(keepsAnnotation).keep(reflect.ValueOf(x))
}

// annotationFilter reports whether an annotation is kept.
type annotationFilter func(key string) bool

func (k annotationFilter) keep(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			k.keep(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			k.keep(v.Index(i))
		}
	case reflect.Struct:
		k.keepFields(v)
	}
}

// keepFields keeps the fields that the list names for the type, and nothing of a type that is not listed. A pointer
// to such a value stays, because decisions may depend on whether it is set.
func (k annotationFilter) keepFields(v reflect.Value) {
	if m, ok := v.Addr().Interface().(*metav1.ObjectMeta); ok {
		maps.DeleteFunc(m.Annotations, func(key, _ string) bool { return !k(key) })
	}
	kept, listed := keptFields[v.Type()]
	switch {
	case !listed:
		v.SetZero()
	case kept == all:
	default:
		names := " " + kept + " "
		for i := range v.NumField() {
			if kept == each || strings.Contains(names, " "+v.Type().Field(i).Name+" ") {
				k.keep(v.Field(i))
			} else {
				v.Field(i).SetZero()
			}
		}
	}
}
