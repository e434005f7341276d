package auditverifier

import (
	"fmt"
	"time"
)

// replay applies all changes in order and checks each eviction against the state just before it.
type replay struct {
	rules     Rules
	holders   map[string]string // identity in the Lease -> user
	pods      map[string]Pod    // by UID
	budgets   map[string]Budget
	workloads map[string]Workload
	nodes     map[string]Node
	lease     *Lease

	unseenEvictions map[string]*completedEviction // evictions whose effect is not seen yet, by UID
	inFlight        []evictionInFlight
	// pendingSince holds, by the UID of an evicted pod, when a report said that its replacement stays Pending.
	pendingSince map[string]time.Time
	done         []*completedEviction

	violations []Violation
}

// evictionInFlight is an eviction whose replacement is not Ready yet.
type evictionInFlight struct {
	*completedEviction
	since time.Time
}

func newReplay(rules Rules, holders map[string]string, done []*completedEviction) *replay {
	r := &replay{rules: rules, holders: holders, pods: map[string]Pod{}, budgets: map[string]Budget{}, workloads: map[string]Workload{},
		nodes: map[string]Node{}, unseenEvictions: map[string]*completedEviction{}}
	for _, e := range done {
		r.unseenEvictions[e.UID] = e
	}
	return r
}

func (r *replay) apply(ch Change) {
	switch {
	case ch.Pod != nil:
		if e := r.unseenEvictions[ch.Pod.UID]; e != nil && (ch.Pod.Terminating || ch.Gone) {
			delete(r.unseenEvictions, ch.Pod.UID)
			r.checkEviction(e, ch)
		}
		setOrDelete(r.pods, ch.Pod.UID, *ch.Pod, ch.Gone)
	case ch.Budget != nil:
		setOrDelete(r.budgets, ch.Budget.Namespace+"/"+ch.Budget.Name, *ch.Budget, ch.Gone)
	case ch.Workload != nil:
		setOrDelete(r.workloads, ch.Workload.Namespace+"/"+ch.Workload.App, *ch.Workload, ch.Gone)
	case ch.Node != nil:
		setOrDelete(r.nodes, ch.Node.Name, *ch.Node, ch.Gone)
	case ch.Lease != nil:
		r.lease = ch.Lease
	}
	r.removeLanded(ch.Seen)
}

func setOrDelete[V any](m map[string]V, key string, v V, gone bool) {
	if gone {
		delete(m, key)
		return
	}
	m[key] = v
}

// checkEviction checks one eviction against the cluster state just before ch, the change that ended the pod.
func (r *replay) checkEviction(e *completedEviction, ch Change) {
	before, known := r.pods[ch.Pod.UID]
	if !known {
		before = *ch.Pod
	}
	e.pod, e.zone = &before, r.nodes[before.Node].Zone
	r.done = append(r.done, e)
	fail := func(k Kind, format string, args ...any) {
		what := fmt.Sprintf("%s/%s (%s) on %s: ", e.Namespace, e.Name, e.UID, before.Node) + fmt.Sprintf(format, args...)
		r.violations = append(r.violations, Violation{Kind: k, At: e.At, User: e.User, What: what})
	}
	if why := before.Protected; why != "" {
		fail(ProtectedEvicted, "%s", why)
	}
	if r.nodes[before.Node].Excluded {
		fail(ProtectedEvicted, "the node is excluded")
	}
	if e.Deletion && !before.Failed {
		fail(ProtectedEvicted, "it was deleted, but it had not failed")
	}
	r.checkLeader(e, fail)
	if before.Ended { // budgets do not count it, and no replacement follows
		return
	}
	r.checkBudgets(before, fail)
	r.inFlight = append(r.inFlight, evictionInFlight{e, ch.Seen})
	r.checkInFlight(e, fail)
}

// checkBudgets counts the healthy pods without the victim and compares them with every budget that selects it.
func (r *replay) checkBudgets(victim Pod, fail func(Kind, string, ...any)) {
	covered := false
	for _, b := range r.budgets {
		if b.Namespace != victim.Namespace || !b.Selector.Matches(victim.Labels) {
			continue
		}
		covered = true
		healthy, expected, counted := 0, 0, map[string]bool{}
		for _, p := range r.pods {
			if p.Namespace != b.Namespace || !b.Selector.Matches(p.Labels) {
				continue
			}
			if p.Ready && p.UID != victim.UID {
				healthy++
			}
			if w, ok := r.workloads[p.workloadKey()]; ok && !counted[p.workloadKey()] {
				counted[p.workloadKey()] = true
				expected += w.Replicas
			}
		}
		if want := b.requiredHealthy(expected); healthy < want {
			fail(BudgetExceeded, "budget %s/%s requires %d of %d pods healthy; %d are left", b.Namespace, b.Name, want, expected, healthy)
		}
	}
	w, ok := r.workloads[victim.workloadKey()]
	if covered || !ok || r.rules.MaxUnavailable == 0 {
		return
	}
	if left := r.readyPods(w, victim.UID); w.Replicas-left > r.rules.MaxUnavailable {
		fail(BudgetExceeded, "%s has no budget and %d of %d pods left; at most %d may be unavailable",
			victim.workloadKey(), left, w.Replicas, r.rules.MaxUnavailable)
	}
}

// readyPods counts the Ready pods of a workload, without the pod that has the UID but.
func (r *replay) readyPods(w Workload, but string) int {
	n := 0
	for _, p := range r.pods {
		if p.UID != but && p.Ready && p.Namespace == w.Namespace && p.App == w.App {
			n++
		}
	}
	return n
}

// checkLeader checks that the user held an unexpired Lease when the eviction request arrived.
func (r *replay) checkLeader(e *completedEviction, fail func(Kind, string, ...any)) {
	switch {
	case r.lease == nil || r.lease.Holder == "":
		fail(EvictedWithoutLease, "no process held the Lease")
	case r.holders[r.lease.Holder] != e.User:
		fail(EvictedWithoutLease, "%s (%s) held the Lease", r.lease.Holder, r.holders[r.lease.Holder])
	case e.At.After(r.lease.Renewed.Add(r.lease.Duration)):
		fail(EvictedWithoutLease, "the Lease had expired at %s", r.lease.Renewed.Add(r.lease.Duration).UTC().Format("15:04:05.000"))
	}
}

// removeLanded removes the evictions that are no longer in flight: the victim is deleted and its workload has all pods
// Ready again, a report says that the replacement stays Pending, or the timeout has passed.
func (r *replay) removeLanded(now time.Time) {
	kept := r.inFlight[:0]
	for _, f := range r.inFlight {
		_, there := r.pods[f.UID]
		w, ok := r.workloads[f.pod.workloadKey()]
		pending, reported := r.pendingSince[f.UID]
		landed := !there && (!ok || r.readyPods(w, "") >= w.Replicas || reported && !now.Before(pending))
		if !landed && (r.rules.FlightTimeout == 0 || now.Sub(f.since) < r.rules.FlightTimeout) {
			kept = append(kept, f)
		}
	}
	r.inFlight = kept
}

// checkInFlight checks the limits on evictions in flight, including eviction e.
func (r *replay) checkInFlight(e *completedEviction, fail func(Kind, string, ...any)) {
	node, owner := 0, 0
	for _, f := range r.inFlight {
		if f.pod.Node == e.pod.Node {
			node++
		}
		if f.pod.workloadKey() == e.pod.workloadKey() {
			owner++
		}
	}
	over := func(name string, n, limit int) {
		if limit > 0 && n > limit {
			fail(LimitExceeded, "inFlight.%s: %d evictions in flight; the limit is %d", name, n, limit)
		}
	}
	over("total", len(r.inFlight), r.rules.FlightTotal)
	over("perNode", node, r.rules.FlightNode)
	over("perOwner", owner, r.rules.FlightOwner)
}

// evictionsWithoutChange returns a violation for each eviction whose effect is missing in the recording.
func (r *replay) evictionsWithoutChange() []Violation {
	var out []Violation
	for _, e := range r.unseenEvictions {
		out = append(out, newViolation(IncompleteRecording, e.At, e.User,
			"%s/%s (%s) was evicted, but the recording does not show that the pod ended", e.Namespace, e.Name, e.UID))
	}
	return out
}
