package planverifier

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Check names everything that p does and must not do on the cluster o at now,
// in the order of its moves. An empty answer means that every prefix of its
// calls is allowed. Rejections are looked at only as far as the plan lists them
// all (docs/reference/report.md: counts and samples agree).
func Check(o *cluster.Objects, c Rules, p plan.Plan, now time.Time) []Violation {
	r := &replay{world: look(o), rules: c, now: now, walls: map[string]wall{}, beginnings: map[string][]int{}}
	for _, wave := range r.waves(p) {
		r.wave(wave)
	}
	r.limits(p)
	r.hour(p)
	r.load(p)
	r.consistent(p)
	r.steps(p)
	return r.found
}

// replay goes through a plan's calls.
type replay struct {
	*world
	rules Rules
	now   time.Time
	found []Violation

	// live are the pods as they stand before the present wave: those that went
	// in earlier ones are replaced.
	live map[string]*corev1.Pod
	// failures are evictions that Jobs count, by Job.
	failures map[string]int
	// walls are what clocks show around now, by place, and beginnings when
	// windows open, by window.
	walls      map[string]wall
	beginnings map[string][]int
	// landed counts the replacements, to name them.
	landed int
}

func (r *replay) object(m plan.Move, code plan.Code, format string, args ...any) {
	r.found = append(r.found, Violation{m.Step, m.Pod.String(), code, fmt.Sprintf(format, args...)})
}

// call is one eviction: the move and its pod.
type call struct {
	move plan.Move
	pod  *corev1.Pod
}

// waves sorts the moves into waves and checks that they hang together. Moves of
// pods that do not exist are left out of what follows.
func (r *replay) waves(p plan.Plan) [][]call {
	r.live, r.failures = map[string]*corev1.Pod{}, map[string]int{}
	for k, pod := range r.pods {
		r.live[k] = pod
	}
	var out [][]call
	seen := map[string]bool{}
	step, wave := 0, 0
	for _, m := range p.Moves {
		if m.Step < step || m.Step > step+1 || m.Step < 1 || m.Wave < wave || m.Wave > wave+1 || m.Wave < 1 {
			r.object(m, MalformedPlan, "step %d of wave %d follows step %d of wave %d", m.Step, m.Wave, step, wave)
		}
		step = m.Step
		if m.Wave != wave {
			wave = m.Wave
			out = append(out, nil)
		}
		pod := r.pods[m.Pod.String()]
		if !r.wellNamed(m, pod) {
			continue
		}
		if seen[m.Pod.String()] {
			r.object(m, PodTwice, "it is moved before")
		}
		seen[m.Pod.String()] = true
		out[len(out)-1] = append(out[len(out)-1], call{m, pod})
	}
	return out
}

func (r *replay) wellNamed(m plan.Move, pod *corev1.Pod) bool {
	switch {
	case pod == nil:
		r.object(m, MalformedPlan, "there is no such pod")
		return false
	case string(pod.UID) != m.Pod.UID:
		r.object(m, MalformedPlan, "its UID is %s, not %s", pod.UID, m.Pod.UID)
	case pod.Spec.NodeName != m.From:
		r.object(m, MalformedPlan, "it stands on %q, not on %q", pod.Spec.NodeName, m.From)
	case m.From == m.To || r.nodes[m.To] == nil:
		r.object(m, MalformedPlan, "it goes from %q to %q", m.From, m.To)
	}
	if top := r.chains[key(pod)].top(); top != nil && (m.Owner.Kind != top.kind || m.Owner.Name != top.name) {
		r.object(m, MalformedPlan, "its owner is %s %s, not %s %s", top.kind, top.name, m.Owner.Kind, m.Owner.Name)
	}
	return true
}

// wave judges the calls of one wave, in any order, and then lets their
// replacements come up.
func (r *replay) wave(calls []call) {
	for _, c := range calls {
		for _, no := range r.guards(c.pod) {
			r.object(c.move, no.code, "%s", no.why)
		}
		r.rests(c)
		r.window(c)
		r.jobFails(c)
	}
	r.inFlight(calls)
	r.disruptions(calls)
	r.unavailable(calls)
	r.lastReady(calls)
	r.beside(calls)
	r.replace(calls)
}
