package summary

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Helm charts store a program's name in nameLabel and its release in instanceLabel.
const (
	nameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"
)

// OtherDeschedulersIn returns the other programs in the cluster that evict pods to move them. It recognizes them by
// the images and labels of their pods and pod templates. A Deployment without replicas and a suspended CronJob count
// only as long as a pod of theirs runs.
func OtherDeschedulersIn(s *cluster.Snapshot) []plan.OtherDescheduler {
	seen := map[plan.OtherDescheduler]bool{}
	for _, d := range s.Objects.Deployments {
		if t := &d.Spec.Template; cluster.ReplicasOrDefault(d.Spec.Replicas) > 0 {
			addDescheduler(seen, t.Labels, &t.Spec, func() (string, metav1.Object) { return "Deployment", d })
		}
	}
	for _, c := range s.Objects.CronJobs {
		if t := &c.Spec.JobTemplate.Spec.Template; c.Spec.Suspend == nil || !*c.Spec.Suspend {
			addDescheduler(seen, t.Labels, &t.Spec, func() (string, metav1.Object) { return "CronJob", c })
		}
	}
	asked := make([]bool, len(s.Workloads)) // workloads already checked; all pods of a workload are alike
	for p := range differentPods(s) {
		if p.Workload != cluster.NoWorkload {
			if asked[p.Workload] {
				continue
			}
			asked[p.Workload] = true
		}
		addDescheduler(seen, p.Object.Labels, &p.Object.Spec, func() (string, metav1.Object) { return ownerToRemove(s, p) })
	}
	out := make([]plan.OtherDescheduler, 0, len(seen))
	for o := range seen {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b plan.OtherDescheduler) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Program, b.Program))
	})
	return out
}

// differentPods returns the pods that have not ended, and only the first of neighbors with the same template.
func differentPods(s *cluster.Snapshot) iter.Seq[*cluster.Pod] {
	return func(yield func(*cluster.Pod) bool) {
		for run := range s.TemplateRuns() {
			i := slices.IndexFunc(run, func(p cluster.Pod) bool { return !p.Terminal })
			if i >= 0 && !yield(&run[i]) {
				return
			}
		}
	}
}

// ownerToRemove returns the object that creates the pod again: the CronJob of a Job, another workload, or the pod.
func ownerToRemove(s *cluster.Snapshot, p *cluster.Pod) (kind string, o metav1.Object) {
	if p.Controller != nil && p.Controller.Kind == "Job" && len(p.Owners) > 1 {
		return "CronJob", p.Owners[len(p.Owners)-1]
	}
	if w := s.WorkloadOf(p); w != nil {
		return w.Kind, &metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}
	}
	return "Pod", p.Object
}

func addDescheduler(seen map[plan.OtherDescheduler]bool, labels map[string]string, spec *corev1.PodSpec, owner func() (string, metav1.Object)) {
	if program := deschedulerProgram(labels, spec); program != "" {
		kind, o := owner()
		seen[plan.OtherDescheduler{Program: program, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}] = true
	}
}

// deschedulerProgram returns the program that a pod runs if it is a descheduler, and "" otherwise. Images of other
// registries may have other names, so a pod with a label of kubernetes-sigs/descheduler counts too.
func deschedulerProgram(labels map[string]string, spec *corev1.PodSpec) string {
	for i := range spec.Containers {
		if name := cluster.ImageName(spec.Containers[i].Image); cluster.IsDescheduler(name) {
			return name
		}
	}
	if cluster.IsDescheduler(labels[nameLabel]) {
		return labels[nameLabel]
	}
	if labels["app"] == "descheduler" || labels["k8s-app"] == "descheduler" {
		return "descheduler"
	}
	return ""
}

// otherReleasesInput names the releases of Evenkeel in the cluster if there are several.
func otherReleasesInput(s *cluster.Snapshot, age string) plan.Input {
	in := plan.Input{Source: "others", Age: age, Coverage: 1, Problems: []string{}}
	var releases []string
	for p := range differentPods(s) {
		if o := p.Object; o.Labels[nameLabel] == "evenkeel" {
			releases = append(releases, o.Namespace+"/"+o.Labels[instanceLabel])
		}
	}
	slices.Sort(releases)
	if releases = slices.Compact(releases); len(releases) > 1 {
		in.Problems = append(in.Problems, fmt.Sprintf("evenkeel runs as %d releases (%s): none counts the evictions of another; let only one have dryRun: false", len(releases), joinUpToThree(releases)))
	}
	return in
}

func joinUpToThree(names []string) string {
	const most = 3
	if extra := len(names) - most; extra > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), extra)
	}
	return strings.Join(names, ", ")
}
