package annotation

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fingerprint returns the parts of a pod's metadata that decisions depend on: all labels, the
// annotations with requests, and the UID of its controller. Two pods with equal fingerprints
// have the same requests, the same PodDisruptionBudgets and the same controller.
func Fingerprint(p *corev1.Pod) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		b.WriteString(strconv.Quote(key) + strconv.Quote(p.Labels[key]))
	}
	b.WriteByte('\n')
	for _, key := range slices.Sorted(maps.Keys(p.Annotations)) {
		if strings.HasPrefix(key, Prefix) || slices.Contains(foreignKeys, key) {
			b.WriteString(strconv.Quote(key) + strconv.Quote(p.Annotations[key]))
		}
	}
	b.WriteByte('\n')
	if c := metav1.GetControllerOf(p); c != nil {
		b.WriteString(string(c.UID))
	}
	return b.String()
}
