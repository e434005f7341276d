package scenario

import (
	"fmt"
	"slices"

	"k8s.io/client-go/kubernetes/scheme"
)

// kind describes the objects of a kind.
type kind struct {
	apiVersion string
	namespaced bool
	// schema is a pointer to a value of the Go type, for the strategic merge patch. If schema is nil,
	// an entry replaces whole fields.
	schema any
	// defaults contains the default fields in YAML, with NAME in place of the object's name.
	defaults string
}

// kindOf returns the description of a v1 kind of Kubernetes, of Usage, or of PlannerState. It returns
// an error for other names.
func kindOf(name string) (kind, error) {
	if name == "Usage" || name == "PlannerState" {
		return kind{apiVersion: "evenkeel.io/v1alpha1"}, nil
	}
	for _, version := range scheme.Scheme.PrioritizedVersionsAllGroups() {
		if schema, err := scheme.Scheme.New(version.WithKind(name)); err == nil && version.Version == "v1" {
			return kind{version.String(), !slices.Contains(clusterScoped, name), schema, defaults[name]}, nil
		}
	}
	return kind{}, fmt.Errorf("unknown kind %q", name)
}

var clusterScoped = []string{"Namespace", "Node", "PersistentVolume", "PriorityClass", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment", "RuntimeClass"}

var defaults = map[string]string{
	"Node": nodeDefaults, "Pod": podDefaults, "Job": jobDefaults,
	"Deployment": labelDefaults + workloadDefaults, "ReplicaSet": labelDefaults + workloadDefaults,
	"StatefulSet": workloadDefaults, "DaemonSet": workloadDefaults,
}

const (
	nodeDefaults = `
metadata:
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels: {kubernetes.io/hostname: NAME, kubernetes.io/os: linux}
status:
  allocatable: {cpu: "10", memory: 10Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
`
	podDefaults = `
metadata: {creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {terminationGracePeriodSeconds: 30, containers: [` + container + `]}
status: {phase: Running, startTime: "2026-01-01T00:00:00Z", conditions: [{type: Ready, status: "True"}]}
`
	labelDefaults    = "metadata: {labels: {app: NAME}}"
	workloadDefaults = `
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {terminationGracePeriodSeconds: 30, containers: [` + container + `]}
`
	jobDefaults = `
spec:
  template:
    spec: {terminationGracePeriodSeconds: 30, restartPolicy: Never, containers: [` + container + `]}
`
	container = `{name: c, image: "registry.k8s.io/pause:3.10"}`
)
