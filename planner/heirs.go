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

// Consumed is what the waves so far have taken for good. A label that somebody put
// on a pod by hand is not on its replacement: a Service or budget that selects
// the pod by it has one pod fewer from then on. And who requires the pod beside itself
// does not get the replacement back there.
type Consumed struct {
	Services   map[cluster.ServiceID]int
	Budgets   budget.Taken
	Required guard.Taken
}

func NewConsumed() *Consumed { return &Consumed{map[cluster.ServiceID]int{}, budget.Taken{}, guard.Taken{}} }

// Add counts an eviction whose replacement is Ready.
func (l *Consumed) Add(c *Search, pod cluster.PodID) {
	p := &c.Snapshot.Pods[pod]
	heir := labels.Set(replacementLabels(p))
	c.TakeRequired(l.Required, pod)
	if p.Ready {
		for _, id := range p.Services {
			if !c.Snapshot.Services[id].Selector.Matches(heir) {
				l.Services[id]++
			}
		}
	}
	if len(p.Budgets) == 1 && !c.Snapshot.Budgets[p.Budgets[0]].Selector.Matches(heir) {
		c.Eligibility.Budgets.Take(p, l.Budgets)
	}
}

// Refuse says why a pod that could leave at first may not leave any more.
func (l *Consumed) Refuse(c *Search, pod cluster.PodID) (plan.Reason, bool) {
	p := &c.Snapshot.Pods[pod]
	if id, last := c.LastBehindService(l.Services, p); last {
		return plan.Reason{Code: plan.LastReadyPod, Message: fmt.Sprintf(
			"it would be the last Ready pod of Service %s: replacements of others do not carry its labels", c.Snapshot.Services[id].Object.Name)}, true
	}
	if who, last := c.LastRequired(l.Required, pod); last {
		return plan.Reason{Code: plan.RequiredByAffinity, Message: who + ", once others have moved"}, true
	}
	r, ok := c.Eligibility.Budgets.Ask(p, l.Budgets)
	return r, !ok
}

// LastBehindService finds a Service that would be left without a Ready pod when the pod
// leaves after so many others.
func (c *Search) LastBehindService(taken map[cluster.ServiceID]int, p *cluster.Pod) (cluster.ServiceID, bool) {
	if !p.Ready || !c.planner.opts.Guards.Protect[guard.ProtectLastReady] {
		return 0, false
	}
	for _, id := range p.Services {
		if guard.ReadyBehind(c.Snapshot, &c.Snapshot.Services[id])-taken[id] < 2 {
			return id, true
		}
	}
	return 0, false
}

// LastRequired says who would be left without a pod that it requires beside itself, once
// those taken are gone.
func (c *Search) LastRequired(taken guard.Taken, pod cluster.PodID) (string, bool) {
	if !c.planner.opts.Guards.Protect[guard.ProtectRequired] {
		return "", false
	}
	return c.Eligibility.Guards.LastRequired(c.Snapshot, taken, pod)
}

func (c *Search) TakeRequired(taken guard.Taken, pod cluster.PodID) {
	if c.planner.opts.Guards.Protect[guard.ProtectRequired] {
		c.Eligibility.Guards.Take(c.Snapshot, taken, pod)
	}
}

// replacementLabels are those of the pod's replacement: its owner's template's, and what
// controllers add. Without a template that can be read they are the pod's own.
func replacementLabels(p *cluster.Pod) map[string]string {
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
