package quality

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

var (
	longRun = flag.Bool("long", false, "test all seeds and cluster sizes")
	seeds   = flag.Int("seeds", 0, "number of seeds; 0 means the default of the short or long form")
	steer   = flag.String("steer", "none", "steering of the scheduler: none, taint or label")
	only    = flag.Int("seed", -1, "test only this seed and log details")
)

// balanceConfig configures load and spread goals together, without limits.
const balanceConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minPodAge: 0s}
strategies:
  hot: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: %[1]s, memory: %[1]s}}}
  zones: {type: ZoneSpread, schedule: "0 * * * *", args: {maxSkew: %[2]d}}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: unlimited}, steer: %[3]s}
`

// problem is a cluster with its configuration.
type problem struct {
	seed int
	s    *cluster.Snapshot
	conf *config.Config
	// stated are the goals of the problem; nil means those of the strategies.
	stated []plan.Goal
}

// randomProblem generates the problem for a seed. Pods request 35 to 55 % of the CPU, so the targets leave room.
func randomProblem(t testing.TB, seed, fewest, most, mostPods int) problem {
	t.Helper()
	return changedProblem(t, seed, fewest, most, mostPods, func(*rand.Rand, *cluster.Objects) {})
}

// changedProblem is randomProblem with a change of the cluster.
func changedProblem(t testing.TB, seed, fewest, most, mostPods int, change func(*rand.Rand, *cluster.Objects)) problem {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(seed), 77))
	target := []string{"0.65", "0.7", "0.75", "0.8"}[r.IntN(4)]
	conf, err := config.Load("c", fmt.Appendf(nil, balanceConfig, target, 1+r.IntN(4)/3, *steer))
	if err != nil {
		t.Fatal(err)
	}
	o := simulation.Varied(r, fewest+r.IntN(most-fewest+1), mostPods)
	change(r, o)
	s, err := cluster.New(o)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return problem{seed, s, conf, nil}
}

func (p problem) options() search.Options {
	o := p.conf.PlannerOptions()
	o.SamplesPerCode = -1
	return o
}

func (p problem) goals() []plan.Goal {
	if p.stated != nil {
		return p.stated
	}
	return controller.Goals(p.s, p.conf.BuildStrategies(), nil)
}

func (p problem) plan() plan.Plan {
	return planner.New(p.options()).Plan(p.s, plan.PlannerState{}, p.goals(), p.s.TakenAt)
}

// withoutSteps returns the problem with pods that have not run long enough to be displaced for others.
func (p problem) withoutSteps(t interface{ Fatal(...any) }) problem {
	objects := *p.s.Objects
	objects.Pods = slices.Clone(objects.Pods)
	for i, pod := range objects.Pods {
		objects.Pods[i] = pod.DeepCopy()
		objects.Pods[i].Status.StartTime = new(metav1.NewTime(p.s.TakenAt.Add(-59 * time.Minute)))
	}
	s, err := cluster.New(&objects)
	if err != nil {
		t.Fatal(err)
	}
	return problem{p.seed, s, p.conf, p.stated}
}

// afterPlan returns the problem after the plan. Every replacement has landed on its predicted
// node and has just started.
func (p problem) afterPlan(t testing.TB, pl plan.Plan) problem {
	t.Helper()
	landed := simulation.WithReplacements(p.s.Objects, pl.Moves)
	for i, pod := range landed.Pods {
		if pod != p.s.Objects.Pods[i] {
			started := metav1.NewTime(p.s.TakenAt)
			pod.Status.StartTime = &started
		}
	}
	s := must.Get(cluster.New(landed))(t)
	return problem{p.seed, s, p.conf, nil}
}

// seedRange returns the range of seeds of the short or long form.
func seedRange(short, full int) (from, to int) {
	switch {
	case *only >= 0:
		return *only, *only + 1
	case *seeds > 0:
		return 0, *seeds
	case *longRun:
		return 0, full
	}
	return 0, short
}

// checkCriterion compares a figure with its limit. checkCriterion fails the test only if the test
// runs all seeds of the short or long form.
func checkCriterion(t *testing.T, what string, got, wanted float64) {
	t.Helper()
	verdict := "met"
	if got > wanted {
		verdict = "NOT MET"
	}
	t.Logf("%-62s %8.3f, wanted at most %.3f: %s", what, got, wanted, verdict)
	if (*longRun || *only < 0 && *seeds == 0) && got > wanted {
		t.Errorf("%s: %.3f, wanted at most %.3f", what, got, wanted)
	}
}
