package summary

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// planInputs returns the data sources of the plan. planInputs includes annotations only if some of them are invalid.
func planInputs(c *search.Result, strategies []plan.StrategyState) []plan.Input {
	in := []plan.Input{describeRequestsInput(c.Snapshot, c.Problem.Now)}
	if load, known := loadInput(c); known {
		in = append(in, load)
	}
	for _, x := range [...]plan.Input{nodesInput(c, strategies, in[0].Age), otherReleasesInput(c.Snapshot, in[0].Age),
		strategiesInput(c, strategies, in[0].Age), guardsInput(c, in[0].Age)} {
		if len(x.Problems) > 0 {
			in = append(in, x)
		}
	}
	for _, left := range [...]string{leftoverHints(c.Snapshot, c.Problem.Now), expiredHints(c.Snapshot, c.Options.Pressure.Owned, c.Problem.Now)} {
		if left != "" {
			in = append(in, plan.Input{Source: "hints", Age: in[0].Age, Coverage: 1, Problems: []string{left}})
		}
	}
	if why := c.Snapshot.Objects.PlannerStateError; why != "" {
		in = append(in, plan.UnknownStateInput(in[0].Age, why))
	}
	in = append(in, unknownKinds(c.Snapshot, in[0].Age)...)
	problems := c.Account.Eligibility.Guards.Annotations.Problems(c.Snapshot, c.Options.Guards.TimeZone)
	if len(problems) == 0 {
		return in
	}
	asked := plan.Input{Source: "annotations", Age: in[0].Age, Coverage: 1, Problems: []string{}}
	for i, p := range problems {
		if i == maxProblems {
			asked.Problems = append(asked.Problems, fmt.Sprintf("... and %d more", len(problems)-i))
			break
		}
		asked.Problems = append(asked.Problems, p.String())
	}
	return append(in, asked)
}

// nodesInput counts the nodes in scope that are NotReady or have no zone label, and names uncounted domains. The pods
// of a NotReady node are uncertain.
func nodesInput(c *search.Result, strategies []plan.StrategyState, age string) plan.Input {
	in := plan.Input{Source: "nodes", Age: age, Coverage: 1, Problems: []string{}}
	all, unready, zoneless, lack := 0, 0, 0, "no label"
	if virtual := describeVirtualNodes(c); virtual != "" {
		in.Problems = append(in.Problems, virtual)
	}
	for _, problem := range []string{describeKeptNodes(c), describeUnproven(c)} {
		if problem != "" {
			in.Problems = append(in.Problems, problem)
		}
	}
	for i := range c.Snapshot.Nodes {
		n := &c.Snapshot.Nodes[i]
		if !c.Options.Guards.Scope.HasNode(n) {
			continue
		}
		all++
		if !n.Ready {
			unready++
		}
		if c.Account.Limits.Zones[n.ID] == "" {
			zoneless++
			if _, has := n.Label(limits.ZoneKey); has {
				lack = "no value in label"
			}
		}
	}
	if all == 0 {
		in.Coverage = 0
		in.Problems = append(in.Problems, "no node is in scope (nodeSelector)")
		return in
	}
	in.Coverage = plan.Round(float64(all-unready) / float64(all))
	if unready > 0 {
		in.Problems = append(in.Problems, fmt.Sprintf("%d of %d nodes in scope are not Ready: their pods stay", unready, all))
	}
	if zoneless > 0 {
		in.Problems = append(in.Problems, fmt.Sprintf("%d of %d nodes in scope have %s %s: no goal about zones sees their pods", zoneless, all, lack, limits.ZoneKey))
	}
	in.Problems = append(in.Problems, uncountedDomains(c, strategies)...)
	return in
}

// describeUnproven counts the pods that are not sent to nodes of an architecture or operating system on which their
// workloads do not run, and names some of these nodes.
func describeUnproven(c *search.Result) string {
	ofPods, nodes, count := map[int][]cluster.NodeID{}, map[cluster.NodeID]bool{}, 0
	for i := range c.Snapshot.Pods {
		p := &c.Snapshot.Pods[i]
		pods := c.End.Targets.Of(p)
		if p.Node == cluster.NoNode || p.Terminal || pods.Number == 0 || !c.Options.Guards.Scope.HasPod(c.Snapshot, p) {
			continue
		}
		refused, known := ofPods[pods.Number]
		if !known {
			refused = c.End.Targets.Unproven(p)
			ofPods[pods.Number] = refused
		}
		for _, n := range refused {
			nodes[n] = true
		}
		if len(refused) > 0 {
			count++
		}
	}
	if count == 0 {
		return ""
	}
	var names []string
	for _, n := range slices.Sorted(maps.Keys(nodes)) {
		names = append(names, c.Snapshot.Nodes[n].Name)
	}
	more := ""
	if extra := len(names) - maxNamed; extra > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", extra)
	}
	return fmt.Sprintf("%s %s not sent to nodes of an architecture or operating system where their workloads do not run "+
		"(placement.newArchitectures): %s%s", plural.Count(count, "pod"), plural.Choose(count, "is", "are"), strings.Join(names, ", "), more)
}

// describeKeptNodes names the nodes that NodeConsolidation does not empty because Karpenter never removes them.
func describeKeptNodes(c *search.Result) string {
	var names []string
	if !consolidates(c.Options.Strategies) {
		return ""
	}
	for i := range c.Snapshot.Nodes {
		n := &c.Snapshot.Nodes[i]
		if p, _ := annotation.KeepsNode(c.Snapshot, n); p != nil && c.Options.Guards.Scope.HasNode(n) {
			names = append(names, fmt.Sprintf("%s (%s/%s)", n.Name, p.Object.Namespace, p.Object.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	count, more := len(names), ""
	if extra := count - maxNamed; extra > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", extra)
	}
	return fmt.Sprintf("%s not emptied, because Karpenter never removes a node with a pod that has %s: %s%s",
		plural.Choose(count, "1 node is", fmt.Sprintf("%d nodes are", count)), annotation.KarpenterNoDisrupt, strings.Join(names, ", "), more)
}

// describeVirtualNodes counts the virtual nodes and names some of them, or returns "" if there are none.
func describeVirtualNodes(c *search.Result) string {
	var names []string
	for i := range c.Snapshot.Nodes {
		n := &c.Snapshot.Nodes[i]
		if kind := c.Options.Guards.Scope.Virtual.Kind(n.Object); kind != "" {
			names = append(names, fmt.Sprintf("%s (%s)", n.Name, kind))
		}
	}
	if len(names) == 0 {
		return ""
	}
	count, more := len(names), ""
	if extra := count - maxNamed; extra > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", extra)
	}
	return fmt.Sprintf("%s %s virtual, neither source nor target of moves: %s%s", plural.Count(count, "node"),
		plural.Choose(count, "is", "are"), strings.Join(names, ", "), more)
}

func describeRequestsInput(s *cluster.Snapshot, now time.Time) plan.Input {
	in := plan.Input{Source: "requests", Age: now.Sub(s.TakenAt).Round(time.Second).String(), Coverage: 1, Problems: []string{}}
	for _, kind := range slices.Sorted(maps.Keys(s.Objects.Skipped)) {
		in.Problems = append(in.Problems, fmt.Sprintf("%d objects of kind %s are not read", s.Objects.Skipped[kind], kind))
	}
	for _, ns := range slices.Sorted(maps.Keys(s.Objects.UnreadVersions)) {
		which := "all pods stay"
		if ns != "" {
			which = "the pods of namespace " + ns + " stay"
		}
		in.Problems = append(in.Problems, s.Objects.UnreadVersions[ns]+"; "+which)
	}
	if missing := missingNamespaces(s); missing != "" {
		in.Problems = append(in.Problems, missing)
	}
	if n := len(s.Objects.LeftOut); n > 0 {
		in.Problems = append(in.Problems, fmt.Sprintf("%s not read, such as %s (want .yaml, .yml, .json or .gz)",
			plural.Choose(n, "1 file was", fmt.Sprintf("%d files were", n)), s.Objects.LeftOut[0]))
	}
	if s.Objects.ServerVersion == "" && !s.VersionUnknown {
		in.Problems = append(in.Problems, fmt.Sprintf("the version of the server is unknown: taken as %s, that of the oldest kubelet (--kubernetes-version sets it)",
			s.Version()))
	}
	if absent := missingKinds(s.Objects); s.Objects.TakenAt.IsZero() && len(absent) > 0 {
		in.Problems = append(in.Problems, fmt.Sprintf("the snapshot, which evenkeel capture did not make, has no %s: taken as there being none", strings.Join(absent, " and no ")))
	}
	return in
}

// admissionKinds lists the kinds that decide whether the API server accepts replacements, and without which passes run:
// the input that says that they are unknown, what is not checked then, and their name for kubectl get.
var admissionKinds = []struct {
	kind, source, unchecked, resource string
	known                             func(*cluster.Objects) bool
	neededBy                          func(*corev1.PodSpec) bool // nil if every pod needs them
}{
	{cluster.KindOf[*corev1.LimitRange](), "limitRanges", "a LimitRange may refuse replacements", "limits",
		cluster.Knows[*corev1.LimitRange], nil},
	{cluster.KindOf[*corev1.ServiceAccount](), "serviceAccounts", "replacements may name a ServiceAccount that is gone", "serviceaccounts",
		cluster.Knows[*corev1.ServiceAccount], nil},
	{cluster.KindOf[*nodev1.RuntimeClass](), "runtimeClasses", "replacements may name a RuntimeClass that is gone, or land on a node without its handler", "runtimeclasses",
		cluster.Knows[*nodev1.RuntimeClass], func(s *corev1.PodSpec) bool { return s.RuntimeClassName != nil }},
	{cluster.KindOf[*schedulingv1.PriorityClass](), "priorityClasses", "replacements may name a PriorityClass that is gone", "priorityclasses",
		cluster.Knows[*schedulingv1.PriorityClass], func(s *corev1.PodSpec) bool { return s.PriorityClassName != "" }},
}

// isNeeded reports whether a pod needs an object of the kind. The pods of one template agree.
func isNeeded(s *cluster.Snapshot, neededBy func(*corev1.PodSpec) bool) bool {
	for run := range s.TemplateRuns() {
		if neededBy(&run[0].Object.Spec) {
			return true
		}
	}
	return false
}

// unknownKinds returns an input for the events and for each of the admissionKinds that are unknown. Files that list no
// kinds get one input for all.
func unknownKinds(s *cluster.Snapshot, age string) (in []plan.Input) {
	o := s.Objects
	if why := o.Unread[cluster.KindOf[*corev1.Event]()]; why != "" {
		in = append(in, plan.Input{Source: "events", Age: age, Coverage: 0, Problems: []string{
			"not every event FailedCreate is known, so a controller that cannot create pods may go unnoticed while it lacks none: " + why}})
	}
	var missing, resources []string
	for _, k := range admissionKinds {
		why, unread := o.Unread[k.kind]
		switch {
		case unread:
			in = append(in, plan.Input{Source: k.source, Age: age, Coverage: 0, Problems: []string{why + "; " + k.unchecked + ", which is not checked"}})
		case !k.known(o) && (k.neededBy == nil || isNeeded(s, k.neededBy)):
			_, kind, _ := strings.Cut(k.kind, " ")
			missing, resources = append(missing, kind), append(resources, k.resource)
		}
	}
	if len(missing) > 0 {
		in = append(in, plan.Input{Source: "admission", Age: age, Coverage: 0, Problems: []string{fmt.Sprintf(
			"the snapshot has no %s, so what they refuse is not checked; evenkeel capture reads them, or add %s to kubectl get",
			strings.Join(missing, ", no "), strings.Join(resources, ","))}})
	}
	return in
}

// missingNamespaces says which pods stay because the snapshot lacks their Namespace, or "".
func missingNamespaces(s *cluster.Snapshot) string {
	missing := map[string]bool{}
	for run := range s.TemplateRuns() {
		if ns := run[0].Object.Namespace; s.Namespace(ns) == nil {
			missing[ns] = true
		}
	}
	switch names := slices.Sorted(maps.Keys(missing)); {
	case len(names) == 0:
		return ""
	case len(s.Objects.Namespaces) == 0:
		return "the snapshot has no Namespace, so no pod can move; add namespaces to kubectl get"
	case len(names) > maxNamed:
		return fmt.Sprintf("the snapshot lacks %d Namespaces of pods, such as %s, so their pods stay; add namespaces to kubectl get", len(names), names[0])
	default:
		return fmt.Sprintf("the snapshot lacks the %s %s, so their pods stay; add namespaces to kubectl get",
			plural.Choose(len(names), "Namespace", "Namespaces"), strings.Join(names, ", "))
	}
}

// missingKinds returns the object kinds that can protect pods and of which the snapshot has none.
func missingKinds(o *cluster.Objects) []string {
	var out []string
	if len(o.Services) == 0 {
		out = append(out, "Service")
	}
	if len(o.PodDisruptionBudgets) == 0 {
		out = append(out, "PodDisruptionBudget")
	}
	return out
}
