package planverifier_test

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// makeStrategyCase is makeCase with rules of the strategies' own.
func makeStrategyCase(t testing.TB, seed uint64) planCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 30))
	o := simulation.Mixed(r)
	text := simulation.StrategySettings(r)
	past := simulation.RandomState(r, o)
	for i := range past.Evictions {
		past.Evictions[i].Strategy = []string{"hot", "zones", "warm", ""}[r.IntN(4)]
	}
	past.Sort()
	conf, err := config.Load("seed.yaml", []byte(text))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	p, rules := makePlanFor(t, o, text, o.TakenAt, past)
	rules.Strategies = strategyRules(t, conf)
	return planCase{o, rules, p}
}

// strategyRules converts the settings of the strategies to rules of the verifier, field by field.
func strategyRules(t testing.TB, c *config.Config) (out []planverifier.StrategyRules) {
	t.Helper()
	limit := func(n *plan.CountLimit) planverifier.Limit {
		if n == nil {
			return planverifier.Limit{Unlimited: true}
		}
		return parseLimit(t, n.String())
	}
	for _, s := range c.Strategies {
		r := planverifier.StrategyRules{Name: s.Name, NodeSelector: parseSelector(t, s.NodeSelector),
			PodSelector: parseSelector(t, s.PodSelector), Weight: 1, Soft: s.Soft}
		if n := s.Namespaces; n != nil {
			r.Include, r.Exclude, r.NamespaceSelector = n.Include, n.Exclude, parseSelector(t, n.Selector)
		}
		if s.Weight != nil {
			r.Weight = *s.Weight
		}
		l := s.Limits
		if l == nil {
			l = &plan.OwnLimits{}
		}
		h := l.PerHour
		if h == nil {
			h = &plan.OwnPerHour{}
		}
		r.PerPass, r.PerOwner, r.PerHourOwner, r.PerHourCluster = limit(l.PerPass), limit(l.PerOwner), limit(h.Owner), limit(h.Cluster)
		if g := s.Guards; g != nil {
			addGuards(&r, g)
		}
		args := struct {
			Target, Below map[string]float64
			NumberOfNodes int
			MaxSkew       int
			By            string
			Basis         string
			Key           string `json:"topologyKey"`
		}{MaxSkew: 1, Key: "topology.kubernetes.io/zone"}
		must.Succeed(t, json.Unmarshal(s.Args, &args))
		if s.Type == "NodeLoad" && args.Basis != "load" { // package emptied checks the target of NodeConsolidation
			r.NodeLevels = planverifier.NodeLevels{Targets: args.Target, Below: args.Below, NumberOfNodes: args.NumberOfNodes}
		}
		if s.Type == "ZoneSpread" {
			r.MaxSkew, r.SpreadBy, r.ByService = args.MaxSkew, args.Key, args.By == "service"
		}
		r.CountsScope = s.Type == "ZoneSpread" || s.Type == "Duplicates"
		r.ByConstraint = s.Type == "TopologySpread"
		out = append(out, r)
	}
	return out
}

func addGuards(r *planverifier.StrategyRules, g *config.StrategyGuards) {
	r.Protect, r.ProtectedStorageClasses, r.PriorityBelow = g.Protect, g.ProtectedStorageClasses, g.PriorityBelow
	if g.MinReplicas != nil {
		r.MinReplicas = *g.MinReplicas
	}
	if g.MinPodAge != nil {
		r.MinPodAge = time.Duration(*g.MinPodAge)
	}
}

// TestNoPlanBreaksARuleOfAStrategy makes a thousand random plans with random scopes, limits,
// guards, weights and softness of the strategies. No move may break a rule of its strategy, besides
// the global ones.
func TestNoPlanBreaksARuleOfAStrategy(t *testing.T) {
	t.Parallel()
	withMoves, moves, soft, bad := 0, 0, 0, 0
	byStrategy := map[plan.Code]int{}
	for seed := range uint64(plans) {
		m := makeStrategyCase(t, seed)
		if len(m.plan.Moves) > 0 {
			withMoves++
		}
		moves += len(m.plan.Moves)
		for _, x := range m.plan.Moves {
			if isSoft(&m, x) {
				soft++
			}
		}
		for _, no := range m.plan.Rejections.Samples {
			if strings.HasPrefix(no.Reason.Message, "strategy ") {
				byStrategy[no.Reason.Code]++
			}
		}
		if b := m.plan.Bound; b.MinForPlan > len(m.plan.Moves) {
			t.Errorf("seed %d: the bound of the plan is %d evictions, but it has %d moves", seed, b.MinForPlan, len(m.plan.Moves))
		}
		found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt)
		found = append(found, planverifier.Replay(m.o, m.rules, m.plan, m.o.TakenAt,
			planverifier.CallOrder{Order: rand.New(rand.NewPCG(seed, 31)).Perm, LateStatus: true})...)
		for _, v := range found {
			if bad++; bad <= 20 {
				t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
			}
		}
	}
	t.Logf("%d plans, %d with moves, %d moves, %d of them for soft strategies, %d violations; rejections by rules of strategies:\n%s", plans,
		withMoves, moves, soft, bad, countTable(byStrategy))
	if withMoves < 500 || moves < 1800 || soft < 200 {
		t.Errorf("%d plans with moves, %d moves and %d moves for soft strategies are too few", withMoves, moves, soft)
	}
	for _, code := range []plan.Code{plan.NamespaceExcluded, plan.PodNotSelected, plan.TooFewReplicas, plan.PodTooYoung,
		plan.PriorityTooHigh, plan.PersistentVolume, plan.NoPodDisruptionBudget, plan.LimitPerPass, plan.LimitPerOwner, plan.LimitPerHour} {
		if byStrategy[code] == 0 {
			t.Errorf("no strategy's own rule rejects a pod with the code %s", code)
		}
	}
}

// TestTamperedStrategiesAreNamed breaks valid plans, or the rules of their strategies, in one place.
func TestTamperedStrategiesAreNamed(t *testing.T) {
	t.Parallel()
	good := map[uint64]planCase{}
	for _, x := range strategyTampers {
		t.Run(x.name, func(t *testing.T) {
			x.check(t, plans, func(seed uint64) planCase {
				m, made := good[seed]
				if !made {
					m = makeStrategyCase(t, seed)
					good[seed] = m
				}
				m.plan.Moves, m.plan.Goals = slices.Clone(m.plan.Moves), slices.Clone(m.plan.Goals)
				m.rules.Strategies = slices.Clone(m.rules.Strategies)
				return m
			}, nil)
		})
	}
}

// editStrategy changes the rules of the strategy of the first move.
func editStrategy(f func(s *planverifier.StrategyRules, pod *corev1.Pod)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		x := m.plan.Moves[0]
		i := slices.IndexFunc(m.rules.Strategies, func(s planverifier.StrategyRules) bool { return s.Name == x.Strategy })
		f(&m.rules.Strategies[i], m.pod(x))
		return x.Pod.String(), true
	}
}

// setStrategyLimit sets a limit of the first move's strategy to one less than the plan uses.
func setStrategyLimit(limit func(s *planverifier.StrategyRules) *planverifier.Limit,
	of func(x plan.Move, p *corev1.Pod) string) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		m.rules.State.Evictions = nil
		name := m.plan.Moves[0].Strategy
		n, pod := maxMovesPer(m, func(x plan.Move, p *corev1.Pod) string {
			if x.Strategy != name {
				return ""
			}
			return of(x, p)
		})
		i := slices.IndexFunc(m.rules.Strategies, func(s planverifier.StrategyRules) bool { return s.Name == name })
		if n > 0 {
			*limit(&m.rules.Strategies[i]) = planverifier.Limit{N: n - 1}
		}
		return pod, n > 0
	}
}

// isSoft reports whether the strategy of a move is soft.
func isSoft(m *planCase, x plan.Move) bool {
	return slices.ContainsFunc(m.rules.Strategies, func(s planverifier.StrategyRules) bool { return s.Name == x.Strategy && s.Soft })
}

func noneSelected() labels.Selector { return labels.SelectorFromSet(labels.Set{"nothing": "has-this"}) }

var strategyTampers = []tampering{
	{"out of the strategy's nodes", plan.NodeOutOfScope, editStrategy(func(s *planverifier.StrategyRules, _ *corev1.Pod) { s.NodeSelector = noneSelected() })},
	{"not selected by the strategy", plan.PodNotSelected, editStrategy(func(s *planverifier.StrategyRules, _ *corev1.Pod) { s.PodSelector = noneSelected() })},
	{"in a namespace that the strategy excludes", plan.NamespaceExcluded,
		editStrategy(func(s *planverifier.StrategyRules, p *corev1.Pod) { s.Exclude = []string{p.Namespace} })},
	{"in a namespace that the strategy does not include", plan.NamespaceExcluded,
		editStrategy(func(s *planverifier.StrategyRules, p *corev1.Pod) { s.Include = []string{"elsewhere"} })},
	{"in a namespace that the strategy does not select", plan.NamespaceExcluded,
		editStrategy(func(s *planverifier.StrategyRules, p *corev1.Pod) { s.NamespaceSelector = noneSelected() })},
	{"too young for the strategy", plan.PodTooYoung,
		editStrategy(func(s *planverifier.StrategyRules, _ *corev1.Pod) { s.MinPodAge = 1000 * 24 * time.Hour })},
	{"too few replicas for the strategy", plan.TooFewReplicas,
		editStrategy(func(s *planverifier.StrategyRules, _ *corev1.Pod) { s.MinReplicas = 1000 })},
	{"too high a priority for the strategy", plan.PriorityTooHigh,
		editStrategy(func(s *planverifier.StrategyRules, _ *corev1.Pod) { s.PriorityBelow = "-2000000000" })},
	{"without a budget, which the strategy protects", plan.NoPodDisruptionBudget, func(m *planCase) (string, bool) {
		if len(budgetsOf(m, m.pod(m.plan.Moves[0]))) > 0 {
			return "", false
		}
		return editStrategy(func(s *planverifier.StrategyRules, _ *corev1.Pod) { s.Protect = []string{"PodsWithoutPDB"} })(m)
	}},
	{"one more than the strategy's perPass", plan.LimitPerPass,
		setStrategyLimit(func(s *planverifier.StrategyRules) *planverifier.Limit { return &s.PerPass },
			func(x plan.Move, p *corev1.Pod) string { return "all" })},
	{"one more than the strategy's perOwner", plan.LimitPerOwner,
		setStrategyLimit(func(s *planverifier.StrategyRules) *planverifier.Limit { return &s.PerOwner },
			func(x plan.Move, p *corev1.Pod) string { return ownerKey(x) })},
	{"one more than the strategy's perHour.owner", plan.LimitPerHour,
		setStrategyLimit(func(s *planverifier.StrategyRules) *planverifier.Limit { return &s.PerHourOwner },
			func(x plan.Move, p *corev1.Pod) string { return cmp.Or(ownerKey(x), x.Pod.String()) })},
	{"one more than the strategy's perHour.cluster", plan.LimitPerHour,
		setStrategyLimit(func(s *planverifier.StrategyRules) *planverifier.Limit { return &s.PerHourCluster },
			func(x plan.Move, p *corev1.Pod) string { return "all" })},
	{"an eviction for the strategy in the last hour", plan.LimitPerHour, func(m *planCase) (string, bool) {
		_, ok := setStrategyLimit(func(s *planverifier.StrategyRules) *planverifier.Limit { return &s.PerHourCluster },
			func(x plan.Move, p *corev1.Pod) string { return "all" })(m)
		name := m.plan.Moves[0].Strategy
		i := slices.IndexFunc(m.rules.Strategies, func(s planverifier.StrategyRules) bool { return s.Name == name })
		m.rules.Strategies[i].PerHourCluster.N++ // as many as the plan uses
		m.rules.State.Evictions = []plan.EvictionCount{{Workload: plan.ObjectRef{Kind: "Thing", Namespace: "far", Name: "x"},
			Minute: m.o.TakenAt.Truncate(time.Minute).Add(-time.Hour), Count: 1, Strategy: name}}
		return "", ok
	}},
	{"a move for an unknown strategy", planverifier.WrongStrategy, editFirstMove(func(m *planCase, x *plan.Move) { x.Strategy = "nobody" })},
	{"a move for a strategy whose goals it does not serve", planverifier.WrongStrategy, func(m *planCase) (string, bool) {
		for i := range m.plan.Moves {
			x := &m.plan.Moves[i]
			for _, s := range m.rules.Strategies {
				if !slices.ContainsFunc(m.plan.Goals, func(g plan.Goal) bool { return g.Strategy == s.Name && slices.Contains(x.Goals, g.ID) }) {
					x.Strategy = s.Name
					return x.Pod.String(), true
				}
			}
		}
		return "", false
	}},
	{"a goal with another weight", planverifier.WrongWeight, func(m *planCase) (string, bool) {
		m.plan.Goals[0].Weight *= 3
		return "", true
	}},
	{"a soft goal that is listed as firm", planverifier.WrongWeight, func(m *planCase) (string, bool) {
		m.plan.Goals[0].Soft = !m.plan.Goals[0].Soft
		return "", true
	}},
	{"a soft strategy that worsens the goal of another", planverifier.WorsensGoal, func(m *planCase) (string, bool) {
		// A move for a firm strategy that worsens a soft goal becomes a violation if the other strategy is firm.
		k := slices.IndexFunc(m.rules.Strategies, func(s planverifier.StrategyRules) bool { return s.Soft && len(s.Targets) > 0 })
		if k < 0 {
			return "", false
		}
		m.rules.Strategies[k].Soft = false
		for _, v := range planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt) {
			if v.Code == planverifier.WorsensGoal {
				return v.Pod, true
			}
		}
		return "", false
	}},
	{"a soft move in a wave with a firm one", planverifier.SoftNotApart, func(m *planCase) (string, bool) {
		for i := 1; i < len(m.plan.Moves); i++ {
			if x := &m.plan.Moves[i]; isSoft(m, *x) && !isSoft(m, m.plan.Moves[i-1]) {
				x.Wave = m.plan.Moves[i-1].Wave
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
	{"a soft move that makes room for another", planverifier.SoftNotApart, func(m *planCase) (string, bool) {
		for i := range m.plan.Moves[1:] {
			if x := &m.plan.Moves[i]; isSoft(m, *x) {
				x.DisplacedFor = &m.plan.Moves[i+1].Pod
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
	{"a target that is lower than the plan knew", planverifier.WorsensGoal, func(m *planCase) (string, bool) {
		x := m.plan.Moves[0]
		for i := range m.rules.Strategies {
			s := &m.rules.Strategies[i]
			if len(s.Targets) == 0 || s.NodeSelector != nil || s.Soft || m.rules.NodeSelector != nil {
				continue
			}
			s.NodeLevels = planverifier.NodeLevels{Targets: map[string]float64{"cpu": 0.0001}}
			return "", !x.Steered()
		}
		return "", false
	}},
	{"too few under-utilized nodes", plan.TooFewUnderUtilized, func(m *planCase) (string, bool) {
		for _, x := range m.plan.Moves {
			i := slices.IndexFunc(m.rules.Strategies, func(s planverifier.StrategyRules) bool { return s.Name == x.Strategy })
			if s := &m.rules.Strategies[i]; s.Name == "hot" && x.DisplacedFor == nil {
				s.Below, s.NumberOfNodes = map[string]float64{"cpu": 0.9}, len(m.o.Nodes)
				return x.Pod.String(), true
			}
		}
		return "", false
	}},
}
