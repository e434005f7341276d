package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestOverviewStates checks the state and the headline of each state of the first page.
func TestOverviewStates(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*site, *v1alpha1.Rebalancer)
		want   []string
	}{
		"unmet goals": {func(*site, *v1alpha1.Rebalancer) {}, []string{"▲ Not all goals are met", "5 goals are not met. Nothing waits for you.", "zones at 12:03, in 3 min.",
			"Can it evict? Yes.", "91.2", "no history yet"}},
		"all is well": {func(_ *site, o *v1alpha1.Rebalancer) { o.Status.UnmetGoals = 0 }, []string{"● All goals are met", "Nothing, since 11:58."}},
		"no pass yet": {func(_ *site, o *v1alpha1.Rebalancer) { o.Status = v1alpha1.RebalancerStatus{} }, []string{"No pass yet", "Evenkeel has not finished a pass yet.",
			"</th><td><b>Unknown.</b>"}},
		"a pass that moved pods": {func(_ *site, o *v1alpha1.Rebalancer) { o.Status.LastPass.Evicted = 2 },
			[]string{"5 goals were not met before the pass of 11:58, which moved 2 pods.", "▲ Not all goals were met before the last pass"}},
		"a pause after a pass that moved pods": {func(_ *site, o *v1alpha1.Rebalancer) {
			o.Status.LastPass.Evicted, o.Spec.Pause = 2, &v1alpha1.Pause{By: "ann"}
		}, []string{"ann has paused evictions until somebody ends the pause. 5 goals were not met before the pass of 11:58, which moved 2 pods."}},
		"nothing leads": {func(x *site, _ *v1alpha1.Rebalancer) { x.clock.Step(time.Hour) },
			[]string{"No process leads, so no pass runs.", "zones, which was due at 12:03.", "Can it evict? No."}},
		"dry run": {func(_ *site, o *v1alpha1.Rebalancer) { o.Status.Mode = "DryRun" }, []string{`<span class="pill inv">Dry run</span>`, "Can it evict? No.", "dryRun: true"}},
		"breaker": {func(_ *site, o *v1alpha1.Rebalancer) {
			until := metav1.NewTime(noon.Add(30 * time.Minute))
			o.Status.Breaker = &v1alpha1.BreakerStatus{At: metav1.NewTime(noon.Add(-time.Hour)), Until: &until, Reason: v1alpha1.Reason{Code: "BreakerOpen", Message: "3 of 10 evictions failed"}}
		}, []string{"Breaker open", "The breaker has stopped evictions since 11:00. 5 goals stay unmet.", "3 of 10 evictions failed", "not before 12:30"}},
		"an alert": {func(_ *site, o *v1alpha1.Rebalancer) {
			o.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionEvicting, Status: "False", Reason: "AlertFiring", Message: "the alert KubeAPIDown fires",
				LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour))}}
		}, []string{"Can it evict? No.", "the alert KubeAPIDown fires (AlertFiring).", "Evictions have been blocked since 11:00."}},
		"nothing judged": {func(_ *site, o *v1alpha1.Rebalancer) {
			o.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionJudging, Status: "False", Reason: "NoNodes", Message: "x"}}
		}, []string{"■ Nothing could be judged"}},
		"other evictors": {func(_ *site, o *v1alpha1.Rebalancer) {
			o.Status.Notices = []v1alpha1.Notice{{Reason: v1alpha1.Reason{Code: "OtherDescheduler", Message: "descheduler (CronJob kube-system/descheduler) evicts pods, too"}}}
		}, []string{"CronJob kube-system/descheduler"}},
		"no right to the release": {func(x *site, _ *v1alpha1.Rebalancer) { x.denied = []string{"get rebalancers"} },
			[]string{"You may not see the release: get rebalancers in namespace evenkeel is missing.", "The state of the release is unknown"}},
		"no right to plans": {func(x *site, _ *v1alpha1.Rebalancer) { x.denied = []string{"list rebalanceplans"} },
			[]string{"5 goals are not met.", "Which plans wait, run and ended", "list rebalanceplans in namespace evenkeel"}},
		"no watch": {func(x *site, _ *v1alpha1.Rebalancer) { x.denied = []string{"watch rebalanceplans"} },
			[]string{"Missing: watch rebalanceplans in namespace evenkeel, so this page asks every 10 s."}},
		"no release": {func(x *site, _ *v1alpha1.Rebalancer) { x.release = false },
			[]string{"Evenkeel is not installed here", "No release of Evenkeel was found in prod-eu. Nothing moves pods for you.", "helm install"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			x.addRelease(t, func(o *v1alpha1.Rebalancer) { c.change(x, o) })
			contains(t, x.read(t, "/"), c.want...)
			for _, path := range []string{"/plans", "/history", "/cluster", "/pause", "/run", "/plans/none"} { // each page has an answer in each state
				want := http.StatusOK
				if path == "/plans/none" {
					want = http.StatusNotFound
				}
				status(t, path, x.do("GET", x.guard.base+path, nil), want)
			}
		})
	}
}

// TestNotLive: if the API server does not answer, the page shows what it said before, says since when, and offers no
// decision. A decision is refused.
func TestNotLive(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	o := x.addPlan(t)
	contains(t, x.read(t, planPath), "Approve the chosen steps…")
	fail := x.stored.Fail
	x.stored.Fail = func(string, string, string) error { return errors.New("connection refused") }
	x.later(time.Minute)
	page := x.read(t, "/")
	contains(t, page, `Not live since <span id="since">12:00:00</span>`, "As it was at 12:00:00", "as <b><span class=\"nm\">admin@example.org", "The API server does not answer. You see what was true at 12:00.", "connection refused")
	if page = x.read(t, planPath); strings.Contains(page, "Approve the chosen") || strings.Contains(page, `name="token" value="`) {
		t.Errorf("the page offers a decision:\n%s", page)
	}
	contains(t, x.do("GET", x.guard.base+"/version", nil).Body.String(), `"live":false`, `"since":"12:00:00"`)
	for path, form := range map[string]url.Values{planPath: decision(o, "approve", "1"), "/pause": {"until": {"1h"}}, "/run": {"strategy": {"zones"}}} {
		if w := x.send(path, form); w.Code < 400 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	x.stored.Fail = fail
	x.later(time.Minute)
	contains(t, x.read(t, "/"), "1 plan")
	contains(t, x.do("GET", x.guard.base+"/version", nil).Body.String(), `"live":true`)
}

// TestRunning: a pass in progress has a square for each step, also for those of a plan that was approved in part.
func TestRunning(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	at := metav1.NewTime(noon)
	o := x.addPlan(t, func(o *v1alpha1.RebalancePlan) {
		o.Status = v1alpha1.RebalancePlanStatus{Phase: v1alpha1.PhaseRunning, Holder: "pod-1", Started: &at, Steps: []v1alpha1.StepStatus{
			{Step: 1, State: v1alpha1.StepEvicted, AsPredicted: true, Landed: "n2", EvictedAt: &at}, {Step: 2, State: v1alpha1.StepEvicted, Landed: "n7"},
			{Step: 3, State: v1alpha1.StepApproved}}}
	})
	contains(t, x.read(t, "/"), "A pass is moving 3 pods", "wave 2 of 2, 2 of 3 steps begun.", "1 as predicted, 1 elsewhere", "<b>1</b> remains")
	contains(t, x.read(t, "/"), `data-say="A pass of zones, node-spread runs: wave 2."`)
	o.Status.Holder = "another process" // which died
	must.Get(x.objects.Plans.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}))(t)
	x.later(time.Minute)
	if strings.Contains(x.read(t, "/"), "A pass is moving") {
		t.Error("the plan of a process that died is shown as running")
	}
}

// TestHistoryOfAPod: a pod is followed through its replacements, with who decided.
func TestHistoryOfAPod(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	at := metav1.NewTime(noon)
	x.addPlan(t, func(o *v1alpha1.RebalancePlan) {
		o.Status = v1alpha1.RebalancePlanStatus{Phase: v1alpha1.PhaseCompleted, Closed: true, Started: &at, Finished: &at, Evicted: 1, Steps: []v1alpha1.StepStatus{
			{Step: 1, State: v1alpha1.StepEvicted, Landed: "n7", EvictedAt: &at, DecidedBy: "oncall@example.org", Replacement: &v1alpha1.PodReference{Namespace: "shop", Name: "web-9"},
				ReadyAfter: &metav1.Duration{Duration: 14 * time.Second}}}}
	})
	for _, pod := range []string{"web-1", "web-9"} {
		contains(t, x.read(t, "/history/shop/"+pod), "Evenkeel, approved by oncall@example.org.", "n1 → <b>n7</b>", "elsewhere, n2 was predicted; ready after 14 s")
	}
	contains(t, x.read(t, "/history"), "passes moved 1 pod", "0 of 1", "oncall@example.org")
	contains(t, x.read(t, "/"), "Today 1 pass moved 1 pod")
	contains(t, x.read(t, "/history/shop/other"), "No stored pass moved this pod")
	contains(t, x.read(t, planPath+"?pod=shop/web-9"), "approved by oncall@example.org.", "1 of 4 pods evicted")
}

func node(name, zone string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")}}}
}

func pod(namespace, name, owner, on string) *corev1.Pod {
	controls := true
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"pod-template-hash": "6d4f8"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: owner + "-6d4f8", Controller: &controls}}},
		Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}}}}}}
}

func smallCluster() []runtime.Object {
	return []runtime.Object{node("n1", "zone-a"), node("n2", "zone-b"), pod("shop", "web-1", "web", "n1"), pod("shop", "web-2", "web", "n1"), pod("shop", "web-3", "web", "n2"),
		pod("pay", "api-1", "api", "n2"), pod("pay", "api-2", "api", "")}
}

// TestCluster shows nodes by requests, and by use only with figures, of which it says source and age.
func TestCluster(t *testing.T) {
	x := newSite(t, smallCluster()...)
	x.addRelease(t)
	page := x.read(t, "/cluster")
	contains(t, page, "2 nodes, 2 workloads and 4 running pods.", "Shares of allocatable that pods request", ">50%<", "shop/web", "2<span class=\"w\"> substantial</span>", ": one pod")
	contains(t, x.read(t, "/cluster?by=use"), "Use is unknown (the server could not find metrics). Shares of allocatable that pods request")
	x.Options.NodeUsage = usageOf(NodeUsage{Name: "n1", MilliCPU: 3000, MemoryBytes: 1 << 30, At: noon.Add(-42 * time.Second)})
	page = x.read(t, "/cluster?by=use")
	contains(t, page, "Measured use of 1 of 2 nodes, from metrics.k8s.io, at most 42 s old.", ">75%<", "unknown")
}

// TestPartOfTheCluster: a person who may see one namespace and no nodes sees its workloads, and which rights are
// missing.
func TestPartOfTheCluster(t *testing.T) {
	x := newSite(t, smallCluster()...)
	x.addRelease(t)
	x.denied = []string{"list nodes", "list pods"}
	page := x.read(t, "/cluster")
	contains(t, page, "1 workload and 3 running pods in namespace shop.", "Missing: list nodes.", "Nodes and zones are left out, not shown as zero.", "list pods",
		"The zones are unknown, because the nodes are.")
	if strings.Contains(page, "pay/api") || strings.Contains(page, ">0%<") {
		t.Errorf("the page shows what the person may not see, or zeros:\n%s", page)
	}
}

// TestPodsThatAreNotKnown: sums of pods that are known only in part are unknown, not the part and not zero. Measured
// use does not depend on pods.
func TestPodsThatAreNotKnown(t *testing.T) {
	x := newSite(t, smallCluster()...)
	x.addRelease(t)
	x.Options.NodeUsage = usageOf(NodeUsage{Name: "n1", MilliCPU: 3000, MemoryBytes: 1 << 30, At: noon})
	x.denied = []string{"list pods"}
	rows := func(page string) {
		contains(t, page, `zone-a</span></th><td class="r">1</td><td class="r">unknown</td>`, `zone-b</span></td><td class="r">unknown</td>`)
	}
	page := x.read(t, "/cluster")
	contains(t, page, "2 nodes, 1 workload and 3 running pods in namespace shop.", "Requests are left out")
	rows(page)
	page = x.read(t, "/cluster?by=use")
	contains(t, page, "Measured use of 1 of 2 nodes", ">75%<")
	rows(page)
	for denied, want := range map[string]string{"": "Nodes and pods are unknown.", "list nodes": "You may see neither nodes nor pods."} {
		x = newSite(t, smallCluster()...)
		x.denied = []string{denied}
		x.client.PrependReactor("list", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if denied != "" {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: a.GetResource().Resource}, "", nil)
			}
			return true, nil, apierrors.NewTimeoutError("slow", 1)
		})
		contains(t, x.read(t, "/cluster"), want)
	}
}

// TestPlanNow: a plan is made without a release, its report is a page with a policy of its own, and a failure is told.
func TestPlanNow(t *testing.T) {
	x := newSite(t)
	x.release = false
	status(t, "no plan yet", x.do("GET", x.guard.base+"/cluster/report", nil), http.StatusNotFound)
	x.planned = func([]string) (*plan.Plan, error) { return nil, errors.New("permission to list pods is missing") }
	status(t, "a failure", x.send("/cluster/plan", url.Values{}), http.StatusSeeOther)
	contains(t, x.read(t, "/cluster"), "No plan could be made at 12:00.", "permission to list pods is missing")
	x.planned = func([]string) (*plan.Plan, error) {
		return &plan.Plan{TakenAt: noon, Moves: []plan.Move{{Step: 1, Wave: 1, Pod: plan.PodRef{Namespace: "shop", Name: "web-1"}, From: "n1", To: "n2", Confidence: 0.97, Strategy: "zones"}}}, nil
	}
	status(t, "a plan", x.send("/cluster/plan", url.Values{}), http.StatusSeeOther)
	contains(t, x.read(t, "/cluster"), "The plan made at 12:00 would move 1 pod.", "See the whole plan")
	w := x.do("GET", x.guard.base+"/cluster/report", nil)
	contains(t, w.Body.String(), "web-1", "<style>")
	if policy := w.Header().Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || !strings.Contains(policy, "'sha256-") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("the policy of the report is %q", policy)
	}
}

// TestRunNow plans first, names the pods, and requests the pass after the confirmation, by the authenticated person.
func TestRunNow(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	var asked []string
	x.planned = func(strategies []string) (*plan.Plan, error) {
		asked = strategies
		return &plan.Plan{TakenAt: noon, Moves: []plan.Move{{Pod: plan.PodRef{Namespace: "shop", Name: "web-1"}}}}, nil
	}
	contains(t, x.read(t, "/run"), "Run strategies now?", "hot-nodes")
	status(t, "no strategy", x.send("/run", url.Values{"strategy": {"made-up"}}), http.StatusBadRequest)
	contains(t, x.send("/run", url.Values{"strategy": {"zones", "made-up"}}).Body.String(), "Run zones now? Most likely 1 pod would move.", "shop/web-1")
	if len(asked) != 1 || asked[0] != "zones" || x.stored.Calls["create rebalanceruns"] != 0 {
		t.Errorf("asked for %v, %d requests", asked, x.stored.Calls["create rebalanceruns"])
	}
	status(t, "the second press", x.send("/run", url.Values{"strategy": {"zones"}, "do": {"run"}}), http.StatusSeeOther)
	all := must.Get(x.objects.Runs.List(t.Context(), metav1.ListOptions{}))(t)
	if len(all.Items) != 1 || all.Items[0].Spec.By != "admin@example.org" || all.Items[0].Spec.Strategies[0] != "zones" {
		t.Errorf("requests: %+v", all.Items)
	}
	contains(t, x.read(t, "/run"), "Requests", "admin@example.org")
	x.clock.Step(-time.Hour)
	for i := range 600 { // older ones, whose names come first
		must.Get(x.objects.Runs.Create(t.Context(), &v1alpha1.RebalanceRun{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("a-%03d", i)},
			Spec: v1alpha1.RebalanceRunSpec{Strategies: []string{"zones"}, By: "somebody"}}, metav1.CreateOptions{}))(t)
	}
	x.clock.Step(time.Hour)
	contains(t, x.read(t, "/run"), `12:00</th><td>zones</td><td><span class="nm">admin@example.org`)
	x.planned = func([]string) (*plan.Plan, error) { return nil, errors.New("permission to list pods is missing") }
	contains(t, x.send("/run", url.Values{"strategy": {"zones"}}).Body.String(), "The pods cannot be named.")
	x.denied = []string{"create rebalanceruns"}
	x.later(rightLifetime)
	contains(t, x.read(t, "/run"), "You may not request a pass here: create rebalanceruns in namespace evenkeel is missing.")
}

// TestHostilePages: names and messages of tenants are shown as text, and cannot turn the text around.
func TestHostilePages(t *testing.T) {
	const script = `<script>alert(1)</script>`
	x := newSite(t, node(script, script), pod(script, script, script, script))
	x.addRelease(t, func(o *v1alpha1.Rebalancer) {
		o.Status.Strategies[0].Name = script
		o.Status.Notices = []v1alpha1.Notice{{Reason: v1alpha1.Reason{Code: "X", Message: script + "\u202e\nx"}, Strategy: script}}
		o.Spec.Pause = &v1alpha1.Pause{By: script, Reason: `"><img src=x onerror=alert(1)>`}
	})
	at := metav1.NewTime(noon)
	x.addPlan(t, func(o *v1alpha1.RebalancePlan) {
		for i := range o.Spec.Moves {
			m := &o.Spec.Moves[i]
			m.Pod.Namespace, m.Pod.Name, m.Owner.Name, m.Strategy, m.From, m.Reason.Message = script, script, script, script, script, script
		}
		o.Status = v1alpha1.RebalancePlanStatus{Phase: v1alpha1.PhaseWaiting, Started: &at, Steps: []v1alpha1.StepStatus{{Step: 4, State: v1alpha1.StepBlocked, DecidedBy: script}}}
	})
	for _, path := range []string{"/", "/plans", planPath, planPath + "?do=approve&step=1", planPath + "?pod=" + url.QueryEscape(script), "/cluster", "/history", "/pause", "/run",
		"/history/" + url.PathEscape(script) + "/" + url.PathEscape(script)} {
		page := x.read(t, path)
		if strings.Contains(page, "<script>") || strings.Contains(page, "<img") || strings.Contains(page, "\u202e") {
			t.Errorf("%s has a script, an image, or turned text", path)
		}
	}
}

// TestScore draws the hours since the oldest score, at least a day, with a gap where there was none.
func TestScore(t *testing.T) {
	for _, c := range []struct {
		ages  []int // of the hours with a score
		lines int
		want  []string
	}{
		{[]int{0}, 0, []string{"no history yet"}},
		{[]int{2, 1, 0}, 1, []string{"Balance score, 24 h", `viewBox="0 0 23 100"`, "80.0 on 10 January", ">12:00<"}},
		{[]int{200, 199, 100, 99, 0}, 3, []string{"Balance score, 8 days", `viewBox="0 0 200 100"`, "pods moved in an hour, at most 5"}},
		{[]int{800, 719, 718, 0}, 2, []string{"Balance score, 30 days", `viewBox="0 0 719 100"`, ">11 Dec<"}},
	} {
		x := newSite(t)
		x.addRelease(t)
		score := int32(800)
		h := &v1alpha1.RebalanceHistory{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel"}}
		for _, age := range c.ages {
			h.Hours = append(h.Hours, v1alpha1.Hour{Start: metav1.NewTime(noon.Add(-time.Duration(age) * time.Hour)), Score: &score, Unmet: 5, Evicted: 5, AsPredicted: 5})
		}
		must.Get(x.objects.Histories.Create(t.Context(), h, metav1.CreateOptions{}))(t)
		page := x.read(t, "/")
		contains(t, page, c.want...)
		if n := strings.Count(page, "<polyline"); n != c.lines {
			t.Errorf("%v: %d lines, want %d", c.ages, n, c.lines)
		}
	}
}
