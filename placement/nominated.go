package placement

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// indexNominated finds the pods that wait for a node which preemption has
// cleared for them.
func (w *clusterState) indexNominated() {
	w.nominated = map[cluster.NodeID][]cluster.PodID{}
	for i := range w.snap.Pods {
		p := &w.snap.Pods[i]
		if p.Terminal || p.Terminating || p.Node != cluster.NoNode || p.Object.Status.NominatedNodeName == "" {
			continue
		}
		if n := w.snap.NodeByName(p.Object.Status.NominatedNodeName); n != nil {
			w.nominated[n.ID] = append(w.nominated[n.ID], p.ID)
		}
	}
}

// waiting lists the pods nominated to the node to which the newcomer must leave
// their place: of the same or a higher priority. A scheduler knows only the pods
// that are its own to place.
func (r *round) waiting(n cluster.NodeID) (out []cluster.PodID) {
	mine := schedulerOf(r.in.class.sample.Object)
	for _, p := range r.m.nominated[n] {
		c := r.m.classOf[p]
		if p != r.pod && r.m.node[p] == cluster.NoNode && c.priority >= r.in.class.priority && schedulerOf(c.sample.Object) == mine {
			out = append(out, p)
		}
	}
	return out
}

func schedulerOf(p *corev1.Pod) string {
	return cmp.Or(p.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// refusedBesideWaiting judges a node that passes once more, as if the pods that
// wait for it stood there. It disturbs the counts of the round.
func (r *round) refusedBesideWaiting(n cluster.NodeID) Filter {
	list := r.waiting(n)
	if len(list) == 0 {
		return ""
	}
	for _, p := range list {
		r.m.shift(p, n, 1)
		r.shiftEmptySelectors(p, n, 1)
	}
	again := newRound(r.m, r.buf, r.in, r.pod)
	again.beside, again.noInterPod, again.claim = list, r.idle, ""
	refused := again.refusedBy(int(n))
	for _, p := range list {
		r.m.shift(p, n, -1)
		r.shiftEmptySelectors(p, n, -1)
	}
	return refused
}

// shiftEmptySelectors counts a waiting pod for constraints with an empty
// selector: they count no pod that stands, but the scheduler adds this one.
func (r *round) shiftEmptySelectors(p cluster.PodID, n cluster.NodeID, by int32) {
	if r.m.classOf[p].namespace != r.in.class.namespace {
		return
	}
	seen := map[*counter]bool{}
	for _, c := range r.in.spread.hard {
		if c.everything && !seen[c.pods] {
			seen[c.pods] = true
			c.pods.add(n, by)
		}
	}
}

// idleInterPod reports that inter-pod affinity had nothing to judge before the
// waiting pods were added; then it is not asked about them either.
func (r *round) idleInterPod() bool {
	if len(r.in.inter.required)+len(r.in.inter.anti) > 0 {
		return false
	}
	slot := len(r.in.spread.hard)
	for range r.in.inter.existingAnti {
		for _, k := range r.buf.byDomain[slot] {
			if k > 0 {
				return false
			}
		}
		slot++
	}
	return true
}

// claimsBeside is VolumeRestrictions for claims of one pod only beside waiting
// pods: those are looked at by name, and only where the newcomer names disks.
func (r *round) claimsBeside() bool {
	if len(r.in.disks) == 0 {
		return true
	}
	for _, name := range r.in.vol.oncePod {
		if slices.ContainsFunc(r.beside, func(p cluster.PodID) bool { return slices.Contains(r.m.classOf[p].claims, name) }) {
			return false
		}
	}
	return true
}
