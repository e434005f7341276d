package summary

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Helm charts store a program's name in nameLabel and its release in instanceLabel.
const (
	nameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"
)

// otherDeschedulersInput names other programs in the cluster that evict pods to move them. Such programs ignore
// Evenkeel's goals, limits and back-offs, and may undo its moves.
func otherDeschedulersInput(s *cluster.Snapshot, age string) plan.Input {
	in := plan.Input{Source: "others", Age: age, Coverage: 1, Problems: []string{}}
	var movers, releases []string
	asked := make([]bool, len(s.Workloads)) // workloads already checked; all pods of a workload are alike
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Terminal || p.Workload != cluster.NoWorkload && asked[p.Workload] {
			continue
		}
		if p.Workload != cluster.NoWorkload {
			asked[p.Workload] = true
		}
		o := p.Object
		switch {
		case isDescheduler(o.Labels, &o.Spec):
			movers = append(movers, "pod "+o.Namespace+"/"+o.Name)
		case o.Labels[nameLabel] == "evenkeel":
			releases = append(releases, o.Namespace+"/"+o.Labels[instanceLabel])
		}
	}
	for _, c := range s.Objects.CronJobs {
		if t := &c.Spec.JobTemplate.Spec.Template; isDescheduler(t.Labels, &t.Spec) && (c.Spec.Suspend == nil || !*c.Spec.Suspend) {
			movers = append(movers, "CronJob "+c.Namespace+"/"+c.Name)
		}
	}
	slices.Sort(movers)
	slices.Sort(releases)
	if n := len(movers); n > 0 {
		in.Problems = append(in.Problems, fmt.Sprintf("a descheduler runs too (%s): each may undo what the other does; let only one evict", joinUpToThree(movers)))
	}
	if releases = slices.Compact(releases); len(releases) > 1 {
		in.Problems = append(in.Problems, fmt.Sprintf("evenkeel runs as %d releases (%s): none counts the evictions of another; let only one have dryRun: false", len(releases), joinUpToThree(releases)))
	}
	return in
}

// isDescheduler recognizes kubernetes-sigs/descheduler by the label of its chart or manifests, or by its image.
func isDescheduler(labels map[string]string, spec *corev1.PodSpec) bool {
	const name = "descheduler"
	if labels[nameLabel] == name || labels["app"] == name {
		return true
	}
	return slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool {
		image, _, _ := strings.Cut(c.Image[strings.LastIndexByte(c.Image, '/')+1:], ":")
		image, _, _ = strings.Cut(image, "@")
		return image == name
	})
}

func joinUpToThree(names []string) string {
	const most = 3
	if extra := len(names) - most; extra > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), extra)
	}
	return strings.Join(names, ", ")
}
