package planner

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// lost is what the waves so far have taken for good. A label that somebody put
// on a pod by hand is not on its replacement: a Service or budget that selects
// the pod by it has one pod fewer from then on. And who requires the pod beside itself
// does not get the replacement back there.
type lost struct {
	behind   map[cluster.ServiceID]int
	budget   budget.Charges
	required guard.EvictionCounts
}

func newLost() *lost {
	return &lost{map[cluster.ServiceID]int{}, budget.Charges{}, guard.EvictionCounts{}}
}

// add counts an eviction whose replacement is Ready.
func (l *lost) add(c *search, pod cluster.PodID) {
	p := &c.s.Pods[pod]
	heir := labels.Set(heirLabels(p))
	c.takeRequired(l.required, pod)
	if p.Ready {
		for _, id := range p.Services {
			if !c.s.Services[id].Selector.Matches(heir) {
				l.behind[id]++
			}
		}
	}
	if len(p.Budgets) == 1 && !c.s.Budgets[p.Budgets[0]].Selector.Matches(heir) {
		c.verdict.book.Charge(p, l.budget)
	}
}

// refuse says why a pod that could leave at first may not leave any more.
func (l *lost) refuse(c *search, pod cluster.PodID) (plan.Reason, bool) {
	p := &c.s.Pods[pod]
	if id, last := c.lastBehind(l.behind, p); last {
		return plan.Reason{Code: plan.LastReadyPod, Message: fmt.Sprintf(
			"it would be the last Ready pod of Service %s: replacements of others do not carry its labels", c.s.Services[id].Object.Name)}, true
	}
	if who, last := c.lastRequired(l.required, pod); last {
		return plan.Reason{Code: plan.RequiredByAffinity, Message: who + ", once others have moved"}, true
	}
	r, ok := c.verdict.book.Allows(p, l.budget)
	return r, !ok
}

// lastBehind finds a Service that would be left without a Ready pod when the pod
// leaves after so many others.
func (c *search) lastBehind(taken map[cluster.ServiceID]int, p *cluster.Pod) (cluster.ServiceID, bool) {
	if !p.Ready || !c.p.opts.Guards.Protect[guard.ProtectLastReady] {
		return 0, false
	}
	for _, id := range p.Services {
		if guard.ReadyPods(c.s, &c.s.Services[id])-taken[id] < 2 {
			return id, true
		}
	}
	return 0, false
}

// lastRequired says who would be left without a pod that it requires beside itself, once
// those taken are gone.
func (c *search) lastRequired(taken guard.EvictionCounts, pod cluster.PodID) (string, bool) {
	if !c.p.opts.Guards.Protect[guard.ProtectRequired] {
		return "", false
	}
	return c.verdict.guard.LastRequired(c.s, taken, pod)
}

func (c *search) takeRequired(taken guard.EvictionCounts, pod cluster.PodID) {
	if c.p.opts.Guards.Protect[guard.ProtectRequired] {
		c.verdict.guard.RecordEviction(c.s, taken, pod)
	}
}

// heirLabels are those of the pod's replacement: its owner's template's, and what
// controllers add. Without a template that can be read they are the pod's own.
func heirLabels(p *cluster.Pod) map[string]string {
	t := template(p)
	if t == nil {
		return p.Object.Labels
	}
	out := maps.Clone(t.Labels)
	if out == nil {
		out = map[string]string{}
	}
	for _, key := range [...]string{
		appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
		batchv1.JobNameLabel, batchv1.ControllerUidLabel, batchv1.JobCompletionIndexAnnotation, "job-name", "controller-uid",
	} {
		if v, ok := p.Object.Labels[key]; ok {
			out[key] = v
		}
	}
	return out
}

func template(p *cluster.Pod) *corev1.PodTemplateSpec {
	if len(p.Owners) == 0 {
		return nil
	}
	switch x := p.Owners[0].(type) {
	case *appsv1.ReplicaSet:
		return &x.Spec.Template
	case *appsv1.StatefulSet:
		return &x.Spec.Template
	case *batchv1.Job:
		return &x.Spec.Template
	case *corev1.ReplicationController:
		return x.Spec.Template
	}
	return nil
}
