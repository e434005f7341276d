package passes

import (
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// Scenario describes a cluster and its changes.
type Scenario struct {
	Nodes, Pods int
	Seed        uint64
	Passes      int
	// EveryMinutes is the time between passes.
	EveryMinutes int
	Noise        Noise
	Churn        Churn
	// UnpredictedFrac is the share of replacements that ignore the prediction and land on a random feasible node.
	UnpredictedFrac float64
	// OnePlan disables the second plan of a pass.
	OnePlan bool
}

// Noise varies the requests of pods in every pass, by a uniform random fraction of the requests in the pod
// template. Noise simulates varying load for NodeLoad strategies on requests.
type Noise struct {
	// Pods varies each pod separately. Nodes varies all pods of a node by the same factor.
	Pods, Nodes float64
}

// Churn is the mean number of changes per hour.
type Churn struct {
	// Rollouts replace every pod of a Deployment and multiply its requests by 0.8 to 1.25. Scalings
	// change the replicas of a Deployment by a fifth to a half.
	Rollouts, Scalings float64
	// Joins add empty nodes. Leaves remove nodes, whose pods are then scheduled again.
	Joins, Leaves float64
}

// Simulation holds the state of a simulated cluster.
type Simulation struct {
	Scenario
	conf             *config.Config
	r                *rand.Rand
	o                *cluster.Objects
	now              time.Time
	state            plan.PlannerState
	latest           plan.Plan
	histories        map[string]*podHistory // by UID
	nodesCreated     int
	placed           int                            // number of pods placed since the previous pass
	templateRequests map[string]corev1.ResourceList // requests of the pod template, by pod UID
	podsCreated      map[string]int                 // number of pods ever created, by ReplicaSet UID
	unlikely         map[types.UID]time.Time        // by ReplicaSet: when a replacement last landed on another node than the likeliest
}

// podHistory is the history of a replica and its replacements. A rollout or the removal of
// a node starts a new history.
type podHistory struct {
	moved time.Time // last eviction by the planner; zero means never
	// asPlanned says that its replacement then landed on the node that the plan names.
	asPlanned bool
	lastMove  string // described
	unmet     map[unmetGoal]bool
}

// unmetGoal is a strategy that had an unmet goal about a pod at the start of a pass.
type unmetGoal struct {
	strategy string
	at       time.Time
}

// Start creates an uneven cluster with half of its CPU requested.
func Start(sc Scenario, conf *config.Config) *Simulation {
	r := rand.New(rand.NewPCG(sc.Seed, 31))
	c := &Simulation{Scenario: sc, conf: conf, r: r, o: simulation.Uneven(r, sc.Nodes, sc.Pods), histories: map[string]*podHistory{},
		templateRequests: map[string]corev1.ResourceList{}, podsCreated: map[string]int{}, unlikely: map[types.UID]time.Time{}}
	c.now = c.o.TakenAt
	c.nodesCreated = len(c.o.Nodes)
	for _, p := range c.o.Pods {
		c.histories[string(p.UID)] = &podHistory{unmet: map[unmetGoal]bool{}}
		c.templateRequests[string(p.UID)] = p.Spec.Containers[0].Resources.Requests
		c.podsCreated[string(p.OwnerReferences[0].UID)]++
	}
	return c
}

// Run runs all passes.
func (c *Simulation) Run() Record {
	rec := Record{Every: time.Duration(c.EveryMinutes) * time.Minute}
	for i := range c.Passes {
		if i > 0 {
			c.now = c.now.Add(rec.Every)
			c.applyChurn()
		}
		c.varyUsage()
		rec.Passes = append(rec.Passes, c.runPass())
	}
	return rec
}

// takeSnapshot returns a snapshot of the current objects.
func (c *Simulation) takeSnapshot() *cluster.Snapshot {
	o := *c.o
	o.TakenAt = c.now
	s, err := cluster.New(&o)
	if err != nil {
		panic("passes: invalid simulated objects: " + err.Error())
	}
	return s
}

// varyUsage sets the requests of every pod for this pass.
func (c *Simulation) varyUsage() {
	if c.Noise == (Noise{}) {
		return
	}
	byNode := map[string]float64{}
	for _, n := range c.o.Nodes {
		byNode[n.Name] = 1 + c.Noise.Nodes*(2*c.r.Float64()-1)
	}
	for i, p := range c.o.Pods {
		factor := 1 + c.Noise.Pods*(2*c.r.Float64()-1)
		if f, ok := byNode[p.Spec.NodeName]; ok {
			factor *= f
		}
		c.o.Pods[i] = withRequests(p, scaleRequests(c.templateRequests[string(p.UID)], factor))
	}
}

func scaleRequests(of corev1.ResourceList, factor float64) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range of {
		if name == corev1.ResourceCPU {
			q.SetMilli(int64(float64(q.MilliValue()) * factor))
		} else {
			q.Set(int64(float64(q.Value()) * factor))
		}
		out[name] = q
	}
	return out
}

// withRequests returns a copy of the pod with other requests. Snapshots may share the original pod.
func withRequests(p *corev1.Pod, requests corev1.ResourceList) *corev1.Pod {
	out := *p
	out.Spec.Containers = []corev1.Container{p.Spec.Containers[0]}
	out.Spec.Containers[0].Resources.Requests = requests
	return &out
}
