// Package passes has a planner level a simulated cluster, pass after pass, while
// the cluster changes by itself: loads vary, Deployments roll out and scale, nodes
// come and go. It remembers between passes what the program remembers.
//
// It decides what befalls the cluster, from a seed, and counts what the planner
// does about it. It never judges: tests do. It is not part of the program.
//
// What it takes for granted: replacements land with the odds that package
// placement gives, so what is simulated is the planner's behaviour over time and
// not whether predictions are right; each is Ready at once; a rollout and a
// scaling happen between two passes.
package passes

import (
	"fmt"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// Scenario says what befalls a cluster.
type Scenario struct {
	Nodes, Pods int
	Seed        uint64
	Passes      int
	// EveryMinutes is the time between passes.
	EveryMinutes int
	Noise        Noise
	Churn        Churn
	// UnpredictedFrac is the share of replacements that land on any node that has room,
	// whatever is foretold.
	UnpredictedFrac float64
	// OnePlan: a pass does not plan again where not all came as planned.
	OnePlan bool
}

// Noise varies, at every pass, what pods request, by up to a fraction up or down
// of what their template says, all values as likely: a load that varies, in the numbers
// that NodeLoad by requests goes by.
type Noise struct {
	// Pods vary each by itself; Nodes vary with all of their pods alike.
	Pods, Nodes float64
}

// Churn is how often an hour things happen, in the mean.
type Churn struct {
	// Rollouts replace every pod of a Deployment, which then requests 0.8 to 1.25
	// times as much. Scalings change its replicas by a fifth to a half.
	Rollouts, Scalings float64
	// Joins are nodes that come, empty; Leaves are nodes that go, their pods
	// placed anew.
	Joins, Leaves float64
}

// Simulation is a cluster under way.
type Simulation struct {
	Scenario
	conf    *config.Config
	r       *rand.Rand
	o       *cluster.Objects
	now     time.Time
	state   plan.PlannerState
	life    map[string]*life // by UID
	made    int
	placed  int                            // pods, since the pass before
	nominal map[string]corev1.ResourceList // by UID: what the template says
	pods    map[string]int                 // of each ReplicaSet, by UID, ever made
}

// life is what befell a replica, over all of its replacements. One that a rollout or
// a node's leaving replaces begins a new life.
type life struct {
	moved time.Time // last moved by the planner; zero: never
}

// Start makes the cluster: uneven, at half of its CPU.
func Start(sc Scenario, conf *config.Config) *Simulation {
	r := rand.New(rand.NewPCG(sc.Seed, 31))
	c := &Simulation{Scenario: sc, conf: conf, r: r, o: simulation.Uneven(r, sc.Nodes, sc.Pods), life: map[string]*life{}, nominal: map[string]corev1.ResourceList{}, pods: map[string]int{}}
	c.now = c.o.TakenAt
	c.made = len(c.o.Nodes)
	for _, p := range c.o.Pods {
		c.life[string(p.UID)] = &life{}
		c.nominal[string(p.UID)] = p.Spec.Containers[0].Resources.Requests
		c.pods[string(p.OwnerReferences[0].UID)]++
	}
	return c
}

// Run goes through all passes.
func (c *Simulation) Run() Record {
	rec := Record{Every: time.Duration(c.EveryMinutes) * time.Minute}
	for i := range c.Passes {
		if i > 0 {
			c.now = c.now.Add(rec.Every)
			c.churn()
		}
		c.varyUsage()
		rec.Passes = append(rec.Passes, c.pass())
	}
	return rec
}

// snapshot indexes the objects as they are.
func (c *Simulation) snapshot() *cluster.Snapshot {
	o := *c.o
	o.TakenAt = c.now
	s, err := cluster.New(&o)
	if err != nil {
		panic("passes: objects of its own: " + err.Error())
	}
	return s
}

// varyUsage gives every pod the request of this pass.
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
		c.o.Pods[i] = withRequests(p, scaled(c.nominal[string(p.UID)], factor))
	}
}

func scaled(of corev1.ResourceList, factor float64) corev1.ResourceList {
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

// withRequests is a copy: a snapshot may still hold the pod.
func withRequests(p *corev1.Pod, requests corev1.ResourceList) *corev1.Pod {
	out := *p
	out.Spec.Containers = []corev1.Container{p.Spec.Containers[0]}
	out.Spec.Containers[0].Resources.Requests = requests
	return &out
}

// newPod is one more pod of a ReplicaSet, not bound yet.
func (c *Simulation) newPod(rs *appsv1.ReplicaSet) *corev1.Pod {
	return c.namedPod(rs, fmt.Sprintf("%s-%02d", rs.Name, c.next(rs)))
}
