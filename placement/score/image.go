package score

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/bytekey"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
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
		key = bytekey.AppendString(key, ref)
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
	for _, list := range [...][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			refs = append(refs, list[i].Image)
		}
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
	var sums []int64
	for _, ref := range refs {
		s, ok := w.images[withDefaultTag(ref)]
		if !ok {
			continue
		}
		if sums == nil {
			sums = make([]int64, len(w.snap.Nodes))
		}
		share := float64(len(s.nodes)) / float64(len(w.snap.Nodes))
		for _, n := range s.nodes {
			sums[n] += int64(float64(s.bytes) * share)
		}
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

// HintTaints contains the taint that a hint puts on a node.
var HintTaints = []corev1.Taint{hints.NewTaint()}

// NewStaticScores computes the scores that no other pod changes. The terms `added` are the
// preferred node affinity of the profile.
func NewStaticScores(w *model.Cluster, pod *corev1.Pod, added *nodeaffinity.PreferredSchedulingTerms) (cycle.StaticScores, error) {
	f := cycle.StaticScores{PreferNoSchedule: make([]int64, len(w.Snap.Nodes)), HintTaint: CountUntolerated(HintTaints, pod.Spec.Tolerations)}
	for i := range w.Snap.Nodes {
		f.PreferNoSchedule[i] = CountUntolerated(w.Snap.Nodes[i].Object.Spec.Taints, pod.Spec.Tolerations)
	}
	prefer := func(terms *nodeaffinity.PreferredSchedulingTerms) {
		if f.Preferred == nil {
			f.Preferred = make([]int64, len(w.Snap.Nodes))
		}
		for i := range w.Snap.Nodes {
			f.Preferred[i] += terms.Score(w.NodeObject(i))
		}
	}
	if added != nil {
		prefer(added)
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return f, nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return f, fmt.Errorf("reading the preferred node affinity: %w", err)
	}
	prefer(terms)
	return f, nil
}

// CountUntolerated counts the PreferNoSchedule taints that the tolerations do not cover.
func CountUntolerated(taints []corev1.Taint, tolerations []corev1.Toleration) int64 {
	var count int64
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectPreferNoSchedule &&
			!schedulinghelper.TolerationsTolerateTaint(logr.Discard(), tolerations, &taints[i], scheduler.ComparisonOperators) {
			count++
		}
	}
	return count
}
