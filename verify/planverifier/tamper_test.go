package planverifier_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
)

// tampering breaks a good plan, its rules or its cluster in one way; want is what
// the verifier must say, and about which pod ("": whichever). It answers false,
// and changes nothing, where the plan does not lend itself to it.
type tampering struct {
	name  string
	want  plan.Code
	apply func(m *planCase) (pod string, ok bool)
}

// each tamper is tried on as many good plans.
const plansPerTamper = 5

// TestTamperedPlansAreNamed: what was found good is broken in one place, and the
// verifier names the code that forbids it.
func TestTamperedPlansAreNamed(t *testing.T) {
	t.Parallel()
	good := map[uint64]planCase{} // plans that no tamper has touched
	all := slices.Concat(planTampers, limitTampers, clusterTampers, budgetTampers)
	for _, x := range all {
		t.Run(x.name, func(t *testing.T) {
			done := 0
			for seed := uint64(0); seed < plans && done < plansPerTamper; seed++ {
				m, made := good[seed]
				if !made {
					m = makePlan(t, seed)
					good[seed] = m
				}
				if len(m.plan.Moves) < 2 {
					continue
				}
				pod, ok := x.apply(&m)
				if !ok {
					continue
				}
				delete(good, seed)
				done++
				found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt)
				if !hasViolation(found, pod, x.want) {
					t.Errorf("seed %d: want %s about %q, found %v", seed, x.want, pod, found)
				}
			}
			if done < plansPerTamper {
				t.Errorf("only %d plans lend themselves to it", done)
			}
		})
	}
	t.Logf("%d ways to break a plan, each on %d plans", len(all), plansPerTamper)
}

func hasViolation(found []planverifier.Violation, pod string, code plan.Code) bool {
	return slices.ContainsFunc(found, func(v planverifier.Violation) bool { return v.Code == code && (pod == "" || v.Pod == pod) })
}

// TestRefusalsCarriedOutAreNamed: a move is added for a pod that the plan refuses
// to move, and the verifier names the very code of the refusal.
func TestRefusalsCarriedOutAreNamed(t *testing.T) {
	t.Parallel()
	placement := []plan.Code{plan.NoTargetFits, plan.WouldReturn, plan.UncertainLanding, plan.PlacementUnknown}
	tried, missed := map[plan.Code]int{}, map[plan.Code]int{}
	for seed := range uint64(plans / 8) {
		good := makePlan(t, seed)
		here := map[plan.Code]int{}
		for _, no := range good.plan.Rejections.Samples {
			switch {
			case slices.Contains(placement, no.Reason.Code):
				continue // where a replacement lands is not for the verifier to decide
			case no.Reason.Code == plan.LimitPerOwner && hasNoOwner(good, no.Pod.String()):
				continue // the planner takes all bare pods for one workload, which is stricter
			}
			if here[no.Reason.Code]++; here[no.Reason.Code] > 4 {
				continue
			}
			m := good
			m.plan.Moves = withMove(good.plan.Moves, moveOf(m, no.Pod.String()))
			tried[no.Reason.Code]++
			about := no.Pod.String()
			if strings.HasPrefix(string(no.Reason.Code), "Limit") || no.Reason.Code == plan.JobWouldFail {
				about = "" // it is the last one that is too many
			}
			if found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt); !hasViolation(found, about, no.Reason.Code) {
				if missed[no.Reason.Code]++; missed[no.Reason.Code] <= 3 {
					t.Errorf("seed %d: %s stays for %s (%s), the verifier says %v", seed, no.Pod, no.Reason.Code, no.Reason.Message, found)
				}
			}
		}
	}
	t.Logf("refusals carried out, by code:\n%s", countTable(tried))
}

func hasNoOwner(m planCase, name string) bool {
	return slices.ContainsFunc(m.o.Pods, func(p *corev1.Pod) bool {
		return p.Namespace+"/"+p.Name == name && len(p.OwnerReferences) == 0
	})
}

// withMove puts a move at the end of the first wave.
func withMove(moves []plan.Move, m plan.Move) []plan.Move {
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

// moveOf is a move of a pod to some other node.
func moveOf(m planCase, name string) plan.Move {
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

// planTampers break the plan itself.
var planTampers = []tampering{
	{"a pod is moved twice", planverifier.PodTwice, func(m *planCase) (string, bool) {
		m.plan.Moves = withMove(m.plan.Moves, m.plan.Moves[0])
		return m.plan.Moves[0].Pod.String(), true
	}},
	{"a pod that is not there", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.Pod.Name = "nobody" })},
	{"a namesake", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.Pod.UID = "another" })},
	{"from another node", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.From = x.To })},
	{"to its own node", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.To = x.From })},
	{"to no node", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.To = "nowhere" })},
	{"of another owner", planverifier.MalformedPlan, func(m *planCase) (string, bool) {
		for i := range m.plan.Moves {
			if x := &m.plan.Moves[i]; x.Owner.Kind == "Deployment" {
				x.Owner.Name += "x"
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
	{"a step is left out", planverifier.MalformedPlan, editFirstMove(func(m *planCase, x *plan.Move) { x.Step++ })},
	{"a wave is left out", planverifier.MalformedPlan, func(m *planCase) (string, bool) {
		x := &m.plan.Moves[len(m.plan.Moves)-1]
		x.Wave += 2
		return x.Pod.String(), true
	}},
	{"a later wave first", planverifier.MalformedPlan, func(m *planCase) (string, bool) {
		moves := m.plan.Moves
		if moves[len(moves)-1].Wave == 1 {
			return "", false
		}
		slices.Reverse(moves)
		return "", true
	}},
	{"a refusal is not listed", planverifier.MalformedPlan, func(m *planCase) (string, bool) {
		r := &m.plan.Rejections
		if len(r.Samples) == 0 {
			return "", false
		}
		r.Samples = r.Samples[1:]
		return "", true
	}},
	{"a refusal is kept secret", planverifier.UnexplainedStay, func(m *planCase) (string, bool) {
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
	{"a window that is not watched", planverifier.WindowNotWatched, func(m *planCase) (string, bool) {
		for i := range m.plan.Moves {
			if x := &m.plan.Moves[i]; !x.NotAfter.IsZero() {
				x.NotAfter = time.Time{}
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
	{"a window that is watched too long", planverifier.WindowNotWatched, func(m *planCase) (string, bool) {
		for i := range m.plan.Moves {
			if x := &m.plan.Moves[i]; !x.NotAfter.IsZero() {
				x.NotAfter = x.NotAfter.Add(time.Hour)
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
	{"all windows are closed", plan.OutsideWindow, func(m *planCase) (string, bool) {
		m.rules.Deny = append(m.rules.Deny, planverifier.Window{Fields: "0 0 * * *", Length: 24 * time.Hour, Location: time.UTC})
		return m.plan.Moves[0].Pod.String(), true
	}},
}

// editFirstMove changes the first move; what is wrong is then said about its pod.
func editFirstMove(f func(m *planCase, x *plan.Move)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		x := &m.plan.Moves[0]
		f(m, x)
		return x.Pod.String(), true
	}
}

// maxMovesPer counts the moves by what `of` says and returns the largest count and the
// last pod that makes it.
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

// pod of a move.
func (m *planCase) pod(x plan.Move) *corev1.Pod {
	for _, p := range m.o.Pods {
		if p.Namespace == x.Pod.Namespace && p.Name == x.Pod.Name {
			return p
		}
	}
	panic("no pod " + x.Pod.String())
}
