package annotation

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Many projects pause a controller by an annotation with this name, under a prefix of their own:
// cluster.x-k8s.io/paused, crossplane.io/paused.
const pausedName = "/paused"

// clusterAPIPaused pauses with any value, even "false".
const clusterAPIPaused = "cluster.x-k8s.io/paused"

// readPaused adds the annotations that pause the controller of an owner. The pod itself has no controller.
func (r *Pod) readPaused(o object) {
	if _, isPod := o.meta.(*corev1.Pod); isPod {
		return
	}
	all := o.meta.GetAnnotations()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if strings.HasSuffix(key, pausedName) && (all[key] != "false" || key == clusterAPIPaused) {
			r.Paused = append(r.Paused, Source{o.name, key, all[key]}.truncated())
		}
	}
}
