package ui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
)

// TestPlansThatCannotBeRead: without the right to get plans, the pages name the right, and do not say that there are
// none. One plan that cannot be read hides no other one.
func TestPlansThatCannotBeRead(t *testing.T) {
	at := metav1.NewTime(noon)
	ended := func(name string) func(*v1alpha1.RebalancePlan) {
		return func(o *v1alpha1.RebalancePlan) {
			o.Name, o.Status = name, v1alpha1.RebalancePlanStatus{Phase: v1alpha1.PhaseCompleted, Closed: true, Started: &at, Finished: &at, Evicted: 1, AsPredicted: 1}
		}
	}
	x := newSite(t)
	x.addRelease(t)
	x.addPlan(t, ended("p-1"))
	x.addPlan(t, ended("p-2"))
	x.denied = []string{"get rebalanceplans"}
	for path, want := range map[string]string{"/": "What happened?", "/history": "You may not see the whole history.", "/history/shop/web-1": "You may not see the whole history.",
		"/plans": "You may not see the plans."} {
		page := x.read(t, path)
		contains(t, page, want, "get rebalanceplans in namespace evenkeel")
		for _, wrong := range []string{"No pass is stored yet", "No stored pass moved", "no pass moved a pod", "No plan waits", "Nothing waits"} {
			if strings.Contains(page, wrong) {
				t.Errorf("%s says %q", path, wrong)
			}
		}
	}
	x.denied = nil
	x.stored.Fail = func(verb, resource, name string) error {
		if verb == "get" && resource == "rebalanceplans" && name == "p-1" {
			return errors.New("it is damaged")
		}
		return nil
	}
	x.later(time.Minute)
	contains(t, x.read(t, "/history"), "passes moved 1 pod, 1 of them as predicted", "1 stored plan could not be read: it is damaged.", "/plans/p-2")
}

// TestThousandsOfPlans: of the plans that a tenant makes, the pages read the names, and the content of the newest.
func TestThousandsOfPlans(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	for i := range 1200 {
		o := &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p-%04d", i)}, Spec: v1alpha1.RebalancePlanSpec{Mode: v1alpha1.ModeApprove}}
		must.Get(x.objects.Plans.Create(t.Context(), o, metav1.CreateOptions{}))(t)
	}
	x.stored.Calls = map[string]int{}
	x.read(t, "/history")
	if n := x.stored.Calls["get rebalanceplans"]; n > maxPasses+50 {
		t.Errorf("%d plans were read, want the newest %d and the 50 that may wait", n, maxPasses)
	}
	x.later(time.Minute)
	x.read(t, "/")
	if n := x.stored.Calls["get rebalanceplans"]; n > maxPasses+50 {
		t.Errorf("%d plans were read after nothing changed", n)
	}
}

// TestNewestPlans: the newest plans are shown, also if their names sort last, and the pages say if there are too many.
func TestNewestPlans(t *testing.T) {
	var all []metav1.PartialObjectMetadata
	for i := range maxNames + 2*namesPage {
		all = append(all, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p-%06d", i), CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(i) * time.Second))}})
	}
	for _, count := range []int{12000, len(all)} {
		c, _ := objectstest.New(testclock.NewFakeClock(noon))
		c.PlanVersions = func(_ context.Context, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
			from, _ := strconv.Atoi(o.Continue)
			page := &metav1.PartialObjectMetadataList{Items: all[from:min(from+int(o.Limit), count)]}
			if next := from + len(page.Items); next < count {
				page.Continue = strconv.Itoa(next)
			}
			return page, nil
		}
		newest := all[min(count, maxNames)-1].Name
		must.Get(c.Plans.Create(t.Context(), &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: newest}}, metav1.CreateOptions{}))(t)
		var a archive
		if got := must.Get(a.update(t.Context(), c))(t); len(got) != 1 || got[0].name != newest || a.cut != (count > maxNames) {
			t.Errorf("of %d plans, %d were read, cut: %v", count, len(got), a.cut)
		}
	}
}
