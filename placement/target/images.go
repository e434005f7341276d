package target

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/bytekey"
	"github.com/evenkeel-project/evenkeel/plan"
)

// The kubelet pulls no image with imagePullPolicy Never, so the pod starts only where the image is. The kind are the
// images of all containers and of image volumes. A node that reports no image, or so many that the kubelet may have cut
// the list, is unknown and passes. If the node of a Ready pod does not list an image, nodes know it under another name,
// so it is unknown where it is.
var images = Rule{Code: plan.OnlyRefusingNodes,
	Key: func(in *Input, b []byte, p *cluster.Pod) []byte {
		in.eachNeverPulled(p, func(image string) { b = bytekey.AppendString(b, image) })
		return b
	},
	Pod: func(in *Input, p *cluster.Pod, n *cluster.Node) (why string) {
		in.eachNeverPulled(p, func(image string) {
			if why == "" && lacksImage(n, image) {
				why = fmt.Sprintf("without the image %s, and the pod has imagePullPolicy Never", image)
			}
		})
		return why
	},
}

// cutImages is the number of images from which a list may be cut: the default of nodeStatusMaxImages.
const cutImages = 50

// eachNeverPulled calls f for each image of the pod that has imagePullPolicy Never, if nodes list the image under the
// name that the pod uses.
func (in *Input) eachNeverPulled(p *cluster.Pod, f func(image string)) {
	of := func(image string, policy corev1.PullPolicy) {
		if policy == corev1.PullNever && (!p.Ready || p.Node == cluster.NoNode || !lacksImage(&in.Snapshot.Nodes[p.Node], image)) {
			f(image)
		}
	}
	s := &p.Object.Spec
	for _, list := range [...][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			of(list[i].Image, list[i].ImagePullPolicy)
		}
	}
	for i := range s.Volumes {
		if v := s.Volumes[i].Image; v != nil {
			of(v.Reference, v.PullPolicy)
		}
	}
}

// lacksImage reports whether the node reports all its images, and this one is not among them. The runtime writes names
// with their registry, and with a tag or a digest.
func lacksImage(n *cluster.Node, image string) bool {
	have := n.Object.Status.Images
	if len(have) == 0 || len(have) >= cutImages {
		return false
	}
	repository, digest, byDigest := strings.Cut(image, "@")
	name := strings.LastIndex(repository, "/") + 1
	switch untagged, _, tagged := strings.Cut(repository[name:], ":"); {
	case byDigest: // a tag besides it has no effect
		image = repository[:name] + untagged + "@" + digest
	case !tagged:
		image += ":latest"
	}
	return !slices.ContainsFunc(have, func(x corev1.ContainerImage) bool {
		return slices.ContainsFunc(x.Names, func(name string) bool {
			return name == image || name == "docker.io/"+image || name == "docker.io/library/"+image
		})
	})
}
