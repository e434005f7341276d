package oracle

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var topologyKeys = []string{corev1.LabelHostname, corev1.LabelTopologyZone, "rack"}

// themes are the features that a cluster may use. Each cluster uses only some themes: with all of them, every node
// would be infeasible for several reasons, and the test would prove nothing.
var themes = []string{"ports", "disks", "claims", "once", "zones", "reach", "waits", "topologies", "capacity", "limits",
	"attached", "drivers", "features", "nominated", "sidecars", "podLevel", "overhead", "gpu", "images", "ephemeral",
	"affinity", "terms", "spread", "taints", "merged", "spread", "affinity", "capacity", "policies", "policies",
	"spreadKeys", "spreadKeys", "images", "merged", "resizes", "resizes", "namespaces", "portworx", "portworx",
	"attributes", "attached", "merged", "merged", "policies", "policies"}

// requiredTheme maps a theme to the theme that it requires.
var requiredTheme = map[string]string{"once": "claims", "zones": "claims", "reach": "claims", "waits": "claims", "topologies": "waits",
	"capacity": "waits", "limits": "claims", "attached": "limits", "drivers": "claims", "merged": "terms", "policies": "spread",
	"spreadKeys": "spread", "resizes": "sidecars", "namespaces": "terms", "portworx": "limits", "attributes": "waits"}

// generatedCluster builds one random cluster.
type generatedCluster struct {
	*rand.Rand
	objects cluster.Objects
	themes  map[string]bool
	labels  map[string]string // labels of the pods of the current app
}

func (g *generatedCluster) chance(p float64) bool       { return g.Float64() < p }
func (g *generatedCluster) oneOf(list ...string) string { return list[g.Intn(len(list))] }

func generateCluster(seed int64) *cluster.Objects {
	g := &generatedCluster{Rand: rand.New(rand.NewSource(seed)), themes: map[string]bool{}}
	count := 4 + g.Intn(6)
	if g.chance(0.4) { // with few themes, each decides more often
		count = 1 + g.Intn(2)
	}
	for range count {
		for t := themes[g.Intn(len(themes))]; t != ""; t = requiredTheme[t] {
			g.themes[t] = true
		}
	}
	g.objects.ServerVersion = serverVersion()
	if g.themes["policies"] {
		g.themes["taints"], g.themes["affinity"] = true, true
	}
	for i := range 2 {
		n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("ns%d", i)}}
		if !g.themes["namespaces"] || g.chance(0.6) {
			n.Labels = map[string]string{"team": g.oneOf("x", "y")}
		}
		g.objects.Namespaces = append(g.objects.Namespaces, n)
	}
	for i := range 3 + g.Intn(10) {
		g.addNode(i)
	}
	g.addStorage()
	for i := range 2 + g.Intn(6) {
		g.addApp(i)
	}
	return &g.objects
}

func (g *generatedCluster) addNode(i int) {
	cpu := fmt.Sprint(2 + g.Intn(12))
	rl := corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(fmt.Sprintf("%dMi", 2000+g.Intn(12000))),
		"pods": resource.MustParse(fmt.Sprint(5 + g.Intn(20))), "ephemeral-storage": resource.MustParse("10Gi")}
	if g.chance(0.6) {
		rl["example.com/gpu"] = resource.MustParse("2")
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%02d", i),
		Labels: map[string]string{"disk": g.oneOf("ssd", "hdd")}},
		Status: corev1.NodeStatus{Allocatable: rl, Capacity: rl, Conditions: []corev1.NodeCondition{{Type: "Ready", Status: "True"}}}}
	if !g.chance(0.08) {
		n.Labels[topologyKeys[0]] = n.Name
	}
	if !g.chance(0.15) {
		n.Labels[topologyKeys[1]] = g.oneOf("a", "b", "c")
	}
	if g.chance(0.7) {
		n.Labels[topologyKeys[2]] = g.oneOf("", "r1", "r2")
	}
	if g.chance(0.2) {
		n.Labels[corev1.LabelFailureDomainBetaZone] = g.oneOf("a", "b", "c")
	}
	for _, f := range []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"} {
		if g.chance(0.6) {
			n.Status.DeclaredFeatures = append(n.Status.DeclaredFeatures, f)
		}
	}
	for g.chance(map[bool]float64{true: 0.35, false: 0.05}[g.themes["taints"]]) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: g.oneOf("k1", "k2"), Value: g.oneOf("v1", "v2"),
			Effect: corev1.TaintEffect(g.oneOf("NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"))})
	}
	n.Spec.Unschedulable = g.chance(0.03)
	if i%13 == 5 { // the scheduler considers only the taint
		n.Status.Conditions[0].Status = "False"
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	}
	sizes := map[string]int64{"img0:latest": 300 << 20, "img1:v1": 2000 << 20, "img2:v1": 40 << 20}
	for _, name := range []string{"img0:latest", "img1:v1", "img2:v1"} {
		if g.themes["images"] && g.chance(0.5) {
			n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{name}, SizeBytes: sizes[name]})
		}
	}
	g.objects.Nodes = append(g.objects.Nodes, n)
}

// sortedByName returns the nodes in the order in which a newly started scheduler lists them.
func sortedByName(list []*corev1.Node) []*corev1.Node {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
