package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/records"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// renewConfig evicts the three oldest pods in each pass.
const renewConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: false
namespaces: {include: [%s]}
guards: {minPodAge: 0s}
limits: {perPass: 3, perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited}
strategies:
  renew: {type: Lifetime, schedule: "*/10 * * * *", args: {maxAge: 5m}}
`

// jumpingClock is the real clock, moved on by jumps.
type jumpingClock struct {
	clock.RealClock
	jumped atomic.Int64
}

func (c *jumpingClock) Now() time.Time                  { return c.RealClock.Now().Add(time.Duration(c.jumped.Load())) }
func (c *jumpingClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c *jumpingClock) jump(d time.Duration)            { c.jumped.Add(int64(d)) }

// TestAWeekIsRemembered makes a pass every ten minutes of a week, by a clock that jumps, and compares
// `evenkeel history pod` for random pods with the audit log: which pods were evicted, by UID and in order, and where
// their replacements run. A StatefulSet gives its pods the same names again and again.
func TestAWeekIsRemembered(t *testing.T) {
	days, passes, asked := 7, 144, 200
	if testing.Short() {
		days, passes, asked = 2, 8, 10
	}
	ns := seedApps(t, nil)
	createRenewed(t, ns)
	on := &jumpingClock{}
	var log countingWriter
	began := time.Now()
	for day := range days {
		for i := range passes {
			on.jump(10 * time.Minute)
			// Each pass is another process, because a jump makes the view of a running one too old.
			ctx, stop := context.WithCancel(t.Context())
			c := renewingController(ctx, t, ns, on, slog.New(slog.NewJSONHandler(&log, nil)))
			c.NewRunID = func() string { return fmt.Sprintf("d%d-p%d", day, i) }
			if r, err := c.RunOnce(t.Context(), nil); err != nil || r.Stopped != nil {
				t.Fatalf("pass %d of day %d: %v, stopped %v", i, day, err, r.Stopped)
			}
			stop()
		}
	}
	t.Logf("%d passes took %s; beside the lines about moves and the end of a pass, their log has %d bytes", days*passes,
		time.Since(began).Round(time.Second), log)
	told := auditedMoves(t, ns)
	if len(told) < 2*days*passes {
		t.Fatalf("the audit log has %d evictions, want about three in each pass", len(told))
	}
	names := []string{"db-0", "db-1", "db-2", "db-3"}
	for _, m := range told {
		names = append(names, m.pod.Name, m.replacement.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	random := rand.New(rand.NewPCG(1, 1))
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	began = time.Now()
	rows := 0
	for _, name := range names[:asked] {
		want := chainOf(told, name)
		rows += len(want)
		if got := historyOf(t, ns, name); !slices.Equal(got, want) {
			t.Fatalf("the history of %s has\n%v, the audit log\n%v", name, got, want)
		}
	}
	t.Logf("the histories of %d of %d pods, with %d moves of %d, are those of the audit log; one took %s", asked, len(names), rows, len(told),
		(time.Since(began) / time.Duration(asked)).Round(time.Millisecond))
}

type countingWriter int

func (n *countingWriter) Write(b []byte) (int, error) {
	*n += countingWriter(len(b))
	return len(b), nil
}

// createRenewed creates two Deployments and a StatefulSet, and waits until all their pods are Ready.
func createRenewed(t *testing.T, ns string) {
	t.Helper()
	ctx, apps := t.Context(), lab.Client.AppsV1()
	template := func(name string) (metav1.ObjectMeta, *metav1.LabelSelector, corev1.PodTemplateSpec) {
		labels := map[string]string{"app": name}
		requests := corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("64Mi")}
		return metav1.ObjectMeta{Name: name, Namespace: ns}, &metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To[int64](0), Containers: []corev1.Container{
				{Name: "app", Image: "registry.k8s.io/pause:3.10", Resources: corev1.ResourceRequirements{Requests: requests}}}}}
	}
	for _, name := range []string{"web", "api"} {
		meta, selector, pod := template(name)
		must.Get(apps.Deployments(ns).Create(ctx, &appsv1.Deployment{ObjectMeta: meta,
			Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](8), Selector: selector, Template: pod}}, metav1.CreateOptions{}))(t)
	}
	meta, selector, pod := template("db")
	must.Get(apps.StatefulSets(ns).Create(ctx, &appsv1.StatefulSet{ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](4), Selector: selector, Template: pod}}, metav1.CreateOptions{}))(t)
	must.Succeed(t, seed.WaitUntil(ctx, time.Minute, func() (bool, error) {
		pods, err := lab.Client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Running"})
		return err == nil && len(pods.Items) == 20, err
	}))
}

// renewingController returns a controller with a clock, as the program makes one, but without a Lease.
func renewingController(ctx context.Context, t *testing.T, ns string, on *jumpingClock, log *slog.Logger) *controller.Controller {
	t.Helper()
	conf := must.Get(config.Load("config.yaml", fmt.Appendf(nil, renewConfig, ns)))(t)
	o := observe.New(lab.Client, on)
	o.Start(ctx)
	must.Succeed(t, o.WaitForSync(ctx))
	client := must.Get(objects.New(lab.Config, ns))(t)
	live := evictor.NewLive(lab.Client, o, o.ReplacingOwnerUID, evictor.Options{PerMinute: conf.PerMinute(), VerifyTimeout: time.Minute, Clock: on, Log: log})
	return &controller.Controller{
		Settings: controller.Settings{Planner: planner.New(conf.PlannerOptions()), Strategies: conf.BuildStrategies(), Mode: plan.Live,
			History: conf.HistoryOptions(), Breaker: conf.BreakerOptions(), ConfigHash: conf.PlanHash()},
		Dependencies: controller.Dependencies{Clock: on, Log: log, Recorder: metrics.New("v1", ""), OnReport: func(plan.RunReport) {}, Observer: o, Evictor: live,
			Resolver: live, Store: state.WithPause{Store: state.New(lab.Client, ns), Pauses: state.PauseStore{Objects: client, Clock: on}},
			Records: &records.Store{Client: client, Clock: on, Log: log, Version: "v1", Holder: "pod-a", Schedule: "Deployment",
				Retention: records.Retention{Keep: time.Duration(conf.History.Keep), MaxBytes: records.MaxBytes}}}}
}

// podID is a pod, and toldMove an eviction with what followed it.
type (
	podID    struct{ Name, UID string }
	toldMove struct {
		pod, replacement podID
		from, landed     string
	}
)

// auditedMoves returns the evictions in a namespace, the oldest first. Only one pod of a workload leaves at a time, so
// the next pod of the workload that the scheduler binds to a node is the replacement.
func auditedMoves(t *testing.T, ns string) (moves []*toldMove) {
	t.Helper()
	all := slices.DeleteFunc(must.Get(lab.Audit())(t), func(e auditv1.Event) bool {
		return e.Verb != "create" || e.ObjectRef == nil || e.ObjectRef.Resource != "pods" || e.ObjectRef.Namespace != ns ||
			e.ResponseStatus == nil || e.ResponseStatus.Code != 201
	})
	slices.SortStableFunc(all, func(a, b auditv1.Event) int {
		return a.RequestReceivedTimestamp.Compare(b.RequestReceivedTimestamp.Time)
	})
	nodes, leaving, evicted := map[string]string{}, map[string]*toldMove{}, map[string]bool{}
	for _, e := range all {
		name := e.ObjectRef.Name
		workload := name // of a StatefulSet, whose next pod has the same name
		if !strings.HasPrefix(name, "db-") {
			workload = name[:max(0, strings.LastIndex(name, "-"))]
		}
		var body struct {
			Metadata      struct{ UID string }
			Target        struct{ Name string }
			DeleteOptions struct{ Preconditions struct{ UID string } }
		}
		switch e.ObjectRef.Subresource {
		case "eviction":
			must.Succeed(t, json.Unmarshal(e.RequestObject.Raw, &body))
			uid := body.DeleteOptions.Preconditions.UID
			if leaving[workload] != nil || evicted[uid] {
				t.Fatalf("%s (%s) is evicted while another pod of its workload leaves, or again", name, uid)
			}
			m := &toldMove{pod: podID{name, uid}, from: nodes[uid]}
			moves, leaving[workload], evicted[uid] = append(moves, m), m, true
		case "binding":
			must.Succeed(t, json.Unmarshal(e.RequestObject.Raw, &body))
			nodes[body.Metadata.UID] = body.Target.Name
			if m := leaving[workload]; m != nil {
				m.replacement, m.landed = podID{name, body.Metadata.UID}, body.Target.Name
				delete(leaving, workload)
			}
		}
	}
	return moves
}

// chainOf returns the moves of the pods with a name, of those before them and of those after them, the newest first.
func chainOf(moves []*toldMove, name string) (out []toldMove) {
	wanted := map[string]bool{} // by UID
	for _, m := range moves {
		for _, p := range []podID{m.pod, m.replacement} {
			wanted[p.UID] = wanted[p.UID] || p.Name == name
		}
	}
	for _, m := range moves { // the oldest first
		wanted[m.replacement.UID] = wanted[m.replacement.UID] || wanted[m.pod.UID]
	}
	for _, m := range slices.Backward(moves) {
		if wanted[m.pod.UID] = wanted[m.pod.UID] || wanted[m.replacement.UID]; wanted[m.pod.UID] {
			out = append(out, *m)
		}
	}
	return out
}

// historyOf returns what `evenkeel history pod` says.
func historyOf(t *testing.T, ns, name string) (out []toldMove) {
	t.Helper()
	var h struct {
		Items []struct {
			Pod     podID
			From    string
			Outcome struct {
				Landed      string
				Replacement podID
			}
		}
	}
	must.Succeed(t, seed.WaitUntil(t.Context(), 5*time.Minute, func() (bool, error) { // a busy API server may give no answer in time
		text, err := exec.CommandContext(t.Context(), testbed.Evenkeel, "history", "pod", ns+"/"+name, "--lease-namespace", ns, "-o", "json",
			"--kubeconfig", lab.Kubeconfig).Output()
		return err == nil, cmp.Or(err, json.Unmarshal(text, &h))
	}))
	for _, m := range h.Items {
		out = append(out, toldMove{m.Pod, m.Outcome.Replacement, m.From, m.Outcome.Landed})
	}
	return out
}
