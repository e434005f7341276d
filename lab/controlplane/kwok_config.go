package controlplane

import (
	_ "embed"
)

//go:embed usage.yaml
var usage []byte

// The annotations that set the resource usage of a pod, as quantities. An annotation applies to every container of the
// pod and can change at any time. The default is 1m and 1Mi per container.
const (
	UsageCPU    = "kwok.x-k8s.io/usage-cpu"
	UsageMemory = "kwok.x-k8s.io/usage-memory"
)

//go:embed stages.yaml
var stages []byte

// NodeAnnotation marks the nodes that kwok manages.
const NodeAnnotation = "kwok.x-k8s.io/node"
