package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// If the API server refuses the replacement, the workload loses a replica. The rule follows the plugins that read other
// objects before they admit a pod, and that are on by default. These objects are the Namespace (PodSecurity),
// LimitRanges, the PriorityClass, the RuntimeClass and the ServiceAccount; resourceQuota reads quotas. noReplacement
// follows NamespaceLifecycle.
//
// The rule judges what the controller submits, which is the template. If the template is unknown, it judges the pod.
// For Pod Security, it also judges the newest pod of the same owner, because webhooks may have added containers to it.
//
// If every object of a kind is unknown, the rule does not look for an object of that kind. It does not model webhooks,
// ValidatingAdmissionPolicies, plugins that are off by default, the configuration of plugins (exemptions and defaults
// of PodSecurity), limits on the claims of ephemeral volumes, nor the list of Secrets of a ServiceAccount.
var admissionRefuses = Rule{plan.ReplacementRefused, WorkloadScope, func(in Input) (string, bool) {
	why := in.Cache.admissionRefusal(in.Snapshot, in.Pod)
	return why, why != ""
}}

func (c *Cache) admissionRefusal(s *cluster.Snapshot, p *cluster.Pod) string {
	key, known := ownerKeyOf(p)
	if why, judged := c.admission.results[key]; known && judged {
		return why
	}
	if c.admission.results == nil {
		c.admission.index(s)
	}
	sub, template := submissionOf(p)
	why := ""
	for _, refusal := range admissionChecks {
		if why == "" {
			why = refusal(&c.admission, s, sub)
		}
	}
	if why == "" && template && enforcesPodSecurity(s.Namespace(sub.namespace)) {
		why = podSecurityRefusal(&c.admission, s, newestSubmission(s, p))
	}
	if known {
		c.admission.results[key] = why
	}
	return why
}

// admission holds what admission plugins look up, and the results by owner.
type admission struct {
	results         map[ownerKey]string // nil until the first use
	limitRanges     map[string][]*corev1.LimitRange
	serviceAccounts map[string]bool // by namespace/name; nil if they are unknown
	priorityClasses map[string]*schedulingv1.PriorityClass
	runtimeClasses  map[string]*nodev1.RuntimeClass
}

func (a *admission) index(s *cluster.Snapshot) {
	a.results, a.limitRanges = map[ownerKey]string{}, map[string][]*corev1.LimitRange{}
	for _, l := range s.Objects.LimitRanges {
		a.limitRanges[l.Namespace] = append(a.limitRanges[l.Namespace], l)
	}
	for _, list := range a.limitRanges {
		slices.SortFunc(list, func(x, y *corev1.LimitRange) int { return strings.Compare(x.Name, y.Name) })
	}
	if cluster.Knows[*corev1.ServiceAccount](s.Objects) {
		a.serviceAccounts = make(map[string]bool, len(s.Objects.ServiceAccounts))
		for _, x := range s.Objects.ServiceAccounts {
			a.serviceAccounts[x.Namespace+"/"+x.Name] = true
		}
	}
	a.priorityClasses = indexed(s.Objects, s.Objects.PriorityClasses)
	a.runtimeClasses = indexed(s.Objects, s.Objects.RuntimeClasses)
}

// indexed returns the objects by name, or nil if they are unknown.
func indexed[P interface {
	metav1.Object
	runtime.Object
}](o *cluster.Objects, list []P) map[string]P {
	if !cluster.Knows[P](o) {
		return nil
	}
	byName := make(map[string]P, len(list))
	for _, x := range list {
		byName[x.GetName()] = x
	}
	return byName
}

// submission is a pod as its controller submits it, or as admission has completed it.
type submission struct {
	namespace string
	what      string // how messages name it
	meta      *metav1.ObjectMeta
	spec      *corev1.PodSpec
	completed bool // admission has set the priority, the overhead and default resources
}

// submissionOf returns what the controller of the pod submits, or the pod and false if the template is unknown.
func submissionOf(p *cluster.Pod) (sub submission, template bool) {
	if t := PodTemplate(p); t != nil {
		return submission{p.Object.Namespace, "the pod template", &t.ObjectMeta, &t.Spec, false}, true
	}
	return submission{p.Object.Namespace, "the pod", &p.Object.ObjectMeta, withoutEphemeral(&p.Object.Spec), true}, false
}

// newestSubmission returns the newest pod of the owner of p, which has a template.
func newestSubmission(s *cluster.Snapshot, p *cluster.Pod) submission {
	newest, what := p, "the pod"
	if w := s.WorkloadOf(p); w != nil {
		for _, id := range w.Pods {
			q := &s.Pods[id]
			if len(q.Owners) > 0 && q.Owners[0] == p.Owners[0] && q.Object.CreationTimestamp.After(newest.Object.CreationTimestamp.Time) {
				newest = q
			}
		}
		what = "pod " + newest.Object.Name
	}
	return submission{p.Object.Namespace, what, &newest.Object.ObjectMeta, withoutEphemeral(&newest.Object.Spec), true}
}

// withoutEphemeral returns the spec without ephemeral containers, which a replacement does not have.
func withoutEphemeral(s *corev1.PodSpec) *corev1.PodSpec {
	if len(s.EphemeralContainers) == 0 {
		return s
	}
	c := *s
	c.EphemeralContainers = nil
	return &c
}

// admissionChecks lists the plugins.
var admissionChecks = []func(*admission, *cluster.Snapshot, submission) string{
	podSecurityRefusal, priorityRefusal, runtimeClassRefusal, serviceAccountRefusal, limitRangeRefusal,
}

// priorityRefusal follows the plugin Priority. The API server makes the classes with the prefix system- again.
func priorityRefusal(a *admission, _ *cluster.Snapshot, sub submission) string {
	name := sub.spec.PriorityClassName
	if a.priorityClasses == nil || name == "" {
		return ""
	}
	class := a.priorityClasses[name]
	switch own := sub.spec; {
	case class == nil && strings.HasPrefix(name, "system-"):
	case class == nil:
		return fmt.Sprintf("%s names PriorityClass %s, which does not exist; create it, or change the template", sub.what, name)
	case sub.completed:
	case own.Priority != nil && *own.Priority != class.Value:
		return fmt.Sprintf("%s has the priority %d, but PriorityClass %s has %d", sub.what, *own.Priority, name, class.Value)
	case own.PreemptionPolicy != nil && class.PreemptionPolicy != nil && *own.PreemptionPolicy != *class.PreemptionPolicy:
		return fmt.Sprintf("%s has the preemption policy %s, but PriorityClass %s has %s", sub.what, *own.PreemptionPolicy, name, *class.PreemptionPolicy)
	}
	return ""
}

// runtimeClassRefusal follows the plugin RuntimeClass.
func runtimeClassRefusal(a *admission, _ *cluster.Snapshot, sub submission) string {
	if a.runtimeClasses == nil || sub.spec.RuntimeClassName == nil {
		return ""
	}
	name := *sub.spec.RuntimeClassName
	class := a.runtimeClasses[name]
	if class == nil {
		return fmt.Sprintf("%s names RuntimeClass %s, which does not exist; create it, or change the template", sub.what, name)
	}
	overhead := corev1.ResourceList{}
	if class.Overhead != nil {
		overhead = class.Overhead.PodFixed
	}
	if own := sub.spec.Overhead; len(own) > 0 && !sub.completed && !apiequality.Semantic.DeepEqual(own, overhead) {
		return fmt.Sprintf("%s has another overhead than RuntimeClass %s", sub.what, name)
	}
	if class.Scheduling == nil || sub.completed {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(class.Scheduling.NodeSelector)) {
		want := class.Scheduling.NodeSelector[key]
		if own, ok := sub.spec.NodeSelector[key]; ok && own != want {
			return fmt.Sprintf("%s selects nodes with %s=%s, but RuntimeClass %s selects those with %s=%s", sub.what, key, own, name, key, want)
		}
	}
	return ""
}

// serviceAccountRefusal follows the plugin ServiceAccount. A pod that names no ServiceAccount gets the default one.
func serviceAccountRefusal(a *admission, _ *cluster.Snapshot, sub submission) string {
	name := sub.spec.ServiceAccountName
	if name == "" {
		name = "default"
	}
	if a.serviceAccounts == nil || a.serviceAccounts[sub.namespace+"/"+name] {
		return ""
	}
	return fmt.Sprintf("%s names ServiceAccount %s, which does not exist in namespace %s; create it, or change the template",
		sub.what, name, sub.namespace)
}
