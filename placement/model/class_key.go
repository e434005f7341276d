package model

import (
	"encoding/binary"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
)

func priorityOf(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// appendRareFields appends what few pods have: ports, volumes, features that a node
// must have, a priority, and resources of the pod as a whole.
func appendRareFields(b []byte, p *cluster.Pod) []byte {
	spec := &p.Object.Spec
	b = AppendText(binary.AppendVarint(b, int64(priorityOf(p.Object))), scheduler.NameOf(p.Object))
	ports := hostPorts(spec)
	b = binary.AppendVarint(b, int64(len(ports)))
	for _, x := range ports {
		b = binary.AppendVarint(AppendText(AppendText(b, x.ip), string(x.protocol)), int64(x.port))
	}
	b = appendVolumes(b, spec.Volumes)
	if spec.Resources != nil {
		request, assumed := RequestsOf(p.Object)
		b = appendAmounts(appendAmounts(b, request), assumed)
	}
	return append(b, FeatureBits(spec))
}

// appendVolumes appends the volumes that have a say in where the pod goes.
func appendVolumes(b []byte, volumes []corev1.Volume) []byte {
	for i := range volumes {
		v := &volumes[i]
		s := &v.VolumeSource
		switch {
		case s.PersistentVolumeClaim != nil:
			b = AppendText(append(b, 'p'), s.PersistentVolumeClaim.ClaimName)
		case s.Image != nil:
			b = AppendText(append(b, 'i'), s.Image.Reference)
		case s.Ephemeral != nil, s.GCEPersistentDisk != nil, s.AWSElasticBlockStore != nil, s.ISCSI != nil, s.RBD != nil,
			s.AzureDisk != nil, s.Cinder != nil, s.PortworxVolume != nil:
			b = AppendMessage(append(b, 'v'), v)
		}
	}
	return append(b, 0)
}

// FeatureBits are what a pod spec asks of the features that nodes declare.
func FeatureBits(spec *corev1.PodSpec) (bits byte) {
	if spec.HostNetwork && spec.HostUsers != nil && !*spec.HostUsers {
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
