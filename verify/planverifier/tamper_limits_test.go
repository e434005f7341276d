package planverifier_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/windows"
)

// setLimitBelowUse sets a limit to one less than the plan uses.
func setLimitBelowUse(limit func(r *planverifier.Rules) *planverifier.Limit,
	of func(x plan.Move, p *corev1.Pod) string) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		n, pod := maxMovesPer(m, of)
		if n > 0 {
			*limit(&m.rules) = planverifier.Limit{N: n - 1}
		}
		return pod, n > 0
	}
}

// lowerHourlyLimit clears the planner state and sets an hourly limit to one less than the plan uses.
func lowerHourlyLimit(limit func(r *planverifier.Rules) *planverifier.Limit,
	of func(x plan.Move, p *corev1.Pod) string) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		m.rules.State = plan.PlannerState{}
		return setLimitBelowUse(limit, of)(m)
	}
}

func ownerKey(x plan.Move) string {
	if x.Owner.Kind == "Pod" {
		return ""
	}
	return x.Pod.Namespace + "/" + x.Owner.Kind + "/" + x.Owner.Name
}

// openWindowWith opens two windows. The more generous one has a limit of one less than the plan uses. A window without
// limits is closed.
func openWindowWith(limit func(l *planverifier.WindowLimits) *planverifier.Limit,
	of func(x plan.Move, p *corev1.Pod) string) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		n, pod := maxMovesPer(m, of)
		if n == 0 || len(m.rules.Allow) > 0 {
			return "", false
		}
		m.rules.State = plan.PlannerState{}
		low := unlimited()
		*limit(&low) = planverifier.Limit{N: n - 1}
		lower := unlimited()
		*limit(&lower) = planverifier.Limit{N: 0}
		m.rules.Allow = []windows.Window{alwaysOpen, alwaysClosed, alwaysOpen}
		m.rules.WindowLimits = map[int]planverifier.WindowLimits{0: lower, 2: low}
		return pod, true
	}
}

// A window that is open all day, and one that is open for the first minute of leap days.
var (
	alwaysOpen   = windows.Window{Fields: "0 0 * * *", Length: 24 * time.Hour, Location: time.UTC}
	alwaysClosed = windows.Window{Fields: "0 0 29 2 *", Length: time.Minute, Location: time.UTC}
)

func unlimited() planverifier.WindowLimits {
	no := planverifier.Limit{Unlimited: true}
	return planverifier.WindowLimits{PerPass: no, PerNode: no, PerNamespace: no, PerOwner: no, PerZone: no,
		PerHourOwner: no, PerHourNamespace: no, PerHourCluster: no}
}

// TestLimitsOfWindowsApplyOnlyIfEachOpenWindowHasLimits: beside a window with a limit that the plan
// exceeds, another window is open, without limits or with more generous ones.
func TestLimitsOfWindowsApplyOnlyIfEachOpenWindowHasLimits(t *testing.T) {
	all := func(plan.Move, *corev1.Pod) string { return "all" }
	perPass := func(l *planverifier.WindowLimits) *planverifier.Limit { return &l.PerPass }
	tried := 0
	for seed := uint64(0); tried < 3; seed++ {
		m := makeCase(t, seed)
		if _, ok := openWindowWith(perPass, all)(&m); !ok || len(m.plan.Moves) < 2 {
			continue
		}
		tried++
		for name, change := range map[string]func(map[int]planverifier.WindowLimits){
			"without limits": func(l map[int]planverifier.WindowLimits) { delete(l, 0) },
			"more generous":  func(l map[int]planverifier.WindowLimits) { l[0] = unlimited() },
		} {
			rules := m.rules
			rules.WindowLimits = maps.Clone(rules.WindowLimits)
			change(rules.WindowLimits)
			if found := planverifier.Check(m.o, rules, m.plan, m.o.TakenAt); hasViolation(found, "", plan.LimitPerPass) {
				t.Errorf("seed %d: a window %s: %v", seed, name, found)
			}
		}
	}
}

// limitTampers make a plan exceed a limit by one.
var limitTampers = []tampering{
	{"one more than perPass", plan.LimitPerPass, setLimitBelowUse(func(r *planverifier.Rules) *planverifier.Limit { return &r.PerPass },
		func(x plan.Move, p *corev1.Pod) string { return "all" })},
	{"one more than perNode", plan.LimitPerNode, setLimitBelowUse(func(r *planverifier.Rules) *planverifier.Limit { return &r.PerNode },
		func(x plan.Move, p *corev1.Pod) string { return x.From })},
	{"one more than perNamespace", plan.LimitPerNamespace,
		setLimitBelowUse(func(r *planverifier.Rules) *planverifier.Limit { return &r.PerNamespace },
			func(x plan.Move, p *corev1.Pod) string { return x.Pod.Namespace })},
	{"one more than perOwner", plan.LimitPerOwner, setLimitBelowUse(func(r *planverifier.Rules) *planverifier.Limit { return &r.PerOwner },
		func(x plan.Move, p *corev1.Pod) string { return ownerKey(x) })},
	{"one more than perZone", plan.LimitPerZone, func(m *planCase) (string, bool) {
		return setLimitBelowUse(func(r *planverifier.Rules) *planverifier.Limit { return &r.PerZone }, func(x plan.Move, p *corev1.Pod) string {
			for _, n := range m.o.Nodes {
				if n.Name == x.From {
					return n.Labels["topology.kubernetes.io/zone"]
				}
			}
			return ""
		})(m)
	}},
	{"one more than perHour.owner", plan.LimitPerHour,
		lowerHourlyLimit(func(r *planverifier.Rules) *planverifier.Limit { return &r.PerHourOwner },
			func(x plan.Move, p *corev1.Pod) string {
				if ownerKey(x) == "" {
					return x.Pod.String()
				}
				return ownerKey(x)
			})},
	{"one more than perHour.namespace", plan.LimitPerHour,
		lowerHourlyLimit(func(r *planverifier.Rules) *planverifier.Limit { return &r.PerHourNamespace },
			func(x plan.Move, p *corev1.Pod) string { return x.Pod.Namespace })},
	{"one more than perHour.cluster", plan.LimitPerHour,
		lowerHourlyLimit(func(r *planverifier.Rules) *planverifier.Limit { return &r.PerHourCluster },
			func(x plan.Move, p *corev1.Pod) string { return "all" })},
	{"one more than the perPass of a window", plan.LimitPerPass,
		openWindowWith(func(l *planverifier.WindowLimits) *planverifier.Limit { return &l.PerPass },
			func(plan.Move, *corev1.Pod) string { return "all" })},
	{"one more than the perNode of a window", plan.LimitPerNode,
		openWindowWith(func(l *planverifier.WindowLimits) *planverifier.Limit { return &l.PerNode },
			func(x plan.Move, _ *corev1.Pod) string { return x.From })},
	{"one more than the perNamespace of a window", plan.LimitPerNamespace,
		openWindowWith(func(l *planverifier.WindowLimits) *planverifier.Limit { return &l.PerNamespace },
			func(x plan.Move, _ *corev1.Pod) string { return x.Pod.Namespace })},
	{"one more than the perOwner of a window", plan.LimitPerOwner,
		openWindowWith(func(l *planverifier.WindowLimits) *planverifier.Limit { return &l.PerOwner },
			func(x plan.Move, _ *corev1.Pod) string { return ownerKey(x) })},
	{"one more than the perHour.namespace of a window", plan.LimitPerHour,
		openWindowWith(func(l *planverifier.WindowLimits) *planverifier.Limit { return &l.PerHourNamespace },
			func(x plan.Move, _ *corev1.Pod) string { return x.Pod.Namespace })},
	{"one more than the perHour.cluster of a window", plan.LimitPerHour,
		openWindowWith(func(l *planverifier.WindowLimits) *planverifier.Limit { return &l.PerHourCluster },
			func(plan.Move, *corev1.Pod) string { return "all" })},
	{"one more eviction in the last hour", plan.LimitPerHour, func(m *planCase) (string, bool) {
		n, pod := maxMovesPer(m, func(x plan.Move, p *corev1.Pod) string { return "all" })
		m.rules.State = plan.PlannerState{Evictions: []plan.EvictionCount{{Workload: plan.ObjectRef{Kind: "Thing", Namespace: "far", Name: "x"},
			Minute: m.o.TakenAt.Truncate(time.Minute).Add(-time.Hour), Count: 1}}}
		m.rules.PerHourCluster = planverifier.Limit{N: n}
		return pod, true
	}},
	{"a workload in backoff", plan.BackedOff, func(m *planCase) (string, bool) {
		x := m.plan.Moves[0]
		w := x.Owner
		w.Namespace = x.Pod.Namespace
		m.rules.State.Backoffs = []plan.Backoff{{Workload: w, Until: m.o.TakenAt.Add(time.Second)}}
		return x.Pod.String(), true
	}},
	{"a percentage below one pod", plan.LimitPerPass, func(m *planCase) (string, bool) {
		m.rules.PerPass = planverifier.Limit{N: 1, Percent: true} // of fewer than 200 pods, this is 1
		return m.plan.Moves[1].Pod.String(), true
	}},
	{"zero percent", plan.LimitPerOwner, func(m *planCase) (string, bool) {
		if ownerKey(m.plan.Moves[0]) == "" {
			return "", false
		}
		m.rules.PerOwner = planverifier.Limit{N: 0, Percent: true}
		return m.plan.Moves[0].Pod.String(), true
	}},
	{"one more in flight than inFlight.total", planverifier.InFlight,
		setLimitBelowUse(func(r *planverifier.Rules) *planverifier.Limit { return &r.InFlightTotal },
			func(x plan.Move, p *corev1.Pod) string { return fmt.Sprint(x.Wave) })},
	{"one more in flight than inFlight.perNode", planverifier.InFlight,
		setLimitBelowUse(func(r *planverifier.Rules) *planverifier.Limit { return &r.InFlightPerNode },
			func(x plan.Move, p *corev1.Pod) string { return fmt.Sprint(x.Wave, x.From) })},
	{"one more in flight than inFlight.perOwner", planverifier.InFlight,
		setLimitBelowUse(func(r *planverifier.Rules) *planverifier.Limit { return &r.InFlightPerWorkload },
			func(x plan.Move, p *corev1.Pod) string {
				if ownerKey(x) == "" {
					return ""
				}
				return fmt.Sprint(x.Wave, ownerKey(x))
			})},
	{"two waves merged into one", planverifier.InFlight, func(m *planCase) (string, bool) {
		r := &m.rules
		if last := m.plan.Moves[len(m.plan.Moves)-1]; last.Wave == 1 || r.InFlightTotal.Unlimited || len(m.plan.Moves) <= r.InFlightTotal.N {
			return "", false
		}
		for i := range m.plan.Moves {
			m.plan.Moves[i].Wave = 1
		}
		return "", true
	}},
	{"more unavailable pods without a budget", plan.WorkloadUnavailable, func(m *planCase) (string, bool) {
		n, pod := maxMovesPer(m, func(x plan.Move, p *corev1.Pod) string {
			if ownerKey(x) == "" || len(budgetsOf(m, p)) > 0 {
				return ""
			}
			return fmt.Sprint(x.Wave, ownerKey(x))
		})
		if n > 0 {
			m.rules.MaxUnavailableWithoutPDB = n - 1
		}
		return pod, n > 0
	}},
}
