package observe

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/internal/heap"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/trust"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// Environment variables of TestPeakMemory: the cluster size as nodes/pods, and the same size
// for the server process.
const (
	peakSize  = "EVENKEEL_PEAK"
	peakServe = "EVENKEEL_PEAK_SERVE"
)

// TestServePeak runs the server for TestPeakMemory in a separate process. It streams every kind to
// informers as an API server does.
func TestServePeak(t *testing.T) {
	size := os.Getenv(peakServe)
	if size == "" {
		t.Skip("runs only as the server process of TestPeakMemory")
	}
	var nodes, pods int
	if _, err := fmt.Sscanf(size, "%d/%d", &nodes, &pods); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	o := simulation.Uneven(r, nodes, pods)
	simulation.Realistic(r, o)
	lists := map[string][]k8sruntime.Object{}
	for _, x := range o.Nodes {
		lists["/api/v1/nodes"] = append(lists["/api/v1/nodes"], x)
	}
	for _, x := range o.Pods {
		lists["/api/v1/pods"] = append(lists["/api/v1/pods"], x)
	}
	for _, x := range o.Namespaces {
		lists["/api/v1/namespaces"] = append(lists["/api/v1/namespaces"], x)
		for _, account := range []string{"default", "app"} {
			lists["/api/v1/serviceaccounts"] = append(lists["/api/v1/serviceaccounts"], &corev1.ServiceAccount{
				ObjectMeta: metav1.ObjectMeta{Namespace: x.Name, Name: account, UID: types.UID(x.Name + account), ResourceVersion: "1"}})
		}
	}
	for _, x := range o.ReplicaSets {
		x.ManagedFields = o.Pods[0].ManagedFields
		lists["/apis/apps/v1/replicasets"] = append(lists["/apis/apps/v1/replicasets"], x)
	}
	for _, x := range o.Deployments {
		x.ManagedFields = o.Pods[0].ManagedFields
		lists["/apis/apps/v1/deployments"] = append(lists["/apis/apps/v1/deployments"], x)
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	fmt.Println("serving", l.Addr())
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.URL.Path == "/version":
			fmt.Fprint(w, `{"major":"1","minor":"37"}`)
		case strings.HasSuffix(q.URL.Path, "/kube-system"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"u"}}`)
		case strings.HasSuffix(q.URL.Path, "/events"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"EventList","items":[]}`)
		case q.URL.Path == "/api/v1/pods" && q.URL.Query().Get("watch") == "":
			sendPods(w, lists[q.URL.Path])
		case q.URL.Path == "/api/v1/pods":
			streamInitialEvents(w, q, nil)
		default:
			streamInitialEvents(w, q, lists[q.URL.Path])
		}
	}))
}

// sendPods sends a list of pods.
func sendPods(w http.ResponseWriter, pods []k8sruntime.Object) {
	info, _ := k8sruntime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), k8sruntime.ContentTypeProtobuf)
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9000000"}}
	for _, p := range pods {
		list.Items = append(list.Items, *p.(*corev1.Pod))
	}
	w.Header().Set("Content-Type", k8sruntime.ContentTypeProtobuf)
	_ = scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion).Encode(list, w) // the client may have gone
}

// streamInitialEvents sends the initial events of a watch and keeps it open.
func streamInitialEvents(w http.ResponseWriter, q *http.Request, list []k8sruntime.Object) {
	info, _ := k8sruntime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), k8sruntime.ContentTypeProtobuf)
	w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf;stream=watch")
	frames := info.StreamSerializer.Framer.NewFrameWriter(w)
	send := func(kind string, x k8sruntime.Object) {
		gvk, _, err := scheme.Scheme.ObjectKinds(x)
		if err != nil {
			panic(err)
		}
		raw, err := k8sruntime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, gvk[0].GroupVersion()), x)
		if err != nil {
			panic(err)
		}
		if err := info.StreamSerializer.Serializer.Encode(&metav1.WatchEvent{Type: kind, Object: k8sruntime.RawExtension{Raw: raw}},
			frames); err != nil {
			return // the client disconnected
		}
	}
	for _, x := range list {
		send("ADDED", x)
	}
	parts := strings.Split(strings.Trim(q.URL.Path, "/"), "/")
	gv := schema.GroupVersion{Version: parts[1]}
	if parts[0] == "apis" {
		gv = schema.GroupVersion{Group: parts[1], Version: parts[2]}
	}
	for open := true; open; open = wait.Sleep(q.Context(), clock.RealClock{}, time.Second) { // later bookmarks say that it is not silent
		send("BOOKMARK", initialEventsEndOf(gv, parts[len(parts)-1]))
		w.(http.Flusher).Flush()
	}
}

// initialEventsEndOf returns the bookmark that ends the initial events of a kind. It finds the
// kind by its resource name.
func initialEventsEndOf(gv schema.GroupVersion, resource string) k8sruntime.Object {
	for kind := range scheme.Scheme.KnownTypes(gv) {
		plural := strings.ToLower(kind) + "s"
		if p := strings.TrimSuffix(strings.ToLower(kind), "y") + "ies"; strings.HasSuffix(kind, "y") {
			plural = p
		}
		if strings.HasSuffix(strings.ToLower(kind), "class") {
			plural = strings.ToLower(kind) + "es"
		}
		if plural == resource {
			x, err := scheme.Scheme.New(gv.WithKind(kind))
			if err != nil {
				panic(err)
			}
			m := x.(metav1.Object)
			m.SetResourceVersion("9000000")
			m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
			return x
		}
	}
	return &corev1.Pod{}
}

// TestPeakMemory measures the resident memory of a process that watches a large cluster and
// plans. Run it with EVENKEEL_PEAK=5000/100000.
func TestPeakMemory(t *testing.T) {
	size := os.Getenv(peakSize)
	if size == "" {
		t.Skip("set " + peakSize + " to nodes/pods, such as 5000/100000")
	}
	t.Cleanup(heap.Tune(os.Getenv, os.ReadFile))
	client := startPeakServer(t, size)
	conf := must.Get(config.Load("c", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nguards: {minPodAge: 0s}\nlimits: {perPass: 500, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited, perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}\nstrategies:\n"+
		"  hot-nodes: {type: NodeLoad, schedule: \"*/10 * * * *\", args: {target: {cpu: 0.5, memory: 0.5}}}\n  zones: {type: ZoneSpread, schedule: \"0 * * * *\"}\n")))(t)
	began := time.Now()
	o := New(client, clock.RealClock{})
	o.Start(t.Context())
	t.Cleanup(o.Shutdown)
	must.Succeed(t, o.WaitForSync(t.Context()))
	t.Logf("synced after %s: %s", time.Since(began).Round(time.Second), residentMemory(t))
	var planning sync.Mutex
	checkBindings(t, o, &planning)
	for range 3 {
		began = time.Now()
		s := must.Get(o.Snapshot(t.Context()))(t)
		took := time.Since(began)
		var goals []plan.Goal
		for _, st := range conf.BuildStrategies() {
			goals = append(goals, st.Goals(s)...)
		}
		goalsTook := time.Since(began) - took
		planning.Lock()
		planned := heap.Planning(500)
		p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
		planned()
		planning.Unlock()
		t.Logf("%d pods: snapshot %s, %d goals %s, %d moves %s: %s", len(s.Pods), took.Round(time.Millisecond), len(goals),
			goalsTook.Round(time.Millisecond),
			len(p.Moves), time.Since(began).Round(time.Millisecond), residentMemory(t))
		if len(p.Moves) == 0 {
			t.Error("the plan is empty, so the figures are too small")
		}
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d MB of heap after garbage collection: %s", m.HeapAlloc>>20, residentMemory(t))
}

// startPeakServer starts the server process and returns a client.
func startPeakServer(t *testing.T, size string) kubernetes.Interface {
	t.Helper()
	server := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServePeak$", "-test.timeout=1h", "-test.v")
	server.Env = append(os.Environ(), peakServe+"="+size, "GOGC=400")
	out := must.Get(server.StdoutPipe())(t)
	must.Succeed(t, server.Start())
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "serving "); ok {
			client := must.Get(kubernetes.NewForConfig(&rest.Config{Host: "http://" + address, QPS: -1,
				ContentConfig: rest.ContentConfig{ContentType: k8sruntime.ContentTypeProtobuf}}))(t)
			return client
		}
	}
	t.Fatal("the server process exited")
	return nil
}

// residentMemory returns the resident memory of the process.
func residentMemory(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc here")
	}
	mb := map[string]int{}
	for _, line := range strings.Split(string(status), "\n") {
		if f := strings.Fields(line); len(f) == 3 && f[2] == "kB" {
			mb[f[0]], _ = strconv.Atoi(f[1]) // the kernel always writes a number
		}
	}
	b, err := json.Marshal(map[string]int{"residentMB": mb["VmRSS:"] >> 10, "peakMB": mb["VmHWM:"] >> 10,
		"cpuMs": int(cputime.Used(t).Milliseconds())})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkBindings checks bindings in the background until the test ends. Like the controller, it is
// idle nine times as long as a check takes, and checks nothing during a plan.
func checkBindings(t *testing.T, o *Observer, planning *sync.Mutex) {
	var checks sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); checks.Wait() })
	checks.Go(func() {
		for begun := time.Now(); wait.Sleep(ctx, clock.RealClock{}, 9*time.Since(begun)); {
			planning.Lock()
			begun = time.Now()
			s, err := o.SnapshotWithoutEvents()
			if err != nil {
				t.Error(err)
			} else if _, predicted := trust.CheckBinding(s, bindPods(s, 65), nil, scheduler.DefaultProfile()); !predicted {
				t.Error("a binding was not predicted")
			}
			planning.Unlock()
		}
	})
}

// bindPods changes a snapshot as if the first n pods on nodes had just been bound. It returns the last one.
func bindPods(s *cluster.Snapshot, n int) (last cluster.PodID) {
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node == cluster.NoNode || p.Terminating || p.Terminal {
			continue
		}
		bound := *p.Object
		bound.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(s.TakenAt)}}
		p.Object, last = &bound, p.ID
		if n--; n == 0 {
			break
		}
	}
	return last
}
