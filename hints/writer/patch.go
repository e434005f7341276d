package writer

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// mergePatch returns a JSON merge patch for the labels, annotations and taints that differ. The
// patch contains the resourceVersion that was read, so that the API server answers with a conflict
// if the node has changed since. The patch replaces the list of taints as a whole, and omits
// unchanged taints.
func mergePatch(was, now *corev1.Node) ([]byte, error) {
	meta := map[string]any{"resourceVersion": was.ResourceVersion}
	for field, diff := range map[string]map[string]any{
		"annotations": diffMap(was.Annotations, now.Annotations),
		"labels":      diffMap(was.Labels, now.Labels),
	} {
		if len(diff) > 0 {
			meta[field] = diff
		}
	}
	doc := map[string]any{"metadata": meta}
	if !slices.EqualFunc(was.Spec.Taints, now.Spec.Taints, func(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }) {
		doc["spec"] = map[string]any{"taints": now.Spec.Taints}
	}
	return json.Marshal(doc)
}

// diffMap returns the keys to set, and the keys to remove with a nil value.
func diffMap(was, now map[string]string) map[string]any {
	diff := map[string]any{}
	for key := range was {
		if _, stays := now[key]; !stays {
			diff[key] = nil
		}
	}
	for key, value := range now {
		if old, stood := was[key]; !stood || old != value {
			diff[key] = value
		}
	}
	return diff
}
