package controlplane

import _ "embed"

//go:embed usage.yaml
var usage []byte

// What a pod uses stands in its annotations, as quantities, and may be changed at any
// time. It counts for each of its containers; without them they use 1m and 1Mi.
const (
	UsageCPU    = "kwok.x-k8s.io/usage-cpu"
	UsageMemory = "kwok.x-k8s.io/usage-memory"
)
