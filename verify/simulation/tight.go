package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Tight returns a cluster of few small nodes on which single moves often help no goal. Some nodes
// are short of CPU, others of memory. About half of the pods have no controller, so the planner
// does not move them. A plan needs displaced moves that make room for other pods.
func Tight(r *rand.Rand) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	addNamespace(o, "shop")
	for i := range 3 + r.IntN(4) {
		n := bigNode(fmt.Sprintf("n%d", i), fmt.Sprintf("z%d", i%3))
		n.Status.Allocatable["memory"] = resource.MustParse("10Gi")
		o.Nodes = append(o.Nodes, n)
		kind := r.IntN(3) // the scarce resource: CPU, memory or none
		base := [3][2]int64{{5500 + r.Int64N(2500), r.Int64N(2 << 10)}, {r.Int64N(4000), 4<<10 + r.Int64N(2<<10)},
			{r.Int64N(5000), r.Int64N(3 << 10)}}[kind]
		bare := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "base-" + n.Name, UID: types.UID("base-" + n.Name),
			CreationTimestamp: metav1.NewTime(epoch)}, Spec: tightSpec(base[0], base[1]), Status: readyPod(epoch)}
		bare.Spec.NodeName = n.Name
		o.Pods = append(o.Pods, bare)
		small := [3][2]int64{{1500 + r.Int64N(2500), 2<<10 + r.Int64N(3<<10)}, {r.Int64N(300), 2<<10 + r.Int64N(3<<10)},
			{r.Int64N(2000), r.Int64N(3 << 10)}}[kind]
		for k := range 1 + r.IntN(2) {
			rs := addDeployment(o, "shop", fmt.Sprintf("app-%s-%d", n.Name, k), "x", 1, tightSpec(small[0], small[1]))
			addPod(o, rs, rs.Name+"-0", n.Name).CreationTimestamp = metav1.NewTime(epoch)
		}
	}
	return o
}

// tightSpec returns a pod spec that requests milliCPU and MiB.
func tightSpec(milliCPU, mib int64) corev1.PodSpec {
	return corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(30)),
		Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/c:v1", Resources: requests(milliCPU, mib<<20)}}}
}

// TightSettings is the configuration for Tight.
const TightSettings = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minReplicas: 1}
limits: {perNamespace: unlimited}
strategies:
  hot: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.8}}}
`
