package guard

import "github.com/evenkeel-project/evenkeel/plan"

// configSource is where the kubelet read a pod from: api, file or http.
const configSource = "kubernetes.io/config.source"

// A static pod comes from a file or URL of its node, never from the API.
var staticPod = Rule{plan.StaticPod, podScope, func(in Input) (string, bool) {
	src, known := in.Pod.Object.Annotations[configSource]
	byNode := in.Pod.Controller != nil && in.Pod.Controller.Kind == "Node"
	return "a static pod belongs to its node and cannot move", byNode || known && src != "api"
}}
