package model

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/bytekey"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

// everyFeature makes keys include pod-level resources in every version, even if the scheduler
// ignores them.
var everyFeature = kubeversion.Of(kubeversion.Newest)

// appendRareFields appends the fields that few pods set: ports, volumes, required node features,
// priority, scheduler and pod-level resources. If a pod was changed after its creation, for example
// by a resize, appendRareFields also appends the requests of its replacement, because the pod may
// count with other requests on its node.
func appendRareFields(b []byte, p *cluster.Pod) []byte {
	spec := &p.Object.Spec
	b = bytekey.AppendString(binary.AppendVarint(b, int64(ptr.Deref(p.Object.Spec.Priority, 0))), scheduler.NameOf(p.Object))
	ports := hostPorts(spec)
	b = binary.AppendVarint(b, int64(len(ports)))
	for _, x := range ports {
		b = binary.AppendVarint(bytekey.AppendString(bytekey.AppendString(b, x.ip), string(x.protocol)), int64(x.port))
	}
	b = appendVolumes(b, spec.Volumes)
	if spec.Resources != nil || p.Object.Generation > 1 {
		request, assumed := RequestsOf(p.Object, everyFeature)
		b = appendAmounts(appendAmounts(b, request), assumed)
	}
	return append(b, FeatureBits(spec))
}

// appendVolumes appends the volumes that affect which nodes the pod fits on.
func appendVolumes(b []byte, volumes []corev1.Volume) []byte {
	for i := range volumes {
		v := &volumes[i]
		s := &v.VolumeSource
		switch {
		case s.PersistentVolumeClaim != nil:
			b = bytekey.AppendString(append(b, 'p'), s.PersistentVolumeClaim.ClaimName)
		case s.Image != nil:
			b = bytekey.AppendString(append(b, 'i'), s.Image.Reference)
		case s.Ephemeral != nil, s.GCEPersistentDisk != nil, s.AWSElasticBlockStore != nil, s.ISCSI != nil, s.RBD != nil,
			s.AzureDisk != nil, s.Cinder != nil, s.PortworxVolume != nil:
			b = bytekey.AppendMessage(append(b, 'v'), v)
		}
	}
	return append(b, 0)
}

// FeatureBits returns one bit for each declared node feature that the pod spec requires.
func FeatureBits(spec *corev1.PodSpec) (bits byte) {
	if spec.HostNetwork && !ptr.Deref(spec.HostUsers, true) {
		bits |= 1
	}
	for _, cs := range [...][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range cs {
			for _, r := range cs[i].RestartPolicyRules {
				if r.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
					bits |= 2
				}
			}
			for _, m := range cs[i].VolumeMounts {
				if len(m.BindMountOptions) > 0 {
					bits |= 4
				}
			}
		}
	}
	return bits
}

// appendKey appends every field of the pod that the scheduler reads, with these labels. appendKey writes the length of
// each field before the field, so different pods never share a key.
func appendKey(b []byte, p *cluster.Pod, labels map[string]string) []byte {
	spec := &p.Object.Spec
	b = bytekey.AppendString(b, p.Object.Namespace)
	b = bytekey.AppendMap(b, labels)
	if c := p.Controller; c != nil {
		b = bytekey.AppendString(bytekey.AppendString(bytekey.AppendString(b, c.APIVersion), c.Kind), c.Name)
	} else {
		b = append(b, 0)
	}
	b = appendAmounts(b, p.Requests)
	b = appendAmounts(b, p.NonZero)
	b = bytekey.AppendMap(b, spec.NodeSelector)
	if spec.Affinity != nil {
		b = bytekey.AppendMessage(b, spec.Affinity)
	} else {
		b = append(b, 0)
	}
	b = binary.AppendVarint(b, int64(len(spec.Tolerations)))
	for i := range spec.Tolerations {
		b = bytekey.AppendMessage(b, &spec.Tolerations[i])
	}
	b = binary.AppendVarint(b, int64(len(spec.TopologySpreadConstraints)))
	for i := range spec.TopologySpreadConstraints {
		b = bytekey.AppendMessage(b, &spec.TopologySpreadConstraints[i])
	}
	for _, cs := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		b = binary.AppendVarint(b, int64(len(cs)))
		for i := range cs {
			b = bytekey.AppendString(b, cs[i].Image)
		}
	}
	return appendRareFields(b, p)
}

func appendAmounts(b []byte, r cluster.Resources) []byte {
	for _, v := range [...]int64{r.MilliCPU, r.MemoryBytes, r.EphemeralStorageByte, int64(len(r.Extended))} {
		b = binary.AppendVarint(b, v)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Extended)) {
		b = binary.AppendVarint(bytekey.AppendString(b, string(name)), r.Extended[name])
	}
	return b
}

// EquivalenceClass is a set of pods that the scheduler cannot tell apart. The pods of a class have
// the same scheduler, namespace, labels, owner, requests, affinity, tolerations, spread
// constraints, images, volumes, ports and priority.
type EquivalenceClass struct {
	Number           int // index in Cluster.ClassList
	Namespace        string
	Labels           labels.Set
	Sample           *cluster.Pod
	Profile          *scheduler.Compiled
	ExpectedMilliCPU int64        // milliCPU that TargetLoadPacking expects a pod to use; 0 if no profile uses it
	RiskAmounts      *RiskAmounts // for trimaran's plugins about risk; nil if no profile uses them
	pods             []cluster.PodID
	owner            Owner // the zero value if it is not known
	Priority         int32
	Ports            []HostPort
	Disks            []volume.Disk
	Claims           []string      // names of claims, one entry per volume
	spreadCounters   []*PodCounter // topology spread counters that count its pods
	termCounters     []*PodCounter // inter-pod affinity counters that count its pods
	// ReplacedAfterGone says that the controller creates a replacement only after the pod has terminated.
	ReplacedAfterGone bool
	KnownSupported    bool               // ClusterModel.Supported found no unsupported owner, affinity or volume
	TemplateRequests  *cluster.Resources // requests of the owner's pod template; nil: not computed yet
}

// RequestsOf returns the requests of a new pod with this spec, and the requests that scores assume
// for it. The assumed requests leave out pod-level resources: the score of NodeResourcesFit ignores
// pod-level resources of a new pod, but counts them for the pods on nodes.
func RequestsOf(p *corev1.Pod, features kubeversion.Features) (request, assumed cluster.Resources) {
	opts := resource.PodResourcesOptions{}
	opts.NonMissingContainerRequests, opts.SkipPodLevelResources = cluster.DefaultScoreRequests, true
	return RequestsOfTemplate(p, features), cluster.ResourcesOf(resource.PodRequests(p, opts))
}

// RequestsOfTemplate returns the requests of a new pod with this spec.
func RequestsOfTemplate(p *corev1.Pod, features kubeversion.Features) cluster.Resources {
	opts := resource.PodResourcesOptions{SkipPodLevelResources: !features.PodLevelResources}
	return cluster.ResourcesOf(resource.PodRequests(p, opts))
}
