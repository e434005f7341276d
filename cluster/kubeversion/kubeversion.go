// Package kubeversion says how kube-scheduler's decisions differ between minor versions. It knows
// the default feature gates and plugins of each version. It reads no cluster and decides nothing.
//
// docs/compatibility.md describes the same differences for people.
package kubeversion

// Oldest and Newest are the first and the last minor version of Kubernetes 1 whose scheduler is
// known.
const (
	Oldest = 33
	Newest = 37
)

// Features says what the scheduler of one minor version does. Each field names the plugin or
// computation that reads it. Everything that Features does not list is equal in all known versions.
type Features struct {
	// BalancedByGain is true if NodeResourcesBalancedAllocation scores the change that the pod makes
	// to the balance of a node. Otherwise the plugin scores the balance that includes the pod.
	BalancedByGain bool
	// ImageVolumesScored is true if ImageLocality counts the bytes of image volumes.
	ImageVolumesScored bool
	// ImageVolumesCounted is true if ImageLocality counts image volumes like containers in the number
	// that scales its score.
	ImageVolumesCounted bool
	// DeclaredFeatures is true if the filter NodeDeclaredFeatures is enabled by default.
	DeclaredFeatures bool
	// BindMountOptions is true if NodeDeclaredFeatures knows VolumeBindMountOptions.
	BindMountOptions bool
	// PodLevelResources is true if spec.resources of a pod counts. Otherwise only the requests of
	// its containers count.
	PodLevelResources bool
	// PodLevelStatuses is true if the pod-level resources of a pod's status count.
	PodLevelStatuses bool
	// ResizeByPod is true if the requests of a pod that is being resized are the maximum of three
	// sums over its containers: specified, allocated and actual requests. Otherwise they are the sum
	// of the maximum of each container.
	ResizeByPod bool
	// StorageCapacityScored is true if VolumeBinding scores free storage.
	StorageCapacityScored bool
	// MissingDriversReject is true if NodeVolumeLimits rejects a node that lacks a required CSI
	// driver.
	MissingDriversReject bool
	// PortworxAnnotated is true if NodeVolumeLimits counts in-tree Portworx volumes only on nodes
	// whose CSINode is annotated with the migration of Portworx.
	PortworxAnnotated bool
	// VolumeAttributesClass is true if VolumeBinding compares the VolumeAttributesClass of claims and
	// volumes. Otherwise it binds neither a claim nor a volume that names one.
	VolumeAttributesClass bool
	// UncertainNamespaceSelectors is true if patch releases differ: some also apply the
	// namespaceSelector of a new pod's affinity term to an empty label set. A selector that matches
	// the empty set then selects every namespace.
	UncertainNamespaceSelectors bool
}

// Known reports whether the version is one of those that Features describes.
func Known(major, minor int) bool { return major == 1 && minor >= Oldest && minor <= Newest }

// Of returns the features of kube-scheduler 1.minor. For an unknown version, it returns the features
// of the nearest known one.
func Of(minor int) Features {
	minor = min(max(minor, Oldest), Newest)
	return Features{
		BalancedByGain:              minor >= 36,
		ImageVolumesScored:          minor >= 36,
		ImageVolumesCounted:         minor >= 37,
		DeclaredFeatures:            minor >= 36,
		BindMountOptions:            minor >= 37,
		PodLevelResources:           minor >= 34,
		PodLevelStatuses:            minor >= 36,
		ResizeByPod:                 minor >= 37,
		StorageCapacityScored:       minor >= 37,
		MissingDriversReject:        minor >= 37,
		PortworxAnnotated:           minor <= 35,
		VolumeAttributesClass:       minor >= 34,
		UncertainNamespaceSelectors: minor >= 34 && minor <= 36,
	}
}
