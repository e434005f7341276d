package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/recording"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestStrategiesSinglePods checks that one pod that matches a strategy leaves, by the request that
// the strategy wants, that all other pods stay, and that a second pass moves nothing.
func TestStrategiesSinglePods(t *testing.T) {
	skipIfShort(t)
	for name, c := range map[string]struct {
		strategy string
		change   func(p *corev1.Pod)
		deletion bool
		broken   bool // the pod is not Ready
	}{
		"restarts": {"s: {type: Restarts, schedule: \"0 * * * *\", args: {minRestarts: 5}}",
			func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount = 7 }, false, false},
		"crash loop": {"s: {type: Restarts, schedule: \"0 * * * *\", args: {minRestarts: 5, states: [CrashLoopBackOff]}}", crashPod, false, true},
		"lifetime": {"s: {type: Lifetime, schedule: \"0 * * * *\", args: {minAge: 0s, ownerKinds: {include: [Deployment]}, " +
			"conditions: [{type: example.com/Stuck, status: \"True\", minTimeSinceTransition: 10m}]}}",
			func(p *corev1.Pod) {
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.com/Stuck",
					Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour))})
			}, false, false},
		"failed pods by eviction": {"s: {type: FailedPods, schedule: \"0 * * * *\", args: {minAge: 0s, reasons: [Evicted]}}", failPod, false, false},
		"failed pods by deletion": {"s: {type: FailedPods, schedule: \"0 * * * *\", args: {minAge: 0s, reasons: [Evicted], remove: deletion}}", failPod, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			ns := seedApps(t, []seed.App{{Name: "web", MilliCPU: 500, MemoryMi: 512, Nodes: []string{"n1", "n2", "n3"}, GraceSeconds: 1}})
			changePodStatus(t, ns, seededPod(t, ns, "web", 0), c.change)
			ready := 3
			if c.broken {
				ready = 2
			}
			waitForReadyReplicas(t, ns, "web", ready)
			before := podUIDs(t, ns)
			a := newAuditedPasses(t, ns, "strategies: ["+c.strategy+"]\nlimits: {perNamespace: unlimited}\n")
			sick := podUID(t, ns, seededPod(t, ns, "web", 0))
			first := a.onePass()
			if n := len(first.Spec.Moves); n != 1 || len(first.Outcomes()) != 1 || first.Outcomes()[0].Outcome != "evicted" {
				t.Errorf("%d moves with the outcomes %q, want one pod that leaves", n, first.OutcomeCodes())
			}
			delete(before, sick)
			for uid := range podUIDs(t, ns) {
				if uid == sick {
					t.Error("the pod is still there")
				}
				delete(before, uid)
			}
			if len(before) > 0 {
				t.Errorf("the pods %v are gone too", before)
			}
			if second := a.onePass(); len(second.Spec.Moves) > 0 {
				t.Errorf("the second pass plans %d moves, want none", len(second.Spec.Moves))
			}
			evictions := 1
			if c.deletion {
				evictions = 0
			}
			checkEvictions(t, ns, evictions)
			a.verify(1)
		})
	}
}

// TestStrategiesFailedPodsBackOff denies the eviction of a failed pod by a policy. The next pass must not try again.
func TestStrategiesFailedPodsBackOff(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, []seed.App{{Name: "d", MilliCPU: 500, MemoryMi: 512, Nodes: []string{"n1", "n2", "n3"}, GraceSeconds: 1}})
	createPolicy(t, ns, nil)
	changePodStatus(t, ns, seededPod(t, ns, "d", 0), failPod)
	waitForReadyReplicas(t, ns, "d", 3)
	config := testbed.ConfigFile(t, "strategies: {s: {type: FailedPods, schedule: \"0 * * * *\", args: {minAge: 0s}}}\n")
	if first := onePass(t, config, ns); !slices.Equal(first.OutcomeCodes(), []string{"blocked BlockedByAdmission"}) {
		t.Errorf("the first pass has the outcomes %q, want one that admission blocks", first.OutcomeCodes())
	}
	if second := onePass(t, config, ns); len(second.Spec.Moves) > 0 || second.NotMoved()["BackedOff"] != 1 {
		t.Errorf("the second pass plans %d moves and rejects %v, want the pod in back-off", len(second.Spec.Moves), second.NotMoved())
	}
	checkEvictions(t, ns, 0)
}

// TestStrategiesKeepPodsApart puts a pod of web, which declares anti-affinity to db, on the node of
// a pod of db. The pod that may leave does so, whether it declares the term or not.
func TestStrategiesKeepPodsApart(t *testing.T) {
	skipIfShort(t)
	for leaves, stays := range map[string]string{"web": "db", "db": "web"} {
		t.Run(leaves+" leaves", func(t *testing.T) {
			apps := []seed.App{
				{Name: "db", MilliCPU: 500, MemoryMi: 512, Nodes: []string{"n1", "n2"}, GraceSeconds: 1},
				{Name: "web", MilliCPU: 500, MemoryMi: 512, Nodes: []string{"n1", "n3"}, GraceSeconds: 1, ApartFrom: "db"},
			}
			i := slices.IndexFunc(apps, func(a seed.App) bool { return a.Name == stays })
			apps[i].Annotations = map[string]string{"evenkeel.io/do-not-disrupt": "true"}
			ns := seedApps(t, apps)
			a := newAuditedPasses(t, ns, "strategies: {s: {type: InterPodAntiAffinity, schedule: \"0 * * * *\"}}\nlimits: {perNamespace: unlimited}\n")
			if first := a.onePass(); len(first.Spec.Moves) != 1 || len(first.Outcomes()) != 1 || first.Outcomes()[0].Outcome != "evicted" {
				t.Errorf("%d moves with the outcomes %q, want one eviction", len(first.Spec.Moves), first.OutcomeCodes())
			}
			if on := nodesOf(t, ns, leaves); slices.Contains(on, "n1") {
				t.Errorf("%s is on %v, want none on n1", leaves, on)
			}
			web, db := nodesOf(t, ns, "web"), nodesOf(t, ns, "db")
			if len(web) != 2 || len(db) != 2 || slices.ContainsFunc(web, func(n string) bool { return slices.Contains(db, n) }) {
				t.Errorf("web is on %v and db on %v, want no node with both", web, db)
			}
			if second := a.onePass(); len(second.Spec.Moves) > 0 {
				t.Errorf("the second pass plans %d moves, want none", len(second.Spec.Moves))
			}
			a.verify(1)
		})
	}
}

// crashPod changes a pod whose container waits after many restarts.
func crashPod(p *corev1.Pod) {
	p.Status.ContainerStatuses[0].RestartCount = 7
	p.Status.ContainerStatuses[0].Ready, p.Status.ContainerStatuses[0].State = false, corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.Status, c.Reason = corev1.ConditionFalse, "ContainersNotReady"
		}
	}
}

// failPod changes a pod that its kubelet has evicted.
func failPod(p *corev1.Pod) {
	p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted"
	p.Status.Conditions, p.Status.ContainerStatuses = nil, nil
}

// changePodStatus changes the status of a pod as its kubelet would.
func changePodStatus(t *testing.T, ns, name string, change func(p *corev1.Pod)) {
	t.Helper()
	pods := lab.Client.CoreV1().Pods(ns)
	p := must.Get(pods.Get(t.Context(), name, metav1.GetOptions{}))(t)
	change(p)
	if _, err := pods.UpdateStatus(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func podUID(t *testing.T, ns, name string) string {
	t.Helper()
	p := must.Get(lab.Client.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{}))(t)
	return string(p.UID)
}

// waitForReadyReplicas waits until the running pods of a Deployment are Ready and have the number of its replicas.
func waitForReadyReplicas(t *testing.T, ns, name string, replicas int) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		pods, err := lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + name})
		if err != nil {
			return false, err
		}
		ready := 0
		for _, p := range pods.Items {
			if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			}) {
				ready++
			}
		}
		d, err := lab.Client.AppsV1().Deployments(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if ready != replicas || int(d.Status.ReadyReplicas) != replicas {
			return false, fmt.Errorf("%d pods are Ready, the status says %d, want %d", ready, d.Status.ReadyReplicas, replicas)
		}
		return true, nil
	}))
}

// auditedPasses makes passes as a ServiceAccount that may evict pods and delete them. The audit verifier checks them.
type auditedPasses struct {
	t                            *testing.T
	ns, config, kubeconfig, user string
	recorder                     *recording.Recorder
	reports                      []auditverifier.Report
	readBefore                   int64 // bytes of the audit log
}

func newAuditedPasses(t *testing.T, ns, config string) *auditedPasses {
	t.Helper()
	a := &auditedPasses{t: t, ns: ns, config: testbed.ConfigFile(t, config), user: "system:serviceaccount:" + ns + ":default"}
	a.kubeconfig = createAccount(t, ns, leaseRule, stateRule,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"delete"}},
		rbacv1.PolicyRule{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}})
	var err error
	if _, err = lab.AuditSince(&a.readBefore); err != nil {
		t.Fatal(err)
	}
	if a.recorder, err = recording.Start(t.Context(), lab.Client); err != nil {
		t.Fatal(err)
	}
	a.recorder.Reset(ns)
	return a
}

// onePass makes one pass of all strategies and returns its report.
func (a *auditedPasses) onePass() testbed.Report {
	a.t.Helper()
	r := runEvenkeelAs(a.t, a.kubeconfig, "run", "--once", "-o", "json", "--config", a.config, "--lease-namespace", a.ns)
	if r.code != 0 {
		a.t.Fatalf("exit %d", r.code)
	}
	var audited auditverifier.Report
	must.Succeed(a.t, json.Unmarshal([]byte(r.stdout), &audited))
	audited.User = a.user
	a.reports = append(a.reports, audited)
	return parseReport(a.t, r.stdout)
}

// verify checks the passes against the audit log and the recording. It waits for both, which lag behind by a moment.
func (a *auditedPasses) verify(evictions int) {
	a.t.Helper()
	if err := seed.WaitUntil(a.t.Context(), 10*time.Second, func() (bool, error) {
		read := a.readBefore
		events, err := lab.AuditSince(&read)
		if err != nil {
			return false, err
		}
		changes, gaps := a.recorder.Changes()
		v := auditverifier.Evidence{Changes: changes, Events: events, Reports: a.reports, Namespace: a.ns,
			Rules: auditverifier.Rules{MaxUnavailable: 1, OnePass: true, DeletesFailedPods: true},
			Ours:  func(user string) bool { return user == a.user }}.Verify()
		if gaps > 0 || v.Evictions != evictions || len(v.Violations) > 0 {
			return false, fmt.Errorf("%d gaps, %d evictions, want %d, and the violations %v", gaps, v.Evictions, evictions, v.Violations)
		}
		return true, nil
	}); err != nil {
		a.t.Error(err)
	}
}
