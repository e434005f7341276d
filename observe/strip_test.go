package observe

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// protoMessage is an object in the encoding of an API server.
type protoMessage interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func encodeAll[T any, P interface {
	*T
	protoMessage
}](t *testing.T, objects []P) [][]byte {
	t.Helper()
	out := make([][]byte, len(objects))
	for i, o := range objects {
		b := must.Get(o.Marshal())(t)
		out[i] = b
	}
	return out
}

// decodeAndStrip decodes objects and strips each of them twice, like an informer that lists.
func decodeAndStrip[T any, P interface {
	*T
	protoMessage
}](t *testing.T, messages [][]byte, keep func(any) (any, error)) []P {
	t.Helper()
	out := make([]P, len(messages))
	for i, b := range messages {
		out[i] = new(T)
		must.Succeed(t, out[i].Unmarshal(b))
	}
	for range 2 {
		for i := range out {
			if _, err := keep(out[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

func encodedCluster(t *testing.T) (pods, sets [][]byte) {
	r := rand.New(rand.NewPCG(1, 1))
	o := simulation.Uneven(r, 250, 5000)
	simulation.Realistic(r, o)
	return encodeAll(t, o.Pods), encodeAll(t, o.ReplicaSets)
}

func keepUnchanged(x any) (any, error) { return x, nil }

// heapBytes returns how many bytes the result of make takes on the heap.
func heapBytes(make func() any) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // also frees objects behind weak pointers
	runtime.ReadMemStats(&before)
	kept := make()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// TestStrippedSize measures the heap size of pods and ReplicaSets from an API server, before and after
// stripping and sharing.
func TestStrippedSize(t *testing.T) {
	pods, sets := encodedCluster(t)
	sent := 0
	for _, b := range pods {
		sent += len(b)
	}
	measure := func(messages [][]byte, decode func(keep func(any) (any, error)) any) (all, kept float64) {
		n := float64(len(messages))
		s := newInternCache()
		kept = heapBytes(func() any { return []any{s, decode(s.stripAndIntern)} }) / n
		return heapBytes(func() any { return decode(keepUnchanged) }) / n, kept
	}
	podAll, podKept := measure(pods, func(keep func(any) (any, error)) any { return decodeAndStrip[corev1.Pod](t, pods, keep) })
	setAll, setKept := measure(sets, func(keep func(any) (any, error)) any { return decodeAndStrip[appsv1.ReplicaSet](t, sets, keep) })
	t.Logf("a pod has %d bytes on the wire, %.0f on the heap, %.0f when stripped; a ReplicaSet %.0f on the heap, %.0f when stripped", sent/len(pods),
		podAll, podKept, setAll, setKept)
	if podKept > 2200 {
		t.Errorf("a stripped pod of a Deployment takes %.0f bytes, want at most 2200", podKept)
	}
	if setKept > 4000 {
		t.Errorf("a stripped ReplicaSet takes %.0f bytes, want at most 4000", setKept)
	}
}

// TestStrippingKeepsPlans checks on random clusters that stripping does not change plans.
func TestStrippingKeepsPlans(t *testing.T) {
	conf := must.Get(config.Load("c", []byte(`apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies:
  hot-nodes: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.5, memory: 0.5}}}
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
`)))(t)
	made := func(o *cluster.Objects) (string, int) {
		s := must.Get(cluster.New(o))(t)
		var goals []plan.Goal
		for _, st := range conf.BuildStrategies() {
			goals = append(goals, st.Goals(s)...)
		}
		p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
		b := must.Get(json.Marshal(p))(t)
		return string(b), len(p.Moves)
	}
	moves := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 21))
		o := simulation.Mixed(r)
		if seed%2 == 0 {
			o = simulation.Uneven(r, 9, 160)
			for _, p := range o.Pods { // a config volume for each pod, and data volumes on some nodes
				p.Spec.Volumes = []corev1.Volume{{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: p.Name}}}}
				if r.IntN(8) == 0 {
					p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "d",
						VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
				}
			}
			simulation.Realistic(r, o)
		}
		want, n := made(o)
		moves += n
		kept := stripObjects(t, o)
		if got, _ := made(kept); got != want {
			t.Fatalf("seed %d: stripped objects give another plan:\n%s", seed, cmp.Diff(want, got))
		}
		if got, _ := made(writeAndRead(t, kept)); got != want {
			t.Fatalf("seed %d: the captured stripped objects give another plan", seed)
		}
	}
	if moves < 100 {
		t.Errorf("only %d moves were compared", moves)
	}
}

// stripObjects returns stripped copies of the objects.
func stripObjects(t *testing.T, o *cluster.Objects) *cluster.Objects {
	t.Helper()
	out, s := *o, newInternCache()
	for v, i := reflect.ValueOf(&out).Elem(), 0; i < v.NumField(); i++ {
		list := v.Field(i)
		if list.Kind() != reflect.Slice || list.Type().Elem().Kind() != reflect.Pointer {
			continue
		}
		copied := reflect.MakeSlice(list.Type(), list.Len(), list.Len())
		for k := range list.Len() {
			c := list.Index(k).MethodByName("DeepCopy").Call(nil)[0]
			if _, err := s.stripAndIntern(c.Interface()); err != nil {
				t.Fatal(err)
			}
			copied.Index(k).Set(c)
		}
		list.Set(copied)
	}
	return &out
}

// writeAndRead writes the objects as a snapshot and reads the snapshot.
func writeAndRead(t *testing.T, o *cluster.Objects) *cluster.Objects {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, cluster.Write(&b, o, cluster.JSON))
	out := &cluster.Objects{}
	must.Succeed(t, cluster.Read(&b, "capture", out))
	return out
}

// TestSharingKeepsPodsEqual checks that sharing does not change pods, and that pods of one controller
// share equal parts.
func TestSharingKeepsPodsEqual(t *testing.T) {
	shared := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 31))
		o := simulation.Mixed(r)
		if seed%2 == 0 {
			simulation.Realistic(r, o)
		}
		together := newInternCache()
		var last *corev1.Pod
		for _, p := range o.Pods {
			alone, kept := p.DeepCopy(), p.DeepCopy()
			for range 2 {
				_, _ = newInternCache().stripAndIntern(alone) // never fails
				_, _ = together.stripAndIntern(kept)
			}
			if d := cmp.Diff(alone, kept); d != "" {
				t.Fatalf("seed %d: sharing changed pod %s:\n%s", seed, p.Name, d)
			}
			if last != nil && last.Labels["app"] == kept.Labels["app"] && &last.Spec.Containers[0] == &kept.Spec.Containers[0] {
				shared++
			}
			last = kept
		}
	}
	if shared < 900 {
		t.Errorf("only %d pods share their containers with the previous pod", shared)
	}
}

// TestCacheReleasesDeletedPods checks that the cache does not keep deleted pods alive.
func TestCacheReleasesDeletedPods(t *testing.T) {
	s := newInternCache()
	o := simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 1000, 24_000)
	for _, p := range o.Pods {
		p.OwnerReferences[0].UID += "x" // a separate string
		_, _ = s.stripAndIntern(p)      // never fails
	}
	if len(s.pods.byOwner) != 1200 {
		t.Fatalf("the cache has %d controllers, want 1200", len(s.pods.byOwner))
	}
	o = nil
	runtime.GC()
	for _, p := range simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 100, 2000).Pods {
		p.OwnerReferences[0].UID = "y-" + p.OwnerReferences[0].UID
		p.Annotations = map[string]string{"evenkeel.io/window": strings.Repeat("x", 10)}
		_, _ = s.stripAndIntern(p)
	}
	s.pods.sweepAt = 0
	s.pods.removeDead()
	if n := len(s.pods.byOwner); n > 150 {
		t.Errorf("the cache has %d controllers after most pods were deleted", n)
	}
}
