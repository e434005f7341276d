// Package admission decides for package planverifier whether the API server would refuse the replacement of a pod. It
// implements the table of ReplacementRefused in docs/reference/reasons.md with its own code.
//
// The package names a refusal only if it is certain: of Pod Security it has the controls that all versions share, and
// of several LimitRanges in a namespace none. It does not check quotas.
package admission

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Refusals returns why the API server would refuse a pod that a controller of the namespace creates from a template.
func Refusals(o *cluster.Objects, namespace string, template *corev1.PodSpec) (out []string) {
	add := func(refused bool, format string, args ...any) {
		if refused {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	if name := template.PriorityClassName; name != "" && cluster.Knows[*schedulingv1.PriorityClass](o) {
		i := slices.IndexFunc(o.PriorityClasses, func(c *schedulingv1.PriorityClass) bool { return c.Name == name })
		add(i < 0 && !strings.HasPrefix(name, "system-"), "PriorityClass %s is gone", name)
		add(i >= 0 && template.Priority != nil && *template.Priority != o.PriorityClasses[max(0, i)].Value, "PriorityClass %s has another value", name)
	}
	if name := template.RuntimeClassName; name != nil && cluster.Knows[*nodev1.RuntimeClass](o) {
		i := slices.IndexFunc(o.RuntimeClasses, func(c *nodev1.RuntimeClass) bool { return c.Name == *name })
		add(i < 0, "RuntimeClass %s is gone", *name)
		if i >= 0 && len(template.Overhead) > 0 {
			has := o.RuntimeClasses[i].Overhead
			add(has == nil || !equality.Semantic.DeepEqual(has.PodFixed, template.Overhead), "RuntimeClass %s has another overhead", *name)
		}
	}
	account := template.ServiceAccountName
	if account == "" {
		account = "default"
	}
	add(cluster.Knows[*corev1.ServiceAccount](o) && !slices.ContainsFunc(o.ServiceAccounts, func(a *corev1.ServiceAccount) bool {
		return a.Namespace == namespace && a.Name == account
	}), "ServiceAccount %s is gone", account)
	for _, ns := range o.Namespaces {
		if level, enforced := ns.Labels["pod-security.kubernetes.io/enforce"]; ns.Name == namespace && enforced {
			add(Forbidden(level, template), "the namespace enforces Pod Security %s", level)
		}
	}
	var ranges []*corev1.LimitRange
	for _, l := range o.LimitRanges {
		if l.Namespace == namespace {
			ranges = append(ranges, l)
		}
	}
	add(len(ranges) == 1 && outside(ranges[0], template), "it is outside of the LimitRange")
	return out
}

// Forbidden reports whether a level of Pod Security forbids the pod. A level that cannot be read is restricted.
func Forbidden(level string, p *corev1.PodSpec) bool {
	if level == "privileged" || level == "" {
		return false
	}
	if p.HostNetwork || p.HostPID || p.HostIPC || slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil }) {
		return true
	}
	asRoot := p.SecurityContext == nil || p.SecurityContext.RunAsNonRoot == nil || !*p.SecurityContext.RunAsNonRoot
	for _, c := range slices.Concat(p.InitContainers, p.Containers) {
		s := c.SecurityContext
		if s != nil && s.Privileged != nil && *s.Privileged ||
			slices.ContainsFunc(c.Ports, func(x corev1.ContainerPort) bool { return x.HostPort != 0 }) {
			return true
		}
		mayBeRoot := asRoot && (s == nil || s.RunAsNonRoot == nil) || s != nil && s.RunAsNonRoot != nil && !*s.RunAsNonRoot
		if level != "baseline" && mayBeRoot && (p.HostUsers == nil || *p.HostUsers) {
			return true
		}
	}
	return false
}

// outside reports whether a container of the pod is outside of the LimitRange, or the sum of the containers if there
// are no others, after the defaults apply.
func outside(l *corev1.LimitRange, p *corev1.PodSpec) bool {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, c := range slices.Concat(p.InitContainers, p.Containers) {
		request, limit := c.Resources.Requests.DeepCopy(), c.Resources.Limits.DeepCopy()
		fill(&request, limit)
		for _, x := range l.Spec.Limits {
			if x.Type == corev1.LimitTypeContainer {
				for _, standard := range []corev1.ResourceList{x.Default, x.Max} {
					fill(&limit, standard)
				}
				for _, standard := range []corev1.ResourceList{x.DefaultRequest, x.Default, x.Max, x.Min} {
					fill(&request, standard)
				}
			}
		}
		for _, x := range l.Spec.Limits {
			if x.Type == corev1.LimitTypeContainer && breaks(x, request, limit) {
				return true
			}
		}
		for name, most := range limit {
			if has := request[name]; has.Cmp(most) > 0 {
				return true
			}
		}
		addTo(requests, request)
		addTo(limits, limit)
	}
	return len(p.InitContainers) == 0 && p.Resources == nil && slices.ContainsFunc(l.Spec.Limits, func(x corev1.LimitRangeItem) bool {
		return x.Type == corev1.LimitTypePod && breaks(x, requests, limits)
	})
}

// fill sets the amounts that a list lacks.
func fill(list *corev1.ResourceList, standard corev1.ResourceList) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	for name, amount := range standard {
		if _, has := (*list)[name]; !has {
			(*list)[name] = amount
		}
	}
}

func addTo(sum, list corev1.ResourceList) {
	for name, amount := range list {
		total := sum[name]
		total.Add(amount)
		sum[name] = total
	}
}

// breaks reports whether the requests or limits are outside of an item of a LimitRange.
func breaks(x corev1.LimitRangeItem, requests, limits corev1.ResourceList) bool {
	for name, least := range x.Min {
		request, requested := requests[name]
		limit, limited := limits[name]
		if !requested || request.Cmp(least) < 0 || limited && limit.Cmp(least) < 0 {
			return true
		}
	}
	for name, most := range x.Max {
		request, limit := requests[name], limits[name]
		if _, limited := limits[name]; !limited || limit.Cmp(most) > 0 || request.Cmp(most) > 0 {
			return true
		}
	}
	for name, most := range x.MaxLimitRequestRatio {
		request, limit := requests[name], limits[name]
		if limit.AsApproximateFloat64() > request.AsApproximateFloat64()*most.AsApproximateFloat64() || request.IsZero() {
			return true
		}
	}
	return false
}
