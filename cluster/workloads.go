package cluster

import (
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// maxOwnerDepth limits the length of an owner chain, because owner references may form a cycle.
const maxOwnerDepth = 8

// owner is an object that controls pods or other owners.
type owner struct {
	apiVersion, kind string
	object           metav1.Object
	replicas         int32 // -1 if the kind has no number of replicas
}

// ownerIndex finds controllers by UID. Hand-written snapshots may lack UIDs, so it also finds
// controllers by namespace, kind and name.
type ownerIndex struct {
	byUID  map[string]*owner
	byName map[ownerName]*owner
}

type ownerName struct{ namespace, group, kind, name string }

func apiGroup(apiVersion string) string { return schema.FromAPIVersionAndKind(apiVersion, "").Group }

func (b *builder) indexOwners() *ownerIndex {
	n := len(b.o.ReplicaSets) + len(b.o.Deployments) // usually most owners
	x := &ownerIndex{make(map[string]*owner, n), make(map[ownerName]*owner, n)}
	addOwners(b, x, "apps/v1", b.o.ReplicaSets)
	addOwners(b, x, "v1", b.o.ReplicationControllers)
	addOwners(b, x, "apps/v1", b.o.Deployments)
	addOwners(b, x, "apps/v1", b.o.StatefulSets)
	addOwners(b, x, "apps/v1", b.o.DaemonSets)
	addOwners(b, x, "batch/v1", b.o.Jobs)
	addOwners(b, x, "batch/v1", b.o.CronJobs)
	return x
}

func addOwners[T object](b *builder, x *ownerIndex, apiVersion string, list []T) {
	kind, group, twice := reflect.TypeFor[T]().Elem().Name(), apiGroup(apiVersion), []T(nil)
	for _, o := range list {
		key := ownerName{o.GetNamespace(), group, kind, o.GetName()}
		if x.byName[key] != nil {
			twice = append(twice, o)
			continue
		}
		w := &owner{apiVersion, kind, o, desiredReplicas(o)}
		x.byName[key] = w
		if uid := string(o.GetUID()); uid != "" {
			x.byUID[uid] = w
		}
	}
	for _, o := range sortedByName(twice) {
		b.addError("%s %s/%s occurs twice in the snapshot", kind, o.GetNamespace(), o.GetName())
	}
}

// desiredReplicas returns how many pods an owner wants to run, or -1 if its kind has no such
// number.
func desiredReplicas(x object) int32 {
	switch o := x.(type) {
	case *appsv1.DaemonSet, *batchv1.CronJob:
		return -1
	case *batchv1.Job:
		n := ReplicasOrDefault(o.Spec.Parallelism)
		if c := o.Spec.Completions; c != nil { // the Job needs no more pods than completions
			n = max(0, min(n, *c-o.Status.Succeeded))
		}
		return n
	}
	return ReplicasOrDefault(specReplicas(x))
}

// ReplicasOrDefault returns the number of replicas, or 1 if n is nil.
func ReplicasOrDefault(n *int32) int32 { return ptr.Deref(n, 1) }

func (x *ownerIndex) find(ns string, ref *metav1.OwnerReference) *owner {
	if ref.UID != "" {
		if w := x.byUID[string(ref.UID)]; w != nil {
			return w
		}
	}
	w := x.byName[ownerName{ns, apiGroup(ref.APIVersion), ref.Kind, ref.Name}]
	if w != nil && ref.UID != "" && w.object.GetUID() != "" {
		return nil // another object with the same name
	}
	return w
}

// ownerChain is the chain of owners from a controller reference to the workload.
type ownerChain struct {
	top     *metav1.OwnerReference // reference to the workload
	found   *owner                 // the workload; nil if it is not in the snapshot
	owners  []metav1.Object        // the owners found, lowest first; includes the CronJob above a Job
	lowest  *owner                 // the first of owners
	missing *metav1.OwnerReference // the reference to an object that is not in the snapshot, at which the chain ends

	workload *Workload // the workload of all pods with this controller
	mark     MarkState // of the owners and their namespace
}

// resolveChain follows controller references to the topmost owner that is in the snapshot and manages pods. An object
// above it that is not read, such as the custom resource of an operator, may have several of them, which must not share
// replicas and spread. A ReplicaSet or a ReplicationController below such an object is a revision of it, as of a
// Deployment, so the object is the workload.
func (x *ownerIndex) resolveChain(ns string, ref *metav1.OwnerReference) ownerChain {
	c := ownerChain{top: ref}
	for depth := 0; depth < maxOwnerDepth; depth++ {
		w := x.find(ns, ref)
		if w == nil {
			c.missing = ref
			if c.found == nil || c.found.kind == "ReplicaSet" || c.found.kind == "ReplicationController" {
				c.top, c.found = ref, nil
			}
			return c
		}
		c.top, c.found = ref, w
		c.owners = append(c.owners, w.object)
		if c.lowest == nil {
			c.lowest = w
		}
		above := metav1.GetControllerOfNoCopy(w.object)
		switch {
		case above == nil:
			return c
		case w.kind == "Job": // a CronJob does not replace pods, but its annotations apply to them
			if cron := x.find(ns, above); cron != nil {
				c.owners = append(c.owners, cron.object)
			} else {
				c.missing = above
			}
			return c
		}
		ref = above
	}
	c.found, c.missing = nil, ref
	return c
}

// controllerKey identifies the controller that a pod refers to, in any API version.
type controllerKey struct{ namespace, group, kind, name, uid string }

func newControllerKey(p *Pod) controllerKey {
	c := p.Controller
	return controllerKey{p.Object.Namespace, apiGroup(c.APIVersion), c.Kind, c.Name, string(c.UID)}
}

// addWorkloads assigns a workload to every pod. Pods of one controller share an owner chain.
func (b *builder) addWorkloads() {
	x, markOf := b.indexOwners(), b.index.inheritedMarks()
	chains := make(map[controllerKey]*ownerChain, len(x.byName)/2) // a Deployment has a ReplicaSet
	byKey := make(map[string]*Workload, len(x.byName)/2)
	ofPod := make([]*Workload, len(b.s.Pods))
	var c *ownerChain // of the pod before
	for i := range b.s.Pods {
		p := &b.s.Pods[i]
		if p.Controller == nil {
			continue
		}
		if c != nil && p.HasTemplateOf(&b.s.Pods[i-1]) {
			p.MissingOwner, p.Owners, p.InheritedMark, ofPod[i] = c.missing, c.owners, c.mark, c.workload
			continue
		}
		from := newControllerKey(p)
		c = chains[from]
		if c == nil {
			got := x.resolveChain(p.Object.Namespace, p.Controller)
			c = &got
			c.mark = markOf(c.owners, b.s.Namespace(p.Object.Namespace))
			c.workload = b.findOrAddWorkload(byKey, p.Object.Namespace, c)
			if c.found == nil && c.lowest != nil {
				c.workload.addOwnerReplicas(c.lowest.replicas)
			}
			chains[from] = c
		}
		p.MissingOwner, p.Owners, p.InheritedMark, ofPod[i] = c.missing, c.owners, c.mark, c.workload
	}
	b.assignWorkloadIDs(byKey, ofPod)
}

func (b *builder) findOrAddWorkload(byKey map[string]*Workload, ns string, c *ownerChain) *Workload {
	w := newWorkload(ns, c.top, c.found)
	key := strings.Join([]string{w.Namespace, w.Name, w.Kind, w.APIVersion, w.UID}, "\x00")
	if byKey[key] == nil {
		byKey[key] = &w
	}
	return byKey[key]
}

// addOwnerReplicas adds the replicas of an owner below a workload that is not in the snapshot.
func (w *Workload) addOwnerReplicas(n int32) {
	if n >= 0 {
		w.Replicas = max(0, w.Replicas) + n
	}
}

// assignWorkloadIDs adds the workloads to the snapshot in order and assigns the pods to them.
func (b *builder) assignWorkloadIDs(byKey map[string]*Workload, ofPod []*Workload) {
	b.s.Workloads = slices.Grow(b.s.Workloads, len(byKey))
	for _, key := range sortedKeys(byKey) {
		w := byKey[key]
		w.ID = WorkloadID(len(b.s.Workloads))
		b.s.Workloads = append(b.s.Workloads, *w)
	}
	counts := make([]int, len(b.s.Workloads))
	for _, of := range ofPod {
		if of != nil {
			counts[of.ID]++
		}
	}
	for i, of := range ofPod {
		if of == nil {
			continue
		}
		p := &b.s.Pods[i]
		p.Workload = of.ID
		w := &b.s.Workloads[p.Workload]
		if w.Pods == nil && !p.Terminal {
			w.Pods = make([]PodID, 0, counts[of.ID])
		}
		if p.Terminal {
			w.TerminalPods = append(w.TerminalPods, p.ID)
		} else {
			w.Pods = append(w.Pods, p.ID)
		}
	}
}

// WorkloadWithoutPods returns the object of a built-in kind that can own pods, as a workload, or nil if the snapshot
// has no such object. Workloads does not contain it unless it has pods.
func (s *Snapshot) WorkloadWithoutPods(kind, namespace, name string) *Workload {
	owners := (&builder{o: s.Objects, s: &Snapshot{}}).indexOwners().byName
	for _, apiVersion := range [...]string{"apps/v1", "batch/v1", "v1"} {
		if found := owners[ownerName{namespace, apiGroup(apiVersion), kind, name}]; found != nil {
			w := newWorkload(namespace, nil, found)
			w.ID = NoWorkload
			return &w
		}
	}
	return nil
}

func newWorkload(ns string, ref *metav1.OwnerReference, found *owner) Workload {
	if found == nil {
		return Workload{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ns, Name: ref.Name, UID: string(ref.UID), Replicas: -1}
	}
	return Workload{
		APIVersion: found.apiVersion, Kind: found.kind, Namespace: ns, Name: found.object.GetName(),
		UID: string(found.object.GetUID()), Replicas: found.replicas, Object: found.object,
	}
}

func (b *builder) addServices() {
	for _, o := range sortedByName(b.o.Services) {
		svc := Service{ID: ServiceID(len(b.s.Services)), Object: o, Selector: labels.Nothing()}
		if len(o.Spec.Selector) > 0 {
			svc.Selector = labels.SelectorFromSet(o.Spec.Selector)
		}
		b.podIndex.ForEachSelected(o.Namespace, svc.Selector, func(p *Pod) {
			p.Services = append(p.Services, svc.ID)
			if !p.Terminal {
				svc.Pods = append(svc.Pods, p.ID)
				if p.Ready && !p.Terminating {
					svc.Ready++
				}
			}
		})
		b.s.Services = append(b.s.Services, svc)
	}
}

// addBudgets matches budgets to pods as policy/v1 does: an empty selector selects every pod of
// the namespace, a missing selector selects none.
func (b *builder) addBudgets() {
	seen := map[string]bool{}
	for _, o := range sortedByName(b.o.PodDisruptionBudgets) {
		name := o.Namespace + "/" + o.Name
		if seen[name] {
			b.addError("PodDisruptionBudget %s occurs twice in the snapshot", name)
			continue
		}
		seen[name] = true
		sel, err := metav1.LabelSelectorAsSelector(o.Spec.Selector)
		if err != nil {
			sel = labels.Everything()
		}
		budget := Budget{ID: BudgetID(len(b.s.Budgets)), Object: o, Selector: sel, Unreadable: selectorError(err)}
		b.podIndex.ForEachSelected(o.Namespace, sel, func(p *Pod) {
			p.Budgets = append(p.Budgets, budget.ID)
			budget.Pods = append(budget.Pods, p.ID)
		})
		b.s.Budgets = append(b.s.Budgets, budget)
	}
}

// selectorError explains why a stored selector is invalid. API servers keep stored selectors that
// newer versions would reject.
func selectorError(err error) string {
	if err == nil {
		return ""
	}
	text, _, _ := strings.Cut(err.Error(), " (e.g. ") // the rest of the text is a regular expression
	return text
}
