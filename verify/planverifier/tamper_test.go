package planverifier_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/windows"
)

// tampering breaks a valid plan, its rules or its cluster in one way. The verifier must report the
// code want for the pod that apply returns; an empty name means any pod. If the change does not fit
// the plan, apply returns false and changes nothing.
type tampering struct {
	name  string
	want  plan.Code
	apply func(m *planCase) (pod string, ok bool)
}

// plansPerTamper is the number of plans that each tampering changes.
const plansPerTamper = 5

// TestTamperedPlansAreNamed breaks valid plans in one place. The verifier must report the
// code that forbids the result.
func TestTamperedPlansAreNamed(t *testing.T) {
	t.Parallel()
	good := map[uint64]planCase{} // plans that are not changed yet
	for _, x := range slices.Concat(planTampers, limitTampers, clusterTampers, targetTampers, budgetTampers) {
		t.Run(x.name, func(t *testing.T) {
			x.check(t, plans, func(seed uint64) planCase {
				m, made := good[seed]
				if !made {
					m = makeCase(t, seed)
					good[seed] = m
				}
				return m
			}, func(seed uint64) { delete(good, seed) })
		})
	}
}

// check applies the tampering to plans that it fits, until it has changed plansPerTamper of them. Unless
// changed is nil, check calls it for each changed plan.
func (x tampering) check(t *testing.T, seeds uint64, planOf func(seed uint64) planCase, changed func(seed uint64)) {
	t.Helper()
	done := 0
	for seed := uint64(0); seed < seeds && done < plansPerTamper; seed++ {
		m := planOf(seed)
		if len(m.plan.Moves) < 2 {
			continue
		}
		pod, ok := x.apply(&m)
		if !ok {
			continue
		}
		if changed != nil {
			changed(seed)
		}
		done++
		if found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt); !hasViolation(found, pod, x.want) {
			t.Errorf("seed %d: want %s about %q, found %v", seed, x.want, pod, found)
		}
	}
	if done < plansPerTamper {
		t.Errorf("the change applies to only %d plans", done)
	}
}

func hasViolation(found []planverifier.Violation, pod string, code plan.Code) bool {
	return slices.ContainsFunc(found, func(v planverifier.Violation) bool { return v.Code == code && (pod == "" || v.Pod == pod) })
}

// TestRefusalsCarriedOutAreNamed adds a move for a pod that the plan rejects. The verifier
// must report the code of the rejection.
func TestRefusalsCarriedOutAreNamed(t *testing.T) {
	t.Parallel()
	placement := []plan.Code{plan.NoTargetFits, plan.WouldReturn, plan.UncertainLanding, plan.PlacementUnknown}
	tried, missed := map[plan.Code]int{}, map[plan.Code]int{}
	for seed := range uint64(plans / 8) {
		good := makeCase(t, seed)
		here := map[plan.Code]int{}
		for _, no := range good.plan.Rejections.Samples {
			switch {
			case slices.Contains(placement, no.Reason.Code):
				continue // the verifier does not predict landings
			case no.Reason.Code == plan.LimitPerOwner && hasNoOwner(good, no.Pod.String()):
				continue // the planner is stricter: it counts all bare pods as one workload
			}
			if here[no.Reason.Code]++; here[no.Reason.Code] > 4 {
				continue
			}
			m := good
			m.plan.Moves = insertMove(good.plan.Moves, moveToOtherNode(m, no.Pod.String()))
			tried[no.Reason.Code]++
			about := no.Pod.String()
			if strings.HasPrefix(string(no.Reason.Code), "Limit") || no.Reason.Code == plan.JobWouldFail {
				about = "" // the verifier reports the last move that exceeds the limit
			}
			if found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt); !hasViolation(found, about, no.Reason.Code) {
				if missed[no.Reason.Code]++; missed[no.Reason.Code] <= 3 {
					t.Errorf("seed %d: %s is rejected with %s (%s), but the verifier reports %v", seed, no.Pod, no.Reason.Code, no.Reason.Message, found)
				}
			}
		}
	}
	t.Logf("rejected pods that were moved, by code:\n%s", countTable(tried))
}

func hasNoOwner(m planCase, name string) bool {
	return slices.ContainsFunc(m.o.Pods, func(p *corev1.Pod) bool {
		return p.Namespace+"/"+p.Name == name && len(p.OwnerReferences) == 0
	})
}

// insertMove inserts a move at the end of the first wave.
func insertMove(moves []plan.Move, m plan.Move) []plan.Move {
	at := slices.IndexFunc(moves, func(x plan.Move) bool { return x.Wave > 1 })
	if at < 0 {
		at = len(moves)
	}
	out := slices.Insert(slices.Clone(moves), at, m)
	for i := range out {
		out[i].Step = i + 1
	}
	return out
}

// moveToOtherNode returns a move of the pod to a node other than its own.
func moveToOtherNode(m planCase, name string) plan.Move {
	for _, p := range m.o.Pods {
		if p.Namespace+"/"+p.Name != name {
			continue
		}
		to := m.o.Nodes[0].Name
		if to == p.Spec.NodeName {
			to = m.o.Nodes[1].Name
		}
		return plan.Move{Pod: plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)}, From: p.Spec.NodeName, To: to, Wave: 1}
	}
	panic("no pod " + name)
}

// planTampers change the plan itself so that it is invalid.
var planTampers = []tampering{
	{"a pod is moved twice", planverifier.PodTwice, func(m *planCase) (string, bool) {
		m.plan.Moves = insertMove(m.plan.Moves, m.plan.Moves[0])
		return m.plan.Moves[0].Pod.String(), true
	}},
	{"a pod that does not exist", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.Pod.Name = "nobody" })},
	{"another pod of the same name", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.Pod.UID = "another" })},
	{"from another node", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.From = x.To })},
	{"to its own node", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.To = x.From })},
	{"to a node that does not exist", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.To = "nowhere" })},
	{"another owner", planverifier.MalformedPlan, func(m *planCase) (string, bool) {
		for i := range m.plan.Moves {
			if x := &m.plan.Moves[i]; x.Owner.Kind == "Deployment" {
				x.Owner.Name += "x"
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
	{"a missing step", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.Step++ })},
	{"a missing wave", planverifier.MalformedPlan, func(m *planCase) (string, bool) {
		x := &m.plan.Moves[len(m.plan.Moves)-1]
		x.Wave += 2
		return x.Pod.String(), true
	}},
	{"waves in reverse order", planverifier.MalformedPlan, func(m *planCase) (string, bool) {
		moves := m.plan.Moves
		if moves[len(moves)-1].Wave == 1 {
			return "", false
		}
		slices.Reverse(moves)
		return "", true
	}},
	{"a rejection without a sample", planverifier.MalformedPlan, func(m *planCase) (string, bool) {
		r := &m.plan.Rejections
		if len(r.Samples) == 0 {
			return "", false
		}
		r.Samples = r.Samples[1:]
		return "", true
	}},
	{"a pod that stays without a rejection", planverifier.UnexplainedStay, func(m *planCase) (string, bool) {
		r := &m.plan.Rejections
		for i, no := range r.Samples {
			for _, g := range m.plan.Goals {
				if g.Kind == plan.NodeBelow && g.Resource == "cpu" && g.Subject.Name == no.Node && m.plan.After.Excess[g.ID] > 0 {
					r.Samples = slices.Delete(r.Samples, i, i+1)
					if r.Counts[no.Reason.Code]--; r.Counts[no.Reason.Code] == 0 {
						delete(r.Counts, no.Reason.Code)
					}
					return no.Pod.String(), true
				}
			}
		}
		return "", false
	}},
	{"a move without notAfter", planverifier.WindowNotWatched, func(m *planCase) (string, bool) {
		for i := range m.plan.Moves {
			if x := &m.plan.Moves[i]; !x.NotAfter.IsZero() {
				x.NotAfter = time.Time{}
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
	{"a notAfter after the window closes", planverifier.WindowNotWatched, func(m *planCase) (string, bool) {
		for i := range m.plan.Moves {
			if x := &m.plan.Moves[i]; !x.NotAfter.IsZero() {
				x.NotAfter = x.NotAfter.Add(time.Hour)
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
	{"all windows are closed", plan.OutsideWindow, func(m *planCase) (string, bool) {
		m.rules.Deny = append(m.rules.Deny, windows.Window{Fields: "0 0 * * *", Length: 24 * time.Hour, Location: time.UTC})
		return m.plan.Moves[0].Pod.String(), true
	}},
}

// editFirstMove changes the first move. The returned function also returns the pod that the violation must name.
func editFirstMove(f func(m *planCase, x *plan.Move)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		x := &m.plan.Moves[0]
		f(m, x)
		return x.Pod.String(), true
	}
}

// maxMovesPer groups the moves by the key that groupOf returns. maxMovesPer returns the size of the largest group
// and the last pod of that group.
func maxMovesPer(m *planCase, of func(x plan.Move, p *corev1.Pod) string) (n int, pod string) {
	counts := map[string]int{}
	for _, x := range m.plan.Moves {
		k := of(x, m.pod(x))
		if k == "" {
			continue
		}
		if counts[k]++; counts[k] > n {
			n, pod = counts[k], x.Pod.String()
		}
	}
	return n, pod
}

// pod returns the pod of a move.
func (m *planCase) pod(x plan.Move) *corev1.Pod {
	for _, p := range m.o.Pods {
		if p.Namespace == x.Pod.Namespace && p.Name == x.Pod.Name {
			return p
		}
	}
	panic("no pod " + x.Pod.String())
}
