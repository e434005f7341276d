package planverifier

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// annotationPrefix is that of the keys that people ask with.
const annotationPrefix = "evenkeel.io/"

// knownAnnotations are the keys for pods, workloads and namespaces. Those that ask for no
// protection are ignored when they cannot be read.
var knownAnnotations = []string{"evict", "do-not-disrupt", "window", "spread-by", "max-skew", "zone-slo"}

// request is one annotation or label under the prefix.
type request struct{ object, name, value string }

// annotationRequests are what the pod, its controllers and its namespace ask for.
func (r *podGuards) annotationRequests(p *corev1.Pod) []request {
	from := []metav1.Object{p}
	c := r.chains[key(p)]
	for i, l := range c.links {
		// A Deployment's ReplicaSet keeps copies of what was taken off the Deployment.
		copied := l.hasKind("ReplicaSet") && len(c.links) > i+1 && c.links[i+1].hasKind("Deployment") && c.links[i+1].object != nil
		if l.object != nil && !copied {
			from = append(from, l.object)
		}
	}
	if c.cron != nil && c.cron.object != nil {
		from = append(from, c.cron.object)
	}
	if ns := r.namespaces[p.Namespace]; ns != nil {
		from = append(from, ns)
	}
	var out []request
	for _, x := range from {
		for _, kv := range []map[string]string{x.GetAnnotations(), x.GetLabels()} {
			for k, v := range kv {
				if name, ours := strings.CutPrefix(k, annotationPrefix); ours {
					out = append(out, request{x.GetName(), name, v})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b request) int {
		return strings.Compare(a.name+" "+a.value+" "+a.object, b.name+" "+b.value+" "+b.object)
	})
	return out
}

// checkAnnotations are the reasons in what people ask for.
func (r *podGuards) checkAnnotations(p *corev1.Pod, add rejectFunc) {
	for _, q := range r.annotationRequests(p) {
		said := q.object + " says " + q.name + ": " + q.value
		switch q.name {
		case "evict":
			add(q.value == "never", plan.EvictNever, said)
			add(q.value != "never" && q.value != "prefer", plan.RequestUnreadable, said)
		case "do-not-disrupt":
			stays, readable := r.doNotDisruptActive(p, q.value)
			add(stays, plan.DoNotDisrupt, said)
			add(!readable && q.value != "false", plan.RequestUnreadable, said)
		case "window":
			_, err := r.parseWindows(q.value)
			add(err != nil, plan.RequestUnreadable, said)
		default:
			add(!slices.Contains(knownAnnotations, q.name), plan.RequestUnreadable, said)
		}
	}
	r.checkForeignAnnotations(p, add)
}

// doNotDisruptActive says whether a do-not-disrupt holds: always, or for a time from the
// pod's start; one that never started is not done waiting.
func (r *podGuards) doNotDisruptActive(p *corev1.Pod, value string) (stays, readable bool) {
	if value == "true" {
		return true, true
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return false, false
	}
	return p.Status.StartTime == nil || r.now.Before(p.Status.StartTime.Add(d)), true
}

// checkForeignAnnotations are the words of others, on the pod alone.
func (r *podGuards) checkForeignAnnotations(p *corev1.Pod, add rejectFunc) {
	has := func(k string) bool { _, ok := p.Annotations[k]; return ok }
	add(p.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false", plan.DoNotDisrupt, "not safe to evict")
	stays, _ := r.doNotDisruptActive(p, p.Annotations["karpenter.sh/do-not-disrupt"])
	add(stays, plan.DoNotDisrupt, "Karpenter may not disrupt it")
	add(p.Annotations["karpenter.sh/do-not-evict"] == "true", plan.DoNotDisrupt, "Karpenter may not evict it")
	add(has("descheduler.alpha.kubernetes.io/eviction-in-progress"), plan.EvictionInProgress, "somebody else moves it")
	add(r.rules.NoEvictionMandatory && has("descheduler.alpha.kubernetes.io/prefer-no-eviction"), plan.PreferNoEviction, "it prefers to stay")
}

// parseWindows reads a window annotation: one of several must be open.
func (r *podGuards) parseWindows(value string) ([]Window, error) {
	var out []Window
	for _, one := range strings.Split(value, ";") {
		w, err := parseWindow(strings.TrimSpace(one), r.rules.Location)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// evictionAllowedAt says whether a pod may be evicted at t, by the windows of config.yaml and
// by all that it was given.
func (r *podGuards) evictionAllowedAt(p *corev1.Pod, t time.Time) bool {
	anyOpen := func(list []Window, denies bool) bool {
		return slices.ContainsFunc(list, func(w Window) bool { return r.windowOpen(w, denies, t) })
	}
	if anyOpen(r.rules.Deny, true) || len(r.rules.Allow) > 0 && !anyOpen(r.rules.Allow, false) {
		return false
	}
	for _, q := range r.annotationRequests(p) {
		if q.name != "window" {
			continue
		}
		if own, err := r.parseWindows(q.value); err == nil && !anyOpen(own, false) {
			return false
		}
	}
	return true
}

// checkWindow holds a move to its windows: they are open now, stay open until the
// time that the move names, and close then.
func (r *verifier) checkWindow(c call) {
	if !r.evictionAllowedAt(c.pod, r.now) {
		r.report(c.move, plan.OutsideWindow, "no window is open at %s", r.now.Format(time.RFC3339))
		return
	}
	end := c.move.NotAfter
	if end.IsZero() {
		end = r.now.Add(windowHorizon - windowStep)
	} else if r.evictionAllowedAt(c.pod, end) && r.evictionAllowedAt(c.pod, end.Add(time.Second)) {
		r.report(c.move, WindowNotWatched, "its windows do not close at %s", end.Format(time.RFC3339))
	}
	if len(r.rules.Allow)+len(r.rules.Deny) == 0 && !slices.ContainsFunc(r.annotationRequests(c.pod), func(q request) bool { return q.name == "window" }) {
		return // always open
	}
	for t := r.now; t.Before(end); t = t.Add(windowStep) {
		if !r.evictionAllowedAt(c.pod, t) {
			r.report(c.move, WindowNotWatched, "a window closes before %s, the move says %s", t.Format(time.RFC3339), c.move.NotAfter.Format(time.RFC3339))
			return
		}
	}
}
