package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// nothingInScope returns the reason if the configuration selects no node or no namespace of the cluster, or if a
// snapshot that evenkeel capture did not make has no pod.
func nothingInScope(c *search.Result) plan.Reason {
	s, scope := c.Snapshot, c.Options.Guards.Scope
	if n := len(s.Nodes); n > 0 && !slices.ContainsFunc(s.Nodes, func(n cluster.Node) bool { return scope.HasNode(&n) }) {
		return plan.Reason{Code: plan.NothingInScope, Message: fmt.Sprintf(
			"nodeSelector %s selects none of %s; correct the selector, or label nodes", scope.Nodes, plural.Count(n, "node"))}
	}
	if len(s.Pods) == 0 && s.Objects.TakenAt.IsZero() {
		return plan.Reason{Code: plan.NothingInScope, Message: fmt.Sprintf(
			"the snapshot, which evenkeel capture did not make, has %s and no Pod; add pods to kubectl get", plural.Count(len(s.Nodes), "node"))}
	}
	if len(scope.Include) == 0 && (scope.Namespaces == nil || scope.Namespaces.Empty()) {
		return plan.Reason{}
	}
	known := knownNamespaces(s)
	for name := range known {
		if scope.HasNamespace(s, name) {
			return plan.Reason{}
		}
	}
	return plan.Reason{Code: plan.NothingInScope, Message: fmt.Sprintf(
		"namespaces selects none of %s; correct namespaces.include, exclude and selector", plural.Count(len(known), "namespace"))}
}

// knownNamespaces returns the names of the namespaces and of those that occur only in pods.
func knownNamespaces(s *cluster.Snapshot) map[string]bool {
	known := map[string]bool{}
	for _, n := range s.Objects.Namespaces {
		known[n.Name] = true
	}
	for i := range s.Pods {
		known[s.Pods[i].Object.Namespace] = true
	}
	return known
}

// setStrategyScope names the selector of a strategy's own that selects nothing of what the global
// scope contains. A podSelector that selects no pod is no obstacle for a strategy that states goals
// only about violations: the pods that it is about may exist only at times.
func setStrategyScope(c *search.Result, info eligibility.Strategy, st *plan.StrategyState) {
	if info.Own == nil || info.Settings == nil {
		return
	}
	st.NothingInScope = emptyNodeOrNamespaceScope(c, info)
	none := ""
	if st.NothingInScope == "" {
		none = emptyPodScope(c, info)
	}
	switch {
	case none == "":
	case info.Needs == "":
		st.NoPodSelected = none
	default:
		st.NothingInScope = none + "; correct the selector, or label pods"
	}
}

// emptyNodeOrNamespaceScope names the nodeSelector or the namespaces of a strategy's own that
// select nothing, or returns "".
func emptyNodeOrNamespaceScope(c *search.Result, info eligibility.Strategy) string {
	s, global, own := c.Snapshot, c.Options.Guards.Scope, info.Own.Scope
	if info.Settings.NodeSelector != "" {
		if n, none := selectsNone(s.Nodes, global.HasNode, own.HasNode); none {
			return fmt.Sprintf("nodeSelector %s selects none of %s in scope; correct the selector, or label nodes", info.Settings.NodeSelector,
				plural.Count(n, "node"))
		}
	}
	if n := info.Settings.Namespaces; n != nil {
		all := 0
		for name := range knownNamespaces(s) {
			if own.HasNamespace(s, name) {
				all = 0
				break
			}
			if global.HasNamespace(s, name) {
				all++
			}
		}
		if all > 0 {
			return fmt.Sprintf("%s selects none of %s in scope; correct the selector, or label namespaces", namespacesText(n), plural.Count(all, "namespace"))
		}
	}
	return ""
}

// emptyPodScope names the podSelector of a strategy's own that selects no pod, or returns "".
func emptyPodScope(c *search.Result, info eligibility.Strategy) string {
	if info.Settings.PodSelector == "" {
		return ""
	}
	s, own := c.Snapshot, info.Own.Scope
	inNamespaces := func(p *cluster.Pod) bool { return own.HasNamespace(s, p.Object.Namespace) }
	if n, none := selectsNone(s.Pods, inNamespaces, func(p *cluster.Pod) bool { return own.HasPod(s, p) }); none {
		return fmt.Sprintf("podSelector %s selects none of %s in scope", info.Settings.PodSelector,
			plural.Count(n, "pod"))
	}
	return ""
}

// selectsNone counts the elements in scope, and reports whether there are some and none of them is selected.
func selectsNone[T any](all []T, inScope, selected func(*T) bool) (n int, none bool) {
	for i := range all {
		if !inScope(&all[i]) {
			continue
		}
		if n++; selected(&all[i]) {
			return n, false
		}
	}
	return n, n > 0
}

// ownScopeText describes the selectors of a strategy's own, or returns "" if it has none.
func ownScopeText(st *plan.StrategySettings) string {
	if st == nil {
		return ""
	}
	var out []string
	if st.NodeSelector != "" {
		out = append(out, "nodeSelector "+st.NodeSelector)
	}
	if st.Namespaces != nil {
		out = append(out, namespacesText(st.Namespaces))
	}
	if st.PodSelector != "" {
		out = append(out, "podSelector "+st.PodSelector)
	}
	return strings.Join(out, ", ")
}

// namespacesText describes which namespaces a strategy selects.
func namespacesText(n *plan.NamespaceScope) string {
	var out []string
	if len(n.Include) > 0 {
		out = append(out, "include "+strings.Join(n.Include, ", "))
	}
	if len(n.Exclude) > 0 {
		out = append(out, "exclude "+strings.Join(n.Exclude, ", "))
	}
	if n.Selector != "" {
		out = append(out, "selector "+n.Selector)
	}
	return "namespaces (" + strings.Join(out, "; ") + ")"
}
