package target

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/plan"
)

// The kubelet pulls no image with imagePullPolicy Never, so the pod starts only where the image is. The kind are the
// images of all containers and of image volumes. A node that reports no image, or so many that the kubelet may have cut
// the list, is unknown and passes.
var images = Rule{Code: plan.OnlyRefusingNodes,
	Key: func(_ *Input, b []byte, p *cluster.Pod) []byte {
		eachNeverPulled(&p.Object.Spec, func(image string) { b = model.AppendLengthPrefixed(b, image) })
		return b
	},
	Pod: func(_ *Input, p *cluster.Pod, n *cluster.Node) (why string) {
		if have := n.Object.Status.Images; len(have) > 0 && len(have) < cutImages {
			eachNeverPulled(&p.Object.Spec, func(image string) {
				if why == "" && !slices.ContainsFunc(have, func(x corev1.ContainerImage) bool { return slices.ContainsFunc(x.Names, sameImage(image)) }) {
					why = fmt.Sprintf("without the image %s, and the pod has imagePullPolicy Never", image)
				}
			})
		}
		return why
	},
}

// cutImages is the number of images from which a list may be cut: the default of nodeStatusMaxImages.
const cutImages = 50

func eachNeverPulled(s *corev1.PodSpec, f func(image string)) {
	for _, list := range [...][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			if list[i].ImagePullPolicy == corev1.PullNever {
				f(list[i].Image)
			}
		}
	}
	for i := range s.Volumes {
		if v := s.Volumes[i].Image; v != nil && v.PullPolicy == corev1.PullNever {
			f(v.Reference)
		}
	}
}

// sameImage returns a function that reports whether a name in the status of a node is the image of a pod. The runtime
// writes names with their registry and tag.
func sameImage(image string) func(string) bool {
	if !strings.Contains(image[strings.LastIndex(image, "/")+1:], ":") && !strings.Contains(image, "@") {
		image += ":latest"
	}
	return func(name string) bool {
		return name == image || name == "docker.io/"+image || name == "docker.io/library/"+image
	}
}
