package planverifier

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/windows"
)

// annotationPrefix is the prefix of the annotations and labels that Evenkeel reads.
const annotationPrefix = "evenkeel.io/"

// knownAnnotations lists the annotation keys for pods, workloads and namespaces. The verifier
// ignores an invalid value if its key does not protect pods.
var knownAnnotations = []string{"evict", "do-not-disrupt", "window", "spread-by", "max-skew", "zone-slo"}

// request is one annotation or label whose key starts with annotationPrefix.
type request struct{ object, name, value string }

// annotationRequests returns the annotations and labels that apply to a pod: those of the
// pod, its controllers and its namespace, sorted.
func (w *clusterIndex) annotationRequests(p *corev1.Pod) []request {
	from := []metav1.Object{p}
	c := w.chains[key(p)]
	for i, l := range c.links {
		// A ReplicaSet keeps annotations that were removed from its Deployment, so the annotations
		// of the ReplicaSet do not count.
		copied := l.hasKind("ReplicaSet") && len(c.links) > i+1 && c.links[i+1].hasKind("Deployment") && c.links[i+1].object != nil
		if l.object != nil && !copied {
			from = append(from, l.object)
		}
	}
	if c.cron != nil && c.cron.object != nil {
		from = append(from, c.cron.object)
	}
	if ns := w.namespaces[p.Namespace]; ns != nil {
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

// checkAnnotations checks the annotations and labels that apply to the pod.
func (r *podGuards) checkAnnotations(p *corev1.Pod, add rejectFunc) {
	for _, q := range r.before.annotationRequests(p) {
		said := q.object + " has " + q.name + ": " + q.value
		switch q.name {
		case "evict":
			add(q.value == "never", plan.EvictNever, said)
			add(q.value != "never" && q.value != "prefer", plan.RequestUnreadable, said)
		case "do-not-disrupt":
			stays, readable := r.before.doNotDisruptActive(p, q.value)
			add(stays, plan.DoNotDisrupt, said)
			add(!readable && q.value != "false", plan.RequestUnreadable, said)
		case "window":
			_, err := r.rules.parseWindows(q.value)
			add(err != nil, plan.RequestUnreadable, said)
		default:
			add(!slices.Contains(knownAnnotations, q.name), plan.RequestUnreadable, said)
		}
	}
	r.checkForeignAnnotations(p, add)
}

// doNotDisruptActive reports whether a do-not-disrupt value protects the pod now. A do-not-disrupt value is "true"
// or a duration that begins when the pod starts. A pod without a start time is protected.
func (w *clusterIndex) doNotDisruptActive(p *corev1.Pod, value string) (stays, readable bool) {
	if value == "true" {
		return true, true
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return false, false
	}
	return p.Status.StartTime.IsZero() || w.now.Before(p.Status.StartTime.Add(d)), true
}

// checkForeignAnnotations checks the annotations of other tools. Only annotations on the pod itself count.
func (r *podGuards) checkForeignAnnotations(p *corev1.Pod, add rejectFunc) {
	has := func(k string) bool { _, ok := p.Annotations[k]; return ok }
	add(p.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false", plan.DoNotDisrupt, "safe-to-evict is false")
	stays, _ := r.before.doNotDisruptActive(p, p.Annotations["karpenter.sh/do-not-disrupt"])
	add(stays, plan.DoNotDisrupt, "karpenter.sh/do-not-disrupt is set")
	add(p.Annotations["karpenter.sh/do-not-evict"] == "true", plan.DoNotDisrupt, "karpenter.sh/do-not-evict is set")
	add(has("descheduler.alpha.kubernetes.io/eviction-in-progress"), plan.EvictionInProgress, "another tool is evicting it")
	add(r.rules.NoEvictionMandatory && has("descheduler.alpha.kubernetes.io/prefer-no-eviction"), plan.PreferNoEviction,
		"it has the annotation prefer-no-eviction")
}

// parseWindows parses a window annotation. The annotation may list several windows, of which one must be open.
func (r *Rules) parseWindows(value string) ([]windows.Window, error) {
	var out []windows.Window
	for _, one := range strings.Split(value, ";") {
		w, err := windows.Parse(strings.TrimSpace(one), r.Location)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// evictionAllowedAt reports whether the windows of the configuration and of all
// annotations allow an eviction of the pod at t.
func (r *podGuards) evictionAllowedAt(p *corev1.Pod, t time.Time) bool {
	anyOpen := func(list []windows.Window, denies bool) bool {
		return slices.ContainsFunc(list, func(w windows.Window) bool { return r.windows.IsOpen(w, denies, t) })
	}
	if anyOpen(r.rules.Deny, true) || len(r.rules.Allow) > 0 && !anyOpen(r.rules.Allow, false) {
		return false
	}
	for _, q := range r.before.annotationRequests(p) {
		if q.name != "window" {
			continue
		}
		if own, err := r.rules.parseWindows(q.value); err == nil && !anyOpen(own, false) {
			return false
		}
	}
	return true
}

// checkWindow checks the windows of a move. All windows must allow the eviction from now until the
// move's NotAfter, and a window must close at NotAfter.
func (r *verifier) checkWindow(c call) {
	if !r.guards.evictionAllowedAt(c.pod, r.before.now) {
		r.report(c.move, plan.OutsideWindow, "no window is open at %s", r.before.now.Format(time.RFC3339))
		return
	}
	end := c.move.NotAfter
	if end.IsZero() {
		end = r.before.now.Add(windows.Horizon - stepOfWindows)
	} else if r.guards.evictionAllowedAt(c.pod, end) && r.guards.evictionAllowedAt(c.pod, end.Add(time.Second)) {
		r.report(c.move, WindowNotWatched, "notAfter is %s, but no window closes then", end.Format(time.RFC3339))
	}
	if len(r.rules.Allow)+len(r.rules.Deny) == 0 && !slices.ContainsFunc(r.before.annotationRequests(c.pod),
		func(q request) bool { return q.name == "window" }) {
		return // there are no windows
	}
	for t := r.before.now; t.Before(end); t = t.Add(stepOfWindows) {
		if !r.guards.evictionAllowedAt(c.pod, t) {
			r.report(c.move, WindowNotWatched, "a window closes before %s, but notAfter is %s", t.Format(time.RFC3339),
				c.move.NotAfter.Format(time.RFC3339))
			return
		}
	}
}

// stepOfWindows is the time between two checks of the windows, from now to windows.Horizon.
const stepOfWindows = 5 * time.Minute
