package passes

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestWarmPlansAreColdPlans changes random clusters step by step. After each step, the plan on a snapshot of an Indexer
// that has indexed the earlier ones has the same bytes as the plan on a snapshot of New.
func TestWarmPlansAreColdPlans(t *testing.T) {
	sequences, steps := uint64(100), 4
	if *long {
		sequences = 1000
	}
	moves, kinds := 0, map[string]int{}
	for seed := range sequences {
		r := rand.New(rand.NewPCG(seed, 71))
		c := changingCluster{r: r, o: randomObjects(r, seed), kinds: kinds}
		past := simulation.RandomState(r, c.o)
		conf := must.Get(config.Load("c", []byte(simulation.AllStrategySettings(r))))(t)
		index := cluster.Indexer{IsMarked: annotation.IsMarked}
		warmPlanner := planner.New(conf.PlannerOptions())
		for step := range steps {
			o := c.objects()
			known, fresh := must.Get(index.New(o))(t), must.Get(cluster.New(o))(t)
			warm, warmBytes := planBytes(t, known, conf, warmPlanner, past)
			_, coldBytes := planBytes(t, fresh, conf, planner.New(conf.PlannerOptions()), past)
			if !reflect.DeepEqual(contents(known), contents(fresh)) {
				t.Fatalf("seed %d, step %d: the snapshots differ:\n%+v\nwant\n%+v", seed, step, contents(known), contents(fresh))
			}
			if got, want := classes(known), classes(fresh); !slices.Equal(got, want) {
				t.Fatalf("seed %d, step %d: the classes of the pods are %v, want %v", seed, step, got, want)
			}
			if warmBytes != coldBytes {
				t.Fatalf("seed %d, step %d: the warm plan is\n%s\nwant\n%s", seed, step, warmBytes, coldBytes)
			}
			moves += len(warm.Moves)
			for range 1 + r.IntN(8) {
				c.change()
			}
		}
	}
	t.Logf("%d sequences, %d moves, changes: %v", sequences, moves, kinds)
	if moves < 100 {
		t.Errorf("the plans have %d moves, want at least 100", moves)
	}
}

// contents returns what a snapshot holds, without the templates, which are different pointers.
func contents(s *cluster.Snapshot) []any {
	pods := slices.Clone(s.Pods)
	for i := range pods {
		pods[i].Template, pods[i].Mark, pods[i].InheritedMark = nil, cluster.UnknownMark, cluster.UnknownMark
	}
	return []any{pods, s.Nodes, s.Workloads, s.Budgets, s.Services, s.UnknownNodePods, s.Unattempted, s.Usage}
}

// classes returns the number of each pod's equivalence class.
func classes(s *cluster.Snapshot) []int {
	m, out := placement.NewClusterModel(s, placement.Options{}), make([]int, len(s.Pods))
	for i := range out {
		out[i] = m.Cluster.ClassNumber(cluster.PodID(i))
	}
	return out
}

func randomObjects(r *rand.Rand, seed uint64) *cluster.Objects {
	var o *cluster.Objects
	switch seed % 3 {
	case 0:
		o = simulation.Mixed(r)
	case 1:
		o = simulation.Crowded(r, 6+r.IntN(3), 6+r.IntN(5), 4+r.IntN(6))
	default:
		o = simulation.Varied(r, 6+r.IntN(6), 80)
	}
	if r.IntN(2) == 0 {
		simulation.RandomUsage(r, o)
	}
	setPodResources(r, o.Pods[r.IntN(len(o.Pods))])
	return o
}

func planBytes(t *testing.T, s *cluster.Snapshot, conf *config.Config, by *planner.Planner, past plan.PlannerState) (plan.Plan, string) {
	t.Helper()
	p := by.Plan(s, past, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	return p, string(must.Get(json.Marshal(p))(t))
}

// changingCluster replaces objects as an informer does: a changed object is a new one.
type changingCluster struct {
	r     *rand.Rand
	o     *cluster.Objects
	names int
	kinds map[string]int // number of changes of each kind
}

// objects returns the objects, with the pods and nodes in random order.
func (c *changingCluster) objects() *cluster.Objects {
	o := *c.o
	o.Pods, o.Nodes = slices.Clone(o.Pods), slices.Clone(o.Nodes)
	c.r.Shuffle(len(o.Pods), func(i, j int) { o.Pods[i], o.Pods[j] = o.Pods[j], o.Pods[i] })
	c.r.Shuffle(len(o.Nodes), func(i, j int) { o.Nodes[i], o.Nodes[j] = o.Nodes[j], o.Nodes[i] })
	return &o
}

func (c *changingCluster) change() {
	changes := []struct {
		kind string
		make func()
	}{
		{"time", func() { c.o.TakenAt = c.o.TakenAt.Add(time.Duration(c.r.IntN(1800)) * time.Second) }},
		{"pod gone", func() { drop(c.r, &c.o.Pods) }},
		{"pod new", func() {
			if p := replaceOne(c.r, &c.o.Pods, func(*corev1.Pod) {}); p != nil {
				q := p.DeepCopy()
				c.rename(&q.ObjectMeta)
				q.Spec.NodeName = c.nodeName()
				c.o.Pods = append(c.o.Pods, q)
			}
		}},
		{"pod", func() { replaceOne(c.r, &c.o.Pods, c.changePod) }},
		{"pod", func() { replaceOne(c.r, &c.o.Pods, c.changePod) }},
		{"node new", func() {
			if n := replaceOne(c.r, &c.o.Nodes, func(*corev1.Node) {}); n != nil {
				m := n.DeepCopy()
				c.rename(&m.ObjectMeta)
				c.o.Nodes = append(c.o.Nodes, m)
			}
		}},
		{"node gone", func() {
			if len(c.o.Nodes) > 2 {
				drop(c.r, &c.o.Nodes)
			}
		}},
		{"node", func() { replaceOne(c.r, &c.o.Nodes, c.changeNode) }},
		{"budget gone", func() { drop(c.r, &c.o.PodDisruptionBudgets) }},
		{"budget", func() {
			replaceOne(c.r, &c.o.PodDisruptionBudgets, func(b *policyv1.PodDisruptionBudget) {
				b.Spec.MaxUnavailable, b.Status.DisruptionsAllowed = new(intstr.FromInt32(1)), int32(c.r.IntN(3))
				b.Spec.Selector = c.selector()
			})
		}},
		{"service", func() {
			replaceOne(c.r, &c.o.Services, func(s *corev1.Service) { s.Spec.Selector = c.selector().MatchLabels })
		}},
		{"deployment", func() {
			replaceOne(c.r, &c.o.Deployments, func(d *appsv1.Deployment) {
				d.Spec.Replicas = new(int32(c.r.IntN(8)))
				setRandom(c.r, &d.Annotations, annotation.Evict, "never")
			})
		}},
		{"replica set", func() {
			replaceOne(c.r, &c.o.ReplicaSets, func(s *appsv1.ReplicaSet) {
				s.Spec.Template.Spec.Priority = new(int32(c.r.IntN(3)))
				if c.r.IntN(2) == 0 {
					s.OwnerReferences = nil
				}
			})
		}},
		{"replica set gone", func() { drop(c.r, &c.o.ReplicaSets) }},
		{"namespace", func() {
			replaceOne(c.r, &c.o.Namespaces, func(n *corev1.Namespace) { setRandom(c.r, &n.Annotations, annotation.Evict, "never") })
		}},
		{"version", func() { c.o.ServerVersion = fmt.Sprintf("1.%d", 33+c.r.IntN(5)) }},
		{"usage", func() { simulation.RandomUsage(c.r, c.o) }},
	}
	x := changes[c.r.IntN(len(changes))]
	c.kinds[x.kind]++
	x.make()
}

func (c *changingCluster) changePod(p *corev1.Pod) {
	switch c.r.IntN(16) {
	case 0:
		p.Spec.NodeName = c.nodeName()
	case 1:
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": *resource.NewMilliQuantity(int64(c.r.IntN(900)), resource.DecimalSI)}
		p.Generation++
	case 2:
		setRandom(c.r, &p.Labels, "app", fmt.Sprint("a", c.r.IntN(4)))
	case 3:
		setRandom(c.r, &p.Annotations, annotation.Evict, "never")
	case 4:
		p.Status.Phase = []corev1.PodPhase{corev1.PodRunning, corev1.PodFailed, corev1.PodSucceeded, corev1.PodPending}[c.r.IntN(4)]
	case 5:
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	case 6:
		p.DeletionTimestamp = &metav1.Time{Time: c.o.TakenAt.Add(time.Minute)}
	case 7:
		p.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	case 8:
		p.OwnerReferences = nil
	case 9:
		setPodResources(c.r, p)
	case 10:
		p.Spec.NodeName, p.Status.Conditions = "", nil
	case 11:
		p.Finalizers = append(p.Finalizers, "example.com/keep")
	case 12:
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	case 13:
		p.Spec.Priority = new(int32(c.r.IntN(3)))
	case 14:
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue})
	case 15:
		p.OwnerReferences = slices.Clone(p.OwnerReferences)
		for i := range p.OwnerReferences {
			p.OwnerReferences[i].Kind = "DaemonSet"
		}
	}
}

// setPodResources sets the requests of the pod as a whole, which not every version counts.
func setPodResources(r *rand.Rand, p *corev1.Pod) {
	p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(int64(r.IntN(2000)), resource.DecimalSI)}}
}

func (c *changingCluster) changeNode(n *corev1.Node) {
	switch c.r.IntN(4) {
	case 0:
		n.Spec.Unschedulable = !n.Spec.Unschedulable
	case 1:
		setRandom(c.r, &n.Labels, corev1.LabelTopologyZone, fmt.Sprint("z", c.r.IntN(3)))
	case 2:
		n.Status.Allocatable["cpu"] = *resource.NewMilliQuantity(2000+int64(c.r.IntN(8000)), resource.DecimalSI)
	case 3:
		n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	}
}

// selector returns a selector of the labels of a pod.
func (c *changingCluster) selector() *metav1.LabelSelector {
	for _, p := range c.o.Pods {
		if app := p.Labels["app"]; app != "" && c.r.IntN(4) == 0 {
			return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "none"}}
}

func (c *changingCluster) nodeName() string { return c.o.Nodes[c.r.IntN(len(c.o.Nodes))].Name }

func (c *changingCluster) rename(m *metav1.ObjectMeta) {
	c.names++
	m.Name += fmt.Sprint("-new", c.names)
	m.UID = types.UID(m.Name)
}

// setRandom sets a key or deletes it.
func setRandom(r *rand.Rand, m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	if r.IntN(3) == 0 {
		delete(*m, key)
		return
	}
	(*m)[key] = value
}

func drop[T any](r *rand.Rand, list *[]T) {
	if len(*list) > 1 {
		i := r.IntN(len(*list))
		*list = slices.Delete(slices.Clone(*list), i, i+1)
	}
}

// replaceOne replaces a random object by a changed copy, which it returns. It returns nil if there is no object.
func replaceOne[T interface {
	comparable
	DeepCopy() T
}](r *rand.Rand, list *[]T, change func(T)) (out T) {
	if len(*list) == 0 {
		return out
	}
	i := r.IntN(len(*list))
	out = (*list)[i].DeepCopy()
	change(out)
	*list = slices.Clone(*list)
	(*list)[i] = out
	return out
}
