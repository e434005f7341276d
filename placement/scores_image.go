package placement

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Image sizes below and above these bytes (the latter per container) make no
// difference to ImageLocality.
const (
	minImageBytes = 23 << 20
	maxImageBytes = 1000 << 20
)

// imageState is one image name: its size and where it is.
type imageState struct {
	bytes int64
	nodes []bool
	count int64
}

func (w *World) indexImages() {
	w.images = map[string]imageState{}
	for i := range w.snap.Nodes {
		for _, img := range w.snap.Nodes[i].Object.Status.Images {
			for _, name := range img.Names {
				s, ok := w.images[name]
				if !ok {
					s = imageState{bytes: img.SizeBytes, nodes: make([]bool, len(w.snap.Nodes))}
				}
				if !s.nodes[i] {
					s.nodes[i] = true
					s.count++
				}
				w.images[name] = s
			}
		}
	}
}

// imageScores returns 0..100 by node: the bytes of the pod's images that are on
// it, each weighed by the share of nodes that have the image. It is nil when no
// node has any of them.
func (w *World) imageScores(pod *corev1.Pod) []int64 {
	var refs []string
	for i := range pod.Spec.InitContainers {
		refs = append(refs, pod.Spec.InitContainers[i].Image)
	}
	for i := range pod.Spec.Containers {
		refs = append(refs, pod.Spec.Containers[i].Image)
	}
	counted := len(refs)
	for i := range pod.Spec.Volumes {
		if v := pod.Spec.Volumes[i].Image; v != nil {
			refs = append(refs, v.Reference)
		}
	}
	if w.snap.ServerMinor >= 37 { // before, image volumes add to the sum, not to the number it is weighed by
		counted = len(refs)
	}
	sums := make([]int64, len(w.snap.Nodes))
	found := false
	for _, ref := range refs {
		s, ok := w.images[taggedImage(ref)]
		if !ok {
			continue
		}
		found = true
		share := float64(s.count) / float64(len(w.snap.Nodes))
		for n, has := range s.nodes {
			if has {
				sums[n] += int64(float64(s.bytes) * share)
			}
		}
	}
	if !found {
		return nil
	}
	most := maxImageBytes * int64(counted)
	for n, v := range sums {
		sums[n] = maxScore * (min(max(v, minImageBytes), most) - minImageBytes) / (most - minImageBytes)
	}
	return sums
}

// taggedImage adds the tag that an image reference without one means.
func taggedImage(ref string) string {
	if strings.LastIndex(ref, ":") <= strings.LastIndex(ref, "/") {
		return ref + ":latest"
	}
	return ref
}
