package planverifier_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/modeverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// modeCase is a random cluster with a plan for strategies in random modes.
type modeCase struct {
	o        *cluster.Objects
	rules    modeverifier.Rules
	plan     plan.Plan
	snapshot *cluster.Snapshot
	conf     *config.Config
	past     plan.PlannerState
	text     string // the configuration
}

// modeRules adds the modes and the limits of each strategy, by requests or by zone, to verifierRules.
func modeRules(t testing.TB, c *config.Config) modeverifier.Rules {
	t.Helper()
	r := modeverifier.Rules{Plan: verifierRules(t, c), Modes: map[string]string{}}
	for _, s := range c.Strategies {
		r.Modes[s.Name] = string(s.Mode)
		args := struct {
			By      string
			Basis   string
			Target  map[string]float64
			MaxSkew int
		}{"owner", "", nil, 1}
		must.Succeed(t, json.Unmarshal(s.Args, &args))
		if s.Type == "ZoneSpread" && args.By == "owner" {
			r.Spreads = append(r.Spreads, modeverifier.Spread{Strategy: s.Name, MaxSkew: args.MaxSkew})
		}
		if s.Type != "NodeLoad" || args.Basis == "load" { // package planverifier checks the other targets
			continue
		}
		for _, resource := range slices.Sorted(maps.Keys(args.Target)) {
			r.Targets = append(r.Targets, modeverifier.Target{Strategy: s.Name, Resource: resource, Target: args.Target[resource]})
		}
	}
	return r
}

// inFlightTotal matches the limit of pods in flight. Small waves leave the checks of large ones to other tests.
var inFlightTotal = regexp.MustCompile(`inFlight: \{total: \w+,`)

var strategyLine = regexp.MustCompile(`(?m)^  \w+: \{.*\btype: `)

// withMode returns the line of a strategy with a mode.
func withMode(line, mode string) string { return strings.Replace(line, "{", "{mode: "+mode+", ", 1) }

// modeSettings returns random settings with three strategies in random modes.
func modeSettings(r *rand.Rand) string {
	text := strings.Replace(simulation.Settings(r), "strategies:\n", fmt.Sprintf(
		"strategies:\n  cool: {type: NodeLoad, schedule: \"0 * * * *\", args: {target: {cpu: 0.%d}}}\n", 2+r.IntN(6)), 1)
	return strategyLine.ReplaceAllStringFunc(text, func(line string) string {
		return withMode(line, []string{"automatic", "approve", "dryRun"}[r.IntN(3)])
	})
}

// makeModeCase makes a plan for strategies in random modes. Every second cluster is simple, so that all of its zones
// count for every workload.
func makeModeCase(t testing.TB, seed uint64) modeCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 30)) // as in makeCase
	o, st, text := simulation.Mixed(r), plan.PlannerState{}, ""
	if seed%2 == 0 {
		o = simulation.Crowded(r, 6+r.IntN(3), 6+r.IntN(5), 8+r.IntN(8))
	} else {
		st = simulation.RandomState(r, o)
	}
	if text = modeSettings(r); seed%2 == 0 {
		text = inFlightTotal.ReplaceAllString(text, "inFlight: {total: 3,")
	}
	conf := must.Get(config.Load("seed.yaml", []byte(text)))(t)
	s := must.Get(cluster.New(o))(t)
	m := modeCase{o, modeRules(t, conf), plan.Plan{}, s, conf, st, text}
	m.rules.Plan.State = st
	m.plan = m.planFor(conf.BuildStrategies(), nil)
	return m
}

func (m modeCase) planFor(all []schedule.Strategy, due []string) plan.Plan {
	opts := m.conf.PlannerOptions()
	opts.SamplesPerCode = -1
	return planner.New(opts).Plan(m.snapshot, m.past, controller.Goals(m.snapshot, all, due), m.o.TakenAt)
}

// checkIndependence checks that the automatic moves are the same without the dryRun strategies, and
// if no approve strategy is due.
func (m modeCase) checkIndependence(t *testing.T, seed uint64) {
	t.Helper()
	due := []string{}
	var executed []schedule.Strategy
	for _, s := range m.conf.BuildStrategies() {
		if s.Mode == plan.Automatic {
			due = append(due, s.Name)
		}
		if s.Mode != plan.ShowOnly {
			executed = append(executed, s)
		}
	}
	for what, other := range map[string]plan.Plan{"only automatic strategies are due": m.planFor(m.conf.BuildStrategies(), due),
		"no dryRun strategies": m.planFor(executed, nil)} {
		if d := cmp.Diff(m.plan.Moves, other.Moves); d != "" {
			t.Errorf("seed %d, %s: the automatic moves differ (-was +now):\n%s", seed, what, d)
		}
	}
}

// TestNoPlanBreaksItsModes makes 1,300 random plans for strategies in random modes. Every part must serve its own
// strategies only, and a proposal must be allowed after the automatic moves.
func TestNoPlanBreaksItsModes(t *testing.T) {
	t.Parallel()
	moves, bad := map[string]int{}, 0
	const plans = 1300 // fewer plans have too few moves of some kinds
	for seed := range uint64(plans) {
		m := makeModeCase(t, seed)
		moves["automatic"] += len(m.plan.Moves)
		for _, of := range m.plan.Proposals {
			moves[string(of.Mode)] += len(of.Plan.Moves)
			moves["already planned"] += of.Plan.Rejections.Counts[plan.AlreadyPlanned]
			if len(m.plan.Moves) > 0 {
				moves[string(of.Mode)+" after automatic"] += len(of.Plan.Moves)
			}
		}
		for _, v := range modeverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt) {
			if bad++; bad <= 40 {
				t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
			}
		}
		if seed%8 < 2 {
			m.checkIndependence(t, seed)
		}
	}
	t.Logf("%d plans, %d violations, moves: %v", plans, bad, moves)
	for part, want := range map[string]int{"automatic": 1500, "approve": 900, "dryRun": 900, "approve after automatic": 150,
		"dryRun after automatic": 150, "already planned": 20} {
		if moves[part] < want {
			t.Errorf("%s: %d moves or pods, want at least %d", part, moves[part], want)
		}
	}
}

// editProposal changes the first proposal that has moves, if the plan itself has moves too. It
// returns the pod of its first move.
func editProposal(f func(m *modeCase, p *plan.Plan) bool) func(m *modeCase) (string, bool) {
	return func(m *modeCase) (string, bool) {
		for i := range m.plan.Proposals {
			if p := &m.plan.Proposals[i].Plan; len(p.Moves) > 0 && len(m.plan.Moves) > 0 {
				pod := p.Moves[0].Pod.String()
				return pod, f(m, p)
			}
		}
		return "", false
	}
}

var modeTampers = []struct {
	name  string
	want  plan.Code
	apply func(m *modeCase) (pod string, ok bool)
}{
	{"an automatic move serves another strategy", modeverifier.WrongMode, func(m *modeCase) (string, bool) {
		if len(m.plan.Moves) == 0 {
			return "", false
		}
		m.rules.Modes[m.plan.Moves[0].Strategy] = "approve"
		return m.plan.Moves[0].Pod.String(), true
	}},
	{"an automatic move serves a goal of another strategy", modeverifier.WrongMode, editProposal(func(m *modeCase, p *plan.Plan) bool {
		g := p.Goals[0]
		g.ID = "g99"
		m.plan.Goals = append(slices.Clone(m.plan.Goals), g)
		m.plan.Moves[0].Goals = append(slices.Clone(m.plan.Moves[0].Goals), g.ID)
		return true
	})},
	{"a proposed move serves an automatic strategy", modeverifier.WrongMode, editProposal(func(m *modeCase, p *plan.Plan) bool {
		p.Moves[0].Strategy = m.plan.Moves[0].Strategy
		return true
	})},
	{"a pod in both parts", planverifier.PodTwice, editProposal(func(m *modeCase, p *plan.Plan) bool {
		again := m.plan.Moves[0]
		again.Step, again.Wave = p.Moves[len(p.Moves)-1].Step+1, p.Moves[len(p.Moves)-1].Wave+1
		p.Moves = append(p.Moves, again)
		return true
	})},
	{"an automatic proposal", planverifier.MalformedPlan, editProposal(func(m *modeCase, _ *plan.Plan) bool {
		m.plan.Proposals[0].Mode = plan.Automatic
		return true
	})},
	{"two proposals of one mode", planverifier.MalformedPlan, editProposal(func(m *modeCase, _ *plan.Plan) bool {
		m.plan.Proposals = append(m.plan.Proposals, m.plan.Proposals[0])
		return true
	})},
	{"a limit that both parts exceed together", plan.LimitPerPass, editProposal(func(m *modeCase, p *plan.Plan) bool {
		m.rules.Plan.PerPass = planverifier.Limit{N: len(m.plan.Moves)}
		return true
	})},
	{"a guard that forbids a proposed move", plan.EvictNever, editProposal(func(m *modeCase, p *plan.Plan) bool {
		i := slices.IndexFunc(m.o.Pods, func(q *corev1.Pod) bool { return string(q.UID) == p.Moves[0].Pod.UID })
		changed := m.o.Pods[i].DeepCopy()
		changed.Annotations = map[string]string{"evenkeel.io/evict": "never"}
		m.o.Pods[i] = changed
		return true
	})},
	{"a rejection that is not listed", planverifier.MalformedPlan, editProposal(func(_ *modeCase, p *plan.Plan) bool {
		if len(p.Rejections.Samples) == 0 {
			return false
		}
		p.Rejections.Samples = p.Rejections.Samples[1:]
		return true
	})},
	{"a proposed move to a node above the target of an automatic strategy", modeverifier.GoalWorsened, editProposal(func(m *modeCase, p *plan.Plan) bool {
		m.rules.Targets = append(m.rules.Targets, modeverifier.Target{Strategy: "automatic-too", Resource: "cpu", Target: 0.01})
		return true
	})},
	{"a proposed move that makes a workload uneven", modeverifier.GoalWorsened, func(m *modeCase) (string, bool) {
		return unevenMove(m)
	}},
}

// unevenMove changes a rule so that the first proposed move makes its workload uneven: it must have no excess before.
func unevenMove(m *modeCase) (string, bool) {
	if len(m.o.Nodes) > 0 && m.o.Nodes[0].Name != "n00000" { // only in simple clusters, all zones count
		return "", false
	}
	for i := range m.plan.Proposals {
		p := &m.plan.Proposals[i].Plan
		if len(p.Moves) == 0 {
			continue
		}
		for _, before := range m.plan.After.Workloads {
			for _, after := range p.After.Workloads {
				if after.Name == before.Name && after.Namespace == before.Namespace && after.Skew > before.Skew {
					m.rules.Spreads = append(m.rules.Spreads, modeverifier.Spread{Strategy: "automatic-too", MaxSkew: before.Skew})
					return "", true
				}
			}
		}
	}
	return "", false
}

// TestTamperedModesAreNamed breaks plans in the ways that modes add. The verifier must name each.
func TestTamperedModesAreNamed(t *testing.T) {
	t.Parallel()
	good := map[uint64]modeCase{} // plans that are not changed yet
	for _, x := range modeTampers {
		t.Run(x.name, func(t *testing.T) {
			done := 0
			for seed := uint64(0); seed < plans && done < plansPerTamper; seed++ {
				m, made := good[seed]
				if !made {
					m = makeModeCase(t, seed)
					good[seed] = m
				}
				pod, ok := x.apply(&m)
				if !ok {
					continue
				}
				delete(good, seed)
				done++
				found := modeverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt)
				if x.want == planverifier.MalformedPlan {
					pod = ""
				}
				if x.want == planverifier.PodTwice || x.want == plan.LimitPerPass || strings.HasPrefix(x.name, "an automatic move serves a goal") {
					pod = ""
				}
				if !hasViolation(found, pod, x.want) {
					t.Errorf("seed %d: want %s about %q, found %v", seed, x.want, pod, found)
				}
			}
			if done < plansPerTamper {
				t.Errorf("the change applies to only %d plans", done)
			}
		})
	}
}
