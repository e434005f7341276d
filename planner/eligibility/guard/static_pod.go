package guard

import "github.com/evenkeel-project/evenkeel/plan"

// configSource is the annotation in which the kubelet stores the pod's source: api, file or http.
const configSource = "kubernetes.io/config.source"

// The kubelet reads a static pod from a file or a URL, never from the API.
var staticPod = Rule{plan.StaticPod, PodScope, func(in Input) (string, bool) {
	source, known := in.Pod.Object.Annotations[configSource]
	ownedByNode := in.Pod.Controller != nil && in.Pod.Controller.Kind == "Node"
	return "a static pod cannot move: it belongs to its node", ownedByNode || known && source != "api"
}}
