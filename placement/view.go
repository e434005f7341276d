package placement

import (
	"encoding/binary"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// view is what a pod spec makes of the nodes themselves: their readiness, taints
// and labels. Pods of one selector, node affinity, tolerations and profile (as
// far as that matters) share it, so
// that thousands of classes on thousands of nodes stay small. It is read-only.
type view struct {
	number     int    // tells it apart from others
	affinityOK []bool // node selector and required node affinity
	taintsOK   []bool // NoSchedule and NoExecute taints
	canRun     []bool // what CanRun says, by the profile's filters and added affinity
	fixed      fixedScores
	err        error // why it cannot be read
}

// viewOf returns the view of the pod's spec under a profile, building it on first
// use.
func (w *World) viewOf(pod *corev1.Pod, p *profile) *view {
	key := string(viewKey(appendText(nil, p.view), &pod.Spec))
	if v := w.views[key]; v != nil {
		return v
	}
	n := len(w.snap.Nodes)
	w.numbered++
	v := &view{number: w.numbered, affinityOK: make([]bool, n), taintsOK: make([]bool, n), canRun: make([]bool, n)}
	w.views[key] = v
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	for i := range w.snap.Nodes {
		node := &w.snap.Nodes[i]
		v.affinityOK[i] = affinityMatches(required, w.object(i))
		v.taintsOK[i] = tolerates(pod, node.Object)
		v.canRun[i] = w.refusedBySpec(pod, p, i, v.affinityOK[i], v.taintsOK[i]) == ""
	}
	v.fixed, v.err = w.fixedScores(pod, p.addedPreferred)
	return v
}

func viewKey(b []byte, spec *corev1.PodSpec) []byte {
	b = appendMap(b, spec.NodeSelector)
	b = binary.AppendVarint(b, int64(len(spec.Tolerations)))
	for i := range spec.Tolerations {
		b = appendMessage(b, &spec.Tolerations[i])
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		b = appendMessage(b, a.NodeAffinity)
	}
	return b
}
