package names

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// Finder finds the pod, node or workload with the given name, and returns a function that explains the object. If there
// is no such pod, the error has what the state knows about its eviction.
type Finder func(s *cluster.Snapshot, st *plan.PlannerState, name string) (func(*planner.Explainer) plan.Explanation, error)

// Qualify adds the namespace to a name that lacks one. A complete name has as many slashes as given: one for a pod, two
// for a workload. If explicit, the namespace was asked for, and a name with another one is an error.
func Qualify(name, namespace string, slashes int, explicit bool) (string, error) {
	switch parts := strings.Split(name, "/"); {
	case len(parts) == slashes:
		return strings.Join(slices.Insert(parts, slashes-1, namespace), "/"), nil
	case len(parts) == slashes+1 && explicit && parts[slashes-1] != namespace:
		return "", fmt.Errorf("%s is in namespace %s, but --namespace is %s; leave one of them out", name, parts[slashes-1], namespace)
	}
	return name, nil
}

// FindPod finds a pod by NAMESPACE/NAME.
func FindPod(s *cluster.Snapshot, st *plan.PlannerState, name string) (func(*planner.Explainer) plan.Explanation, error) {
	if strings.Count(name, "/") != 1 {
		return nil, fmt.Errorf("%q is not a pod (want NAMESPACE/NAME)", name)
	}
	p := s.PodByKey(name)
	if p == nil {
		return nil, fmt.Errorf("pod %s not found; %s", name, cmp.Or(evictedText(s, st, name), podRemedy(s, name)))
	}
	return func(e *planner.Explainer) plan.Explanation { return e.Pod(p.ID) }, nil
}

// podRemedy says what to write instead of a name that no pod has.
func podRemedy(s *cluster.Snapshot, name string) string {
	ns, short, _ := strings.Cut(name, "/")
	if w := workloadByName(s, ns, short); w != "" {
		return "did you mean explain workload " + w + "?"
	}
	for i := range s.Pods {
		if o := s.Pods[i].Object; o.Name == short {
			return fmt.Sprintf("did you mean %s/%s?", o.Namespace, o.Name)
		}
	}
	return "set its namespace with -n, or write NAMESPACE/NAME"
}

// workloadByName returns KIND/NAMESPACE/NAME of a workload with this name, or "".
func workloadByName(s *cluster.Snapshot, namespace, name string) string {
	for i := range s.Workloads {
		if w := &s.Workloads[i]; w.Namespace == namespace && w.Name == name {
			return strings.ToLower(w.Kind) + "/" + namespace + "/" + name
		}
	}
	return ""
}

// FindNode finds a node by its name.
func FindNode(s *cluster.Snapshot, _ *plan.PlannerState, name string) (func(*planner.Explainer) plan.Explanation, error) {
	n := s.NodeByName(name)
	if n == nil {
		for i := range s.Nodes {
			if host, _, _ := strings.Cut(s.Nodes[i].Name, "."); host == name {
				return nil, fmt.Errorf("node %s not found (did you mean %s?)", name, s.Nodes[i].Name)
			}
		}
		return nil, fmt.Errorf("node %s not found", name)
	}
	return func(e *planner.Explainer) plan.Explanation { return e.Node(n.ID) }, nil
}

// resolveKind returns the kind for a singular, plural or short name, in upper or lower case. The name may include the
// group, as in deployments.apps. A custom kind is accepted only if the snapshot contains such a workload.
func resolveKind(s *cluster.Snapshot, text string) (string, error) {
	name, group, grouped := strings.Cut(strings.ToLower(text), ".")
	if i := indexOfKind(name); i >= 0 {
		if k := workloadKinds[i]; !grouped || k.group != "" && strings.TrimPrefix(group, "v1.") == k.group {
			return k.kind, nil
		}
	}
	for _, w := range s.Workloads {
		of, _, _ := strings.Cut(w.APIVersion, "/")
		if isSameKind(name, w.Kind) && (!grouped || group == of) {
			return w.Kind, nil
		}
	}
	var known []string
	for _, k := range workloadKinds {
		known = append(known, strings.ToLower(k.kind))
	}
	return "", fmt.Errorf("unknown kind %q; want %s", text, strings.Join(known, ", "))
}

// indexOfKind returns the index in workloadKinds for a lower-case singular, plural or short name, or -1.
func indexOfKind(name string) int {
	for i, k := range workloadKinds {
		if isSameKind(name, k.kind) || slices.Contains(k.short, name) {
			return i
		}
	}
	return -1
}

// IsKind reports whether text is the singular, plural or short name of a kind, in upper or lower case. The name may
// include the group, as in deployments.apps.
func IsKind(text, kind string) bool {
	name, _, _ := strings.Cut(strings.ToLower(text), ".")
	if i := indexOfKind(name); i >= 0 {
		return workloadKinds[i].kind == kind
	}
	return isSameKind(name, kind)
}

// isSameKind reports whether a lower-case name is the singular or plural of kind.
func isSameKind(name, kind string) bool {
	return strings.TrimSuffix(name, "s") == strings.TrimSuffix(strings.ToLower(kind), "s")
}

// FindWorkload finds a workload by KIND/NAMESPACE/NAME.
func FindWorkload(s *cluster.Snapshot, _ *plan.PlannerState, name string) (func(*planner.Explainer) plan.Explanation, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q is not a workload (want KIND/NAMESPACE/NAME, such as deployment/shop/web)", name)
	}
	kind, err := resolveKind(s, parts[0])
	if err != nil {
		if w := workloadByName(s, parts[0], parts[2]); w != "" { // NAMESPACE/NAME, to which a namespace was added
			return nil, fmt.Errorf("%s/%s has no kind; did you mean %s?", parts[0], parts[2], w)
		}
		return nil, err
	}
	i := slices.IndexFunc(s.Workloads, func(w cluster.Workload) bool {
		return w.Kind == kind && w.Namespace == parts[1] && w.Name == parts[2]
	})
	if i < 0 {
		return findWorkloadWithoutPods(s, kind, parts[1], parts[2])
	}
	return func(e *planner.Explainer) plan.Explanation { return e.Workload(s.Workloads[i].ID) }, nil
}

// findWorkloadWithoutPods finds a workload of a built-in kind that has no pods. The snapshot has objects of built-in
// kinds only, so it cannot say whether another workload without pods exists.
func findWorkloadWithoutPods(s *cluster.Snapshot, kind, namespace, name string) (func(*planner.Explainer) plan.Explanation, error) {
	text := strings.ToLower(kind) + " " + namespace + "/" + name
	if w := topLevelOwner(s, kind, namespace, name); w != nil {
		return nil, fmt.Errorf("%s is owned by another workload; explain %s/%s/%s instead", text, strings.ToLower(w.Kind), w.Namespace, w.Name)
	}
	w := s.WorkloadWithoutPods(kind, namespace, name)
	if w == nil {
		if indexOfKind(strings.ToLower(kind)) < 0 {
			text += " has no pods or"
		}
		return nil, fmt.Errorf("%s does not exist", text)
	}
	if c := metav1.GetControllerOfNoCopy(w.Object); c != nil {
		return nil, fmt.Errorf("%s is owned by another workload; explain %s/%s/%s instead", text, strings.ToLower(c.Kind), namespace, c.Name)
	}
	return func(e *planner.Explainer) plan.Explanation { return e.WorkloadWithoutPods(w) }, nil
}

// topLevelOwner returns the workload that owns a controller of pods, such as the Deployment of a ReplicaSet, or nil.
func topLevelOwner(s *cluster.Snapshot, kind, namespace, name string) *cluster.Workload {
	for i := range s.Pods {
		p := &s.Pods[i]
		c := metav1.GetControllerOf(p.Object)
		if c != nil && p.Object.Namespace == namespace && c.Kind == kind && c.Name == name {
			return s.WorkloadOf(p)
		}
	}
	return nil
}

// RejectSubject returns an error for a subject without its kind, or for names in the style of kubectl. It suggests the
// right command.
func RejectSubject(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return commandline.UnknownCommand(cmd, args[0], cmp.Or(Suggest(cmd.CommandPath(), args), commandline.NearestCommand(cmd, args[0])))
}

// Suggest returns the command below path that explains the subject of `kubectl explain` or `kubectl get`, such as
// deploy/web, deploy web or shop/web-1. It returns "" if it does not know the subject.
func Suggest(path string, args []string) string {
	kind, name, slash := strings.Cut(args[0], "/")
	if !slash && len(args) > 1 {
		name = args[1]
	}
	lower := strings.ToLower(kind)
	switch {
	case isSameKind(lower, "Pod") || lower == "po":
		return path + " pod " + cmp.Or(name, "NAME")
	case isSameKind(lower, "Node") || lower == "no":
		return path + " node " + cmp.Or(name, "NAME")
	}
	if i := indexOfKind(lower); i >= 0 {
		return path + " workload " + strings.ToLower(workloadKinds[i].kind) + "/" + cmp.Or(name, "NAME")
	}
	if slash && !strings.Contains(name, "/") {
		return path + " pod " + args[0]
	}
	return ""
}
