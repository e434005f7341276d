package planner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// clusterWithoutGracePeriods returns a cluster whose pods have no grace period. Other pods fill its nodes unevenly,
// so the scheduler often puts a replacement back on a crowded node.
func clusterWithoutGracePeriods(seed uint64) *cluster.Objects {
	r := rand.New(rand.NewPCG(seed, 21))
	o := simulation.Crowded(r, 9, 8, 6)
	none := int64(0)
	for _, p := range o.Pods {
		p.Spec.TerminationGracePeriodSeconds = &none
	}
	return addFillerPods(o, func() int64 { return int64(100 * r.IntN(65)) })
}

// addFillerPods sets small requests for all pods. addFillerPods adds a pod to each node, which requests milliCPU()
// and 4 MiB of memory per milliCPU. addFillerPods changes o and returns it.
func addFillerPods(o *cluster.Objects, milliCPU func() int64) *cluster.Objects {
	for _, p := range o.Pods {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("10m"), "memory": resource.MustParse("10Mi")}
	}
	for i, n := range o.Nodes {
		cpu := milliCPU()
		o.Pods = append(o.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: fmt.Sprint("fill-", i), UID: types.UID(fmt.Sprint("fill-", i))},
			Spec: corev1.PodSpec{NodeName: n.Name, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(cpu, resource.DecimalSI),
					"memory": *resource.NewQuantity(cpu<<22, resource.BinarySI)}}}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	return o
}

func configWithSteering(t *testing.T, how string) *config.Config {
	t.Helper()
	conf := must.Get(config.Load("c", []byte(strings.Replace(twoStrategies, "strategies:", "evictor: {steer: "+how+"}\nstrategies:", 1))))(t)
	return conf
}

// TestSteeredPlansHold: if the nodes have the hints of the first wave, its moves land on acceptable nodes. Only waves
// with steered moves have hints, on no more nodes than steering allows. In some clusters, steering leaves
// less excess.
func TestSteeredPlansHold(t *testing.T) {
	steered, better := 0, 0
	for seed := range uint64(30) {
		_, without := planRandomCluster(t, clusterWithoutGracePeriods(seed), configWithTwoStrategies(t))
		conf := configWithSteering(t, "taint")
		s, p := planRandomCluster(t, clusterWithoutGracePeriods(seed), conf)
		if sumExcess(p) < sumExcess(without) {
			better++
		}
		for _, h := range p.Hints {
			needs := slices.ContainsFunc(p.Moves, func(m plan.Move) bool { return m.Wave == h.Wave && m.Steered() })
			if len(h.Nodes) == 0 || len(h.Nodes) > 6 || h.Kind != "taint" || !needs { // 67% of 9 nodes are 6
				t.Errorf("seed %d: hints %+v", seed, h)
			}
		}
		for _, m := range p.Moves {
			if m.Steered() {
				steered++
				if len(p.HintsForWave(m.Wave).Nodes) == 0 {
					t.Errorf("seed %d: step %d is steered, but its wave has no hints", seed, m.Step)
				}
			}
		}
		first, _ := planner.New(conf.PlannerOptions()).Recheck(s, plan.PlannerState{},
			controller.Goals(s, conf.BuildStrategies(), nil), p, 1, s.TakenAt)
		checkLandings(t, seed, s, p.HintsForWave(1).Nodes, first)
	}
	t.Logf("%d moves steered, %d plans better for it", steered, better)
	if steered < 20 || better < 5 {
		t.Errorf("only %d moves are steered, and steering improves only %d plans", steered, better)
	}
}

// checkLandings puts the hints on the nodes and predicts the moves of the first wave again. Each move must land on an
// acceptable node with a probability of at least 0.9.
func checkLandings(t *testing.T, seed uint64, s *cluster.Snapshot, nodes []string, first []plan.Move) {
	t.Helper()
	o := clusterWithoutGracePeriods(seed)
	for i, n := range o.Nodes {
		if slices.Contains(nodes, n.Name) {
			o.Nodes[i], _ = hints.WithHint(n, hints.Hint{Node: n.Name, Kind: hints.Taint, Run: "r"})
		}
	}
	hinted := must.Get(cluster.New(o))(t)
	w := placement.NewClusterModel(hinted, placement.Options{})
	for _, m := range first {
		good := func(n cluster.NodeID) bool { return slices.Contains(m.AcceptableNodes, s.Nodes[n].Name) }
		if got := w.Predict(hinted.PodByUID(m.Pod.UID).ID).Prob(good); got < 0.9 {
			t.Errorf("seed %d: step %d has an acceptable landing with probability %v, predicted %v", seed, m.Step, got, m.Confidence)
		}
	}
}

// TestRecheckJudgesWithTheHintsAsPlanned: Recheck keeps both moves with the planned hints. If the nodes can no longer
// be hinted, Recheck keeps only the move that needs no hint.
func TestRecheckJudgesWithTheHintsAsPlanned(t *testing.T) {
	s, opts, goals := loadScenario(t, "steer-wave")
	p := planner.New(opts).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	ok, dropped := planner.New(opts).Recheck(s, plan.PlannerState{}, goals, p, 1, s.TakenAt)
	if len(ok) != 2 || len(dropped) != 0 || ok[0].Steered() || !ok[1].Steered() {
		t.Fatalf("%+v, dropped %+v", ok, dropped)
	}
	for name, c := range map[string]struct {
		edit func(*search.Options, *plan.Plan)
		want string
	}{
		"steering is off": {func(o *search.Options, _ *plan.Plan) { o.Steer = hints.None },
			"the plan steers by taint, and evictor.steer is none"},
		"another kind": {func(o *search.Options, _ *plan.Plan) { o.Steer = hints.Label },
			"the plan steers by taint, and evictor.steer is label"},
		"a node is gone": {func(_ *search.Options, p *plan.Plan) { p.Hints[0].Nodes = []string{"n9"} }, "node n9 is gone"},
	} {
		o, edited := opts, p
		edited.Hints = slices.Clone(p.Hints)
		c.edit(&o, &edited)
		ok, dropped := planner.New(o).Recheck(s, plan.PlannerState{}, goals, edited, 1, s.TakenAt)
		if len(ok) != 1 || ok[0].Steered() || len(dropped) != 1 {
			t.Errorf("%s: %+v hold", name, ok)
			continue
		}
		if r := dropped[0].Reason; r.Code != plan.PremiseChanged || !strings.Contains(r.Message, c.want) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestUnsteeredMovesDoNotNeedTheHints: if Recheck drops all steered moves of a wave, it judges the other moves
// without hints and keeps them.
func TestUnsteeredMovesDoNotNeedTheHints(t *testing.T) {
	s, opts, goals := loadScenario(t, "seed-114")
	opts.Steer = hints.Taint
	p := planner.New(opts).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	p.Hints = []plan.WaveHints{{Wave: 1, Kind: "taint", Nodes: []string{"n3"}}}
	p.Moves = append(p.Moves[:1:1], plan.Move{Step: 9, Wave: 1, Steer: "taint", Pod: plan.PodRef{Namespace: "shop", Name: "none"}})
	ok, dropped := planner.New(opts).Recheck(s, plan.PlannerState{}, goals, p, 1, s.TakenAt)
	if len(ok) != 1 || ok[0].Steered() || len(dropped) != 1 || dropped[0].Reason.Code != plan.PodGoneAlready {
		t.Errorf("%+v, dropped %+v", ok, dropped)
	}
}

// TestExplainShowsSteering: the explanation of a steered pod shows the landing with the hints.
func TestExplainShowsSteering(t *testing.T) {
	s, opts, goals := loadScenario(t, "steer-taint-123-grace-0")
	e := planner.New(opts).Explain(s, plan.PlannerState{}, goals, s.TakenAt)
	for _, id := range s.NodeByName("n3").Pods {
		p := &s.Pods[id]
		if p.Object.Labels["app"] != "d" {
			continue
		}
		x := e.Pod(id).Pods[0]
		if l := x.Landing; l.Steer != "taint" || !slices.Equal(l.HintedNodes, []string{"n3"}) || l.Confidence != 1 ||
			l.Nodes[0].Name != "n1" || l.Nodes[0].Probability != 1 {
			t.Errorf("%s: %+v", p.Object.Name, l)
		}
		if x.Verdict.Code == plan.WouldReturn {
			t.Errorf("%s would return, steered", p.Object.Name)
		}
	}
}

func loadScenario(t *testing.T, name string) (*cluster.Snapshot, search.Options, []plan.Goal) {
	t.Helper()
	s, _, conf := openScenario(t, scenario.Read(t, name))
	return s, conf.PlannerOptions(), controller.Goals(s, conf.BuildStrategies(), nil)
}

// TestNoMoreThanAHundredNodesAreHinted: a wave hints at most 100 nodes, even if 67% of the nodes are more.
func TestNoMoreThanAHundredNodesAreHinted(t *testing.T) {
	objects := &cluster.Objects{}
	for i := range 205 {
		objects.Nodes = append(objects.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%03d", i)},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
	}
	objects.Pods = append(objects.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "d", UID: "d"},
		Spec: corev1.PodSpec{NodeName: "n000"}})
	s := must.Get(cluster.New(objects))(t)
	conf := configWithSteering(t, "taint")
	for n, want := range map[int]string{100: "", 101: "101 nodes would be hinted, and no more than 100 are at once"} {
		p := plan.Plan{Moves: []plan.Move{{Step: 1, Wave: 1, Pod: plan.PodRef{Namespace: "shop", Name: "d", UID: "d"},
			From: "n000", Steer: "taint"}},
			Hints: []plan.WaveHints{{Wave: 1, Kind: "taint"}}}
		for i := range n {
			p.Hints[0].Nodes = append(p.Hints[0].Nodes, s.Nodes[i].Name)
		}
		_, dropped := planner.New(conf.PlannerOptions()).Recheck(s, plan.PlannerState{}, nil, p, 1, s.TakenAt)
		got := ""
		if len(dropped) == 1 {
			_, got, _ = strings.Cut(dropped[0].Reason.Message, "it cannot be steered now: ")
		}
		if len(dropped) != 1 || got != want {
			t.Errorf("%d nodes: %+v, want %q", n, dropped, want)
		}
	}
}

// TestTheShareIsOfNodesForOrdinaryPods: the share of hinted nodes is of the nodes that are open to pods without
// tolerations. Cordoned nodes and nodes with a NoSchedule or NoExecute taint do not count.
func TestTheShareIsOfNodesForOrdinaryPods(t *testing.T) {
	taint := func(e corev1.TaintEffect) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: e}} }
	}
	for name, c := range map[string]struct {
		close  func(*corev1.Node)
		counts bool
	}{
		"open":               {func(*corev1.Node) {}, true},
		"PreferNoSchedule":   {taint(corev1.TaintEffectPreferNoSchedule), true},
		"a NoSchedule taint": {taint(corev1.TaintEffectNoSchedule), false},
		"a NoExecute taint":  {taint(corev1.TaintEffectNoExecute), false},
		"cordoned":           {func(n *corev1.Node) { n.Spec.Unschedulable = true }, false},
	} {
		s, opts, goals := loadScenario(t, "steer-taint-123-grace-0")
		objects := s.Objects
		for i := range 3 {
			n := s.Nodes[0].Object.DeepCopy()
			n.Name, n.UID = fmt.Sprint("more-", i), types.UID(fmt.Sprint("more-", i))
			c.close(n)
			objects.Nodes = append(objects.Nodes, n)
		}
		s = must.Get(cluster.New(objects))(t)
		p := plan.Plan{Moves: []plan.Move{{Step: 1, Wave: 1, Pod: plan.PodRef{Namespace: "shop", Name: "none"}, Steer: "taint"}},
			Hints: []plan.WaveHints{{Wave: 1, Kind: "taint", Nodes: []string{"n1", "n2", "n3"}}}}
		_, dropped := planner.New(opts).Recheck(s, plan.PlannerState{}, goals, p, 1, s.TakenAt)
		if refused := strings.Contains(fmt.Sprint(dropped), "3 nodes would be hinted, and steering allows 2 of 3"); refused == c.counts {
			t.Errorf("%s: %+v", name, dropped)
		}
	}
}

// TestLeftoverHintsAreAProblem: a plan reports expired hints as a problem, even if it does not steer. A hint without
// a valid expiry time counts as expired.
func TestLeftoverHintsAreAProblem(t *testing.T) {
	s, opts, goals := loadScenario(t, "seed-114")
	opts.Steer = hints.None
	now := s.TakenAt
	for expires, want := range map[string]string{
		now.Add(time.Minute).Format(time.RFC3339):  "",
		now.Add(-time.Minute).Format(time.RFC3339): "1 node still hinted by a run that has ended, and pods avoid them (n3): run `evenkeel hints gc`",
		"soon": "1 node still hinted by a run that has ended, and pods avoid them (n3): run `evenkeel hints gc`",
	} {
		n := s.NodeByName("n3")
		n.Object, _ = hints.WithHint(n.Object, hints.Hint{Node: "n3", Kind: hints.Taint, Run: "dead"})
		n.Object.Annotations[hints.ExpiresAnnotation] = expires
		got := ""
		for _, in := range planner.New(opts).Plan(s, plan.PlannerState{}, goals, now).Inputs {
			if in.Source == "hints" {
				got += strings.Join(in.Problems, "|")
			}
		}
		if got != want {
			t.Errorf("expires %s: %q, want %q", expires, got, want)
		}
	}
}
