// Package simulation generates clusters for tests and benchmarks from a seed. The package never
// makes or judges a plan and is not part of the program.
package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// settings contains environment variables that give each pod a realistic size of several kilobytes.
var settings = func() []corev1.EnvVar {
	var env []corev1.EnvVar
	for i := range 20 {
		env = append(env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", i), Value: strings.Repeat("value ", 15)})
	}
	return env
}()

// Crowded returns a cluster in three zones whose Deployments have per pods each. The first nodes
// hold more pods than the others, and every fifth Deployment has a budget.
func Crowded(r *rand.Rand, nodes, deployments, per int) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	for i := range nodes {
		o.Nodes = append(o.Nodes, bigNode(fmt.Sprintf("n%05d", i), fmt.Sprintf("z%d", i%3)))
	}
	for i := range 10 {
		addNamespace(o, fmt.Sprintf("ns%d", i))
	}
	free := slices.Repeat([]int64{9900}, nodes)
	for d := range deployments {
		addCrowdedApp(o, r, free, d, per)
	}
	return o
}

// bigNode returns a node with 10 CPU and 40Gi.
func bigNode(name, zone string) *corev1.Node {
	has := corev1.ResourceList{"cpu": resource.MustParse("10"), "memory": resource.MustParse("40Gi"), "pods": resource.MustParse("110")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{zoneKey: zone, "kubernetes.io/hostname": name}},
		Status:     readyNode(has)}
}

func addCrowdedApp(o *cluster.Objects, r *rand.Rand, free []int64, d, per int) {
	ns, name, cpu := fmt.Sprintf("ns%d", d%10), fmt.Sprintf("d%05d", d), int64(100*(1+d%4))
	labels := map[string]string{"app": name}
	spec := corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(30)),
		Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/" + name + ":v1", Env: settings,
			Resources: requests(cpu, cpu<<22)}}}
	if d%4 == 0 {
		spec.TopologySpreadConstraints = spreadConstraint(zoneKey, corev1.DoNotSchedule, labels)
	}
	rs := addDeployment(o, ns, name, "x", int32(per), spec)
	if d%5 == 1 {
		addBudget(o, ns, name, labels, int32(per), int32(d%3))
	}
	for i := range per {
		n := int(float64(len(free)) * r.Float64() * r.Float64()) // the first nodes get more pods
		for free[n] < cpu {
			n = (n + 1) % len(free)
		}
		free[n] -= cpu
		addPod(o, rs, fmt.Sprintf("%s-x-%02d", name, i), fmt.Sprintf("n%05d", n))
	}
}

// WithReplacements returns a copy of o in which every moved pod is Ready on its predicted node and all budgets are
// healthy. A replacement keeps the name of the evicted pod. WithReplacements does not change o.
func WithReplacements(o *cluster.Objects, moves []plan.Move) *cluster.Objects {
	to := make(map[string]string, len(moves))
	for _, m := range moves {
		to[m.Pod.UID] = m.To
	}
	out := *o
	out.Pods = nil
	for _, p := range o.Pods {
		if node, moved := to[string(p.UID)]; moved {
			p = p.DeepCopy()
			p.Spec.NodeName = node
		}
		out.Pods = append(out.Pods, p)
	}
	return &out
}
