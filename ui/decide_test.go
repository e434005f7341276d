package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/report/view"
)

const planPath = "/plans/20260110-120000-abc-proposal"

// decision returns the form of a decision about steps of a plan.
func decision(o *v1alpha1.RebalancePlan, verb, steps string) url.Values {
	return url.Values{"uid": {string(o.UID)}, "version": {o.ResourceVersion}, "steps": {steps}, "do": {verb}}
}

func (x *site) plan(t *testing.T) *v1alpha1.RebalancePlan {
	t.Helper()
	return must.Get(x.objects.Plans.Get(t.Context(), strings.TrimPrefix(planPath, "/plans/"), metav1.GetOptions{}))(t)
}

// TestTwoPresses: at first nothing is chosen. The first press names the pods, also those that belong together, and
// changes nothing. The second one writes the decision, with the name that the API server knows.
func TestTwoPresses(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	o := x.addPlan(t)
	page := x.read(t, planPath)
	contains(t, page, "4 moves wait for you until 13:00. They would meet 2 of the 7 unmet goals.", "zones: all 3 steps", "node-spread: all 1 step", `value="2-3"`, "makes room for shop/cart-1: both or none")
	if strings.Contains(page, " checked") || strings.Contains(page, `id="confirm"`) {
		t.Errorf("a step is chosen at first, or the confirmation is open:\n%s", page)
	}
	page = x.read(t, planPath+"?do=approve&step=1&step=2-3&version="+o.ResourceVersion)
	contains(t, page, "Approve steps 1 to 3 of 4? At most these 3 pods will be evicted.", "shop/web-1", "shop/cache-0", "shop/cart-1", "3, in 1 namespace", "Evict these 3 pods",
		"Recorded as decided by admin@example.org.")
	x.conf = &view.Context{PerMinute: 6, VerifyTimeout: 5 * time.Minute}
	contains(t, x.read(t, planPath+"?do=approve&step=1-3"), "From 30 s to 11 min")
	contains(t, x.read(t, planPath+"/report"), "cart-1", "<style>")
	contains(t, x.read(t, planPath+"?do=approve&step=1"), planPath+`?step=1#approve">Cancel`)
	contains(t, x.read(t, planPath+"?step=1"), `aria-label="Step 1, shop/web-1" checked`) // after Cancel
	contains(t, x.read(t, planPath+"?do=approve&step=3"), "Step 2 is included: steps that belong together are decided together.", "these 2 pods")
	contains(t, x.read(t, planPath+"?do=discard&strategy=node-spread"), "Discard step 4 of 4? No pod is evicted.", "Discard this step")
	contains(t, x.read(t, planPath+"?do=approve"), "No step is chosen.")
	if got := x.plan(t); got.Decision != nil {
		t.Fatalf("the first press has decided: %+v", got.Decision)
	}
	w := x.send(planPath, decision(o, "approve", "1,3"))
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	want := &v1alpha1.Decision{By: "admin@example.org", Approve: &v1alpha1.StepSelection{Steps: []int32{1, 2, 3}}}
	if got := x.plan(t); !reflect.DeepEqual(got.Decision, want) {
		t.Errorf("the decision is %+v, want %+v", got.Decision, want)
	}
	contains(t, x.read(t, planPath), "1 move waits for you", "approved by admin@example.org", "Withdraw the approval of 3 steps")
	contains(t, x.read(t, planPath), `data-key="`+x.plan(t).ResourceVersion+` 1-3"`) // ui.js replaces no form of another version under a pointer
	status(t, "withdrawing", x.send(planPath, decision(x.plan(t), "undo", "1-3")), http.StatusSeeOther)
	if got := x.plan(t); got.Decision.Approve != nil {
		t.Errorf("the decision is %+v, want none", got.Decision)
	}
}

// TestPlanChanged: a decision about a plan that has changed since it was shown decides nothing, whatever changed.
func TestPlanChanged(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	o := x.addPlan(t)
	for name, form := range map[string]url.Values{
		"another plan of the name": {"uid": {"other"}, "version": {o.ResourceVersion}, "steps": {"1"}, "do": {"approve"}},
		"an older version":         {"uid": {string(o.UID)}, "version": {"1"}, "steps": {"1"}, "do": {"approve"}},
		"no version":               {"uid": {string(o.UID)}, "steps": {"1"}, "do": {"approve"}},
		"no steps":                 {"uid": {string(o.UID)}, "version": {o.ResourceVersion}, "do": {"approve"}},
		"steps that do not exist":  decision(o, "approve", "5"),
		"another verb":             decision(o, "delete", "1"),
	} {
		if w := x.send(planPath, form); w.Code != http.StatusConflict || x.plan(t).Decision != nil {
			t.Errorf("%s: %d, decision %v", name, w.Code, x.plan(t).Decision)
		}
	}
	if w := x.send(planPath, decision(o, "approve", "1")); w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	w := x.send(planPath, decision(o, "discard", "1-4")) // another tab
	contains(t, w.Body.String(), "Nothing was decided", "has changed since it was shown; 3 of your 4 steps wait still")
	contains(t, x.read(t, planPath+"?do=approve&step=4&version="+o.ResourceVersion), "The plan changed while you read it. Nothing was decided.")
}

// racing are plans of which another client changes one before the first update.
type racing struct {
	objects.Kind[*v1alpha1.RebalancePlan, *v1alpha1.RebalancePlanList]
	changes int
}

func (k *racing) Update(ctx context.Context, o *v1alpha1.RebalancePlan, opts metav1.UpdateOptions) (*v1alpha1.RebalancePlan, error) {
	if k.changes++; k.changes == 1 {
		now, err := k.Get(ctx, o.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		now.Labels = map[string]string{"changed": "true"}
		if _, err := k.Kind.Update(ctx, now, opts); err != nil {
			return nil, err
		}
	}
	return k.Kind.Update(ctx, o, opts)
}

// TestConflict: a plan that changes between the reading and the writing of a decision is not decided.
func TestConflict(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	o := x.addPlan(t)
	x.read(t, planPath)
	plans := &racing{Kind: x.objects.Plans}
	x.objects.Plans = plans
	w := x.send(planPath, decision(o, "approve", "1"))
	contains(t, w.Body.String(), "Nothing was decided", "has changed since it was shown")
	if got := x.plan(t); w.Code != http.StatusConflict || plans.changes != 1 || got.Labels["changed"] == "" || got.Decision != nil {
		t.Errorf("%d after %d updates, decision %+v", w.Code, plans.changes, got.Decision)
	}
}

// TestManyPods: above 50 pods, the names are closed, and the number of pods must be typed.
func TestManyPods(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	o := x.addPlan(t, func(o *v1alpha1.RebalancePlan) {
		m := o.Spec.Moves[0]
		o.Spec.Moves = nil
		for i := range 60 {
			m.Step, m.Pod.Name, m.Pod.UID = int32(i+1), fmt.Sprintf("web-%d", i), fmt.Sprint(i)
			o.Spec.Moves = append(o.Spec.Moves, m)
		}
	})
	contains(t, x.read(t, planPath+"?do=approve&step=1-60"), "All 60 names", "Type the number of pods", "ReplicaSet shop/web (60 pods)")
	for _, typed := range []string{"", "6", "61"} {
		form := decision(o, "approve", "1-60")
		form.Set("typed", typed)
		if w := x.send(planPath, form); w.Code != http.StatusConflict || x.plan(t).Decision != nil {
			t.Errorf("typed %q: %d", typed, w.Code)
		}
	}
	form := decision(o, "approve", "1-60")
	form.Set("typed", " 60")
	status(t, "the right number", x.send(planPath, form), http.StatusSeeOther)
}

// TestManyPodsTogether: steps that belong to the chosen ones count for the number that must be typed.
func TestManyPodsTogether(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	o := x.addPlan(t, func(o *v1alpha1.RebalancePlan) {
		m := o.Spec.Moves[0]
		o.Spec.Moves = nil
		for i := range 51 {
			m.Step, m.Pod.Name, m.Pod.UID = int32(i+1), fmt.Sprintf("web-%d", i), fmt.Sprint(i)
			o.Spec.Moves = append(o.Spec.Moves, m)
		}
		o.Spec.Moves[49].DisplacedFor = &o.Spec.Moves[50].Pod
	})
	form := decision(o, "approve", "1-50")
	if w := x.send(planPath, form); w.Code != http.StatusConflict || x.plan(t).Decision != nil {
		t.Errorf("51 pods without their number: %d", w.Code)
	}
	form.Set("typed", "51")
	status(t, "the right number", x.send(planPath, form), http.StatusSeeOther)
}

// TestMayNotDecide: without the right, the page has no checkbox and names the right. The answer of the API server
// counts, also if the page offered the decision.
func TestMayNotDecide(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	o := x.addPlan(t)
	x.read(t, planPath)
	x.denied = []string{"update rebalanceplans"}
	w := x.send(planPath, decision(o, "approve", "1"))
	contains(t, w.Body.String(), "The API server refused the decision.", "Nothing was decided")
	x.later(rightLifetime)
	page := x.read(t, planPath)
	contains(t, page, "You may not decide here: update rebalanceplans in namespace evenkeel is missing.", "evenkeel approve 20260110-120000-abc-proposal", "shop/web-1")
	if strings.Contains(page, `type="checkbox"`) || strings.Contains(page, "Approve the chosen") {
		t.Errorf("the page offers a decision:\n%s", page)
	}
}

// TestPauseAndResume: a pause has a reason and an end, is by the authenticated person, and is ended by the same page.
// While evictions are paused, no step can be approved.
func TestPauseAndResume(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	o := x.addPlan(t)
	contains(t, x.read(t, "/pause"), "Pause all evictions?", "until somebody ends it")
	status(t, "an unknown end", x.send("/pause", url.Values{"until": {"9h"}}), http.StatusBadRequest)
	status(t, "a long reason", x.send("/pause", url.Values{"until": {"1h"}, "reason": {strings.Repeat("ä", 201)}}), http.StatusBadRequest)
	status(t, "a pause", x.send("/pause", url.Values{"until": {"1h"}, "reason": {"node pool upgrade"}}), http.StatusSeeOther)
	page := x.read(t, "/")
	contains(t, page, "admin@example.org has paused evictions until 13:00. 5 goals stay unmet.", "Why: “node pool upgrade”", "End the pause…", `<span class="pill inv">Paused</span>`,
		"Can it evict? No.")
	contains(t, x.read(t, "/pause"), "End the pause? Evictions may begin again.", "zones")
	w := x.send(planPath, decision(o, "approve", "1"))
	contains(t, w.Body.String(), "Evictions are paused.", "End the pause first")
	status(t, "the end", x.send("/resume", url.Values{}), http.StatusSeeOther)
	contains(t, x.read(t, "/"), "Can it evict? Yes.")
	x.denied = []string{"update rebalancers"}
	x.later(rightLifetime)
	contains(t, x.read(t, "/pause"), "You may not change it here: update rebalancers in namespace evenkeel is missing")
	contains(t, x.send("/pause", url.Values{"until": {""}}).Body.String(), "The API server refused the change.")
	if p := must.Get(x.objects.Rebalancers.Get(t.Context(), "evenkeel", metav1.GetOptions{}))(t).Spec.Pause; p != nil {
		t.Errorf("paused: %+v", p)
	}
}

// TestWords checks how steps are written, and what a plan does about goals.
func TestWords(t *testing.T) {
	for want, steps := range map[string][]int{"1": {1}, "1 and 3 to 6": {1, 3, 4, 5, 6}, "1, 3 and 5": {1, 3, 5}} {
		if got := stepsInWords(steps); got != want {
			t.Errorf("%v: %q, want %q", steps, got, want)
		}
	}
	goal := func(after v1alpha1.Decimal) []v1alpha1.Goal {
		return []v1alpha1.Goal{{ExcessBefore: "3", ExcessAfter: after}}
	}
	for _, c := range []struct {
		unmet, after int32
		goals        []v1alpha1.Goal
		want         string
	}{
		{5, 3, nil, "They would meet 2 of the 5 unmet goals."}, {1, 0, goal(""), "They would meet the only unmet goal."},
		{1, 1, goal("1"), "They would improve the only unmet goal, and not meet it."}, {5, 5, goal("1"), "They would improve 1 of the 5 unmet goals, and meet none."},
		{5, 5, goal("3"), "They would meet none of the 5 unmet goals."}, {0, 0, nil, ""},
	} {
		s := &v1alpha1.RebalancePlanSpec{MoveCount: 2, Goals: c.goals, Strategies: []v1alpha1.StrategySummary{{Due: true, Unmet: c.unmet, UnmetAfter: c.after}}}
		if got := goalsText(s); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}
