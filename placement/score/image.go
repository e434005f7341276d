package score

import (
	"encoding/binary"
	"maps"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
)

// ImageLocality treats smaller images as minImageBytes, and larger images as maxImageBytes per
// container.
const (
	minImageBytes = 23 << 20
	maxImageBytes = 1000 << 20
)

// Scores returns 0..100 by node. Pods with the same images share the slice, so it is read-only.
func (w *ImageIndex) Scores(pod *corev1.Pod) []int8 {
	refs, counted := imageRefs(&w.snap.Scheduler, pod)
	key := binary.AppendVarint(nil, int64(counted))
	for _, ref := range refs {
		key = model.AppendLengthPrefixed(key, ref)
	}
	scores, ok := w.scoreCache[string(key)]
	if !ok {
		scores = w.scoreRefs(refs, counted)
		w.scoreCache[string(key)] = scores
	}
	return scores
}

// imageRefs lists the images of a pod that count. The number `counted` scales the maximum of the
// score.
func imageRefs(features *kubeversion.Features, pod *corev1.Pod) (refs []string, counted int) {
	for i := range pod.Spec.InitContainers {
		refs = append(refs, pod.Spec.InitContainers[i].Image)
	}
	for i := range pod.Spec.Containers {
		refs = append(refs, pod.Spec.Containers[i].Image)
	}
	counted = len(refs)
	if !features.ImageVolumesScored {
		return refs, counted
	}
	for i := range pod.Spec.Volumes {
		if v := pod.Spec.Volumes[i].Image; v != nil {
			refs = append(refs, v.Reference)
		}
	}
	if features.ImageVolumesCounted {
		counted = len(refs)
	}
	return refs, counted
}

// scoreRefs scores the bytes of the images on a node, each weighted by the share of nodes that have
// the image. The result is nil if every node scores 0.
func (w *ImageIndex) scoreRefs(refs []string, counted int) []int8 {
	sums := make([]int64, len(w.snap.Nodes))
	found := false
	for _, ref := range refs {
		s, ok := w.images[withDefaultTag(ref)]
		if !ok {
			continue
		}
		found = true
		share := float64(len(s.nodes)) / float64(len(w.snap.Nodes))
		for _, n := range s.nodes {
			sums[n] += int64(float64(s.bytes) * share)
		}
	}
	if !found {
		return nil
	}
	most := maxImageBytes * int64(counted)
	out, best := make([]int8, len(sums)), int8(0)
	for n, v := range sums {
		out[n] = int8(scheduler.MaxScore * (min(max(v, minImageBytes), most) - minImageBytes) / (most - minImageBytes))
		best = max(best, out[n])
	}
	if best == 0 {
		return nil
	}
	return out
}

func withDefaultTag(ref string) string {
	if strings.LastIndex(ref, ":") <= strings.LastIndex(ref, "/") {
		return ref + ":latest"
	}
	return ref
}

// imageNodes holds the size of an image and the nodes that have the image. Most images are on few
// nodes, so a list of nodes needs less memory than an entry per node and image.
type imageNodes struct {
	bytes int64
	nodes []cluster.NodeID // in order
}

// ImageIndex indexes the nodes by image, and caches the scores of each list of images.
type ImageIndex struct {
	snap       *cluster.Snapshot
	images     map[string]*imageNodes
	scoreCache map[string][]int8 // by list of images; by node, 0..100
}

// NewImageIndex reads the images of every node.
func NewImageIndex(s *cluster.Snapshot) *ImageIndex {
	w := &ImageIndex{snap: s, images: map[string]*imageNodes{}, scoreCache: map[string][]int8{}}
	for i := range w.snap.Nodes {
		for _, img := range w.snap.Nodes[i].Object.Status.Images {
			for _, name := range img.Names {
				s := w.images[name]
				if s == nil {
					s = &imageNodes{bytes: img.SizeBytes}
					w.images[name] = s
				}
				if n := len(s.nodes); n == 0 || s.nodes[n-1] != cluster.NodeID(i) { // it may be named twice
					s.nodes = append(s.nodes, cluster.NodeID(i))
				}
			}
		}
	}
	return w
}

// Clone returns a copy that shares the index and has its own score cache.
func (w *ImageIndex) Clone() *ImageIndex {
	c := *w
	c.scoreCache = maps.Clone(w.scoreCache)
	return &c
}
