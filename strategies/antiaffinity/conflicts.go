package antiaffinity

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
	"github.com/evenkeel-project/evenkeel/strategies/topology"
)

// conflict is two pods in one domain that a required anti-affinity term keeps apart.
type conflict struct {
	declaredBy  cluster.PodID
	pods        [2]cluster.PodID // in ascending order
	topologyKey string
	// bothDeclare is set if a term of each of the two pods selects the other.
	bothDeclare bool
}

// maxPartners limits the conflicts of one pod, over all its terms. The conflicts of a goal grow with the square of the
// pods in a domain. The conflicts that are left out follow in later passes.
const maxPartners = 50

// The terms of the pods of one namespace are compared with at most as many pods as examinedPods, and as many as
// examinedShare times the pods of the cluster, whatever these pods declare. What remains is cut as with maxPartners.
// Ordinary terms name a label of one workload, and are compared with its pods only.
const (
	examinedPods  = 4_000_000
	examinedShare = 100
)

// finder finds conflicts in a snapshot. Cost: the pods that the terms select, for each distinct
// list of terms, up to the limits of a namespace, and up to maxPartners for each pod with terms.
type finder struct {
	snapshot   *cluster.Snapshot
	scope      cluster.Scope
	index      *cluster.PodIndex
	topologies *topology.Cache
	namespaces []string         // of the snapshot's pods
	seen       map[conflict]int // by pods and topology key: the index in found
	found      []conflict
	cut        map[cluster.PodID]bool // pods with conflicts that are left out
	examined   map[string]int         // by namespace: the pods with which the terms of its pods were compared
	// last is the latest pod with terms. The pods of a controller are adjacent, and share what is cached here.
	last    *corev1.Pod
	terms   []model.AffinityTerm
	matches []map[int32]*selection // by term and domain; nil for a term that was not needed yet
}

// selection is the first pods in one domain that a term selects: one more than a pod can use, which may be one of them.
// A pod in scope conflicts with all of them, and a pod out of scope with those in scope.
type selection struct{ all, inScope []cluster.PodID }

func newFinder(s *cluster.Snapshot, scope cluster.Scope) *finder {
	f := &finder{snapshot: s, scope: scope, index: cluster.NewPodIndex(s), topologies: topology.NewCache(s, scope), seen: map[conflict]int{},
		cut: map[cluster.PodID]bool{}, examined: map[string]int{}}
	for i := range s.Pods {
		if ns := s.Pods[i].Object.Namespace; i == 0 || ns != f.namespaces[len(f.namespaces)-1] {
			f.namespaces = append(f.namespaces, ns)
		}
	}
	return f
}

// conflicts returns all conflicts with at least one pod in scope, sorted by the workload that declares the term.
func (f *finder) conflicts() []conflict {
	for i := range f.snapshot.Pods {
		p := &f.snapshot.Pods[i]
		if topology.IsRunning(p) && declaresTerms(p.Object) {
			f.readTerms(p.Object)
			for t, partners := 0, 0; t < len(f.terms) && !f.cut[p.ID]; t++ {
				partners = f.addConflicts(p, t, partners)
			}
		}
	}
	slices.SortFunc(f.found, byOwner(f.snapshot))
	return f.found
}

func declaresTerms(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// readTerms sets terms and matches for a pod. A pod with an invalid term has none: the API server rejects such pods.
func (f *finder) readTerms(p *corev1.Pod) {
	if f.last != nil && f.last.Namespace == p.Namespace && reflect.DeepEqual(f.last.Spec.Affinity.PodAntiAffinity, p.Spec.Affinity.PodAntiAffinity) {
		return
	}
	f.last, f.terms, f.matches = p, nil, nil
	terms, err := model.ReadTerms(p.Namespace, &corev1.Affinity{PodAntiAffinity: p.Spec.Affinity.PodAntiAffinity})
	if err != nil {
		return
	}
	f.terms, f.matches = terms.Anti, make([]map[int32]*selection, len(terms.Anti))
}

// selected returns the running pods that a term selects, by domain. Pods on nodes without the
// topology key conflict with no pod. The term belongs to a pod of the namespace from.
func (f *finder) selected(t *model.AffinityTerm, from string) map[int32]*selection {
	domains, out := f.topologies.Domains(t.Key), map[int32]*selection{}
	for _, ns := range f.namespaces {
		var l map[string]string
		if o := f.snapshot.Namespace(ns); o != nil {
			l = o.Labels
		}
		if !t.SelectsNamespace(ns, l) {
			continue
		}
		f.examined[from] += f.index.ForEachSelected(ns, t.Selector, func(p *cluster.Pod) {
			if !topology.IsRunning(p) {
				return
			}
			d, ok := domains.OfNode(p.Node)
			if !ok {
				return
			}
			if out[d] == nil {
				out[d] = &selection{}
			}
			if len(out[d].all) < maxPartners+2 {
				out[d].all = append(out[d].all, p.ID)
			}
			if len(out[d].inScope) < maxPartners+2 && podfilter.InScope(f.snapshot, f.scope, p) {
				out[d].inScope = append(out[d].inScope, p.ID)
			}
		})
	}
	return out
}

// addConflicts adds the conflicts that a term of a pod has. The parameter partners is the number of conflicts that the
// pod has by its earlier terms. The result includes those of this term.
func (f *finder) addConflicts(p *cluster.Pod, term, partners int) int {
	key := f.terms[term].Key
	d, ok := f.topologies.Domains(key).OfNode(p.Node)
	if !ok {
		return partners
	}
	if ns := p.Object.Namespace; f.matches[term] == nil {
		if f.examined[ns] > max(examinedPods, examinedShare*len(f.snapshot.Pods)) {
			f.cut[p.ID] = true
			return partners
		}
		f.matches[term] = f.selected(&f.terms[term], ns)
	}
	found := f.matches[term][d]
	if found == nil {
		return partners
	}
	others := found.inScope
	if podfilter.InScope(f.snapshot, f.scope, p) {
		others = found.all
	}
	for _, other := range others {
		if other == p.ID {
			continue
		}
		if partners++; partners > maxPartners {
			f.cut[p.ID] = true
			break
		}
		pair := conflict{pods: [2]cluster.PodID{min(p.ID, other), max(p.ID, other)}, topologyKey: key}
		if at, seen := f.seen[pair]; seen {
			f.found[at].bothDeclare = f.found[at].bothDeclare || f.found[at].declaredBy != p.ID
			continue
		}
		f.seen[pair] = len(f.found)
		pair.declaredBy = p.ID
		f.found = append(f.found, pair)
	}
	return partners
}
