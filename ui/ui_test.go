package ui

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	testclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/view"
)

var noon = time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)

const host = "127.0.0.1:8443"

// site is a server of pages with a release and a person in tests.
type site struct {
	*Server
	objects *objects.Client
	stored  *objectstest.Server
	client  *fake.Clientset
	clock   *testclock.FakeClock
	denied  []string // rights that the person lacks, such as "list nodes"
	printed []string // addresses
	cookie  *http.Cookie
	release bool
	planned func(strategies []string) (*plan.Plan, error)
	conf    *view.Context
}

// newSite returns a server with a release, and a browser that is signed in.
func newSite(t *testing.T, cluster ...runtime.Object) *site {
	t.Helper()
	x := &site{clock: testclock.NewFakeClock(noon), release: true}
	x.objects, x.stored = objectstest.New(x.clock)
	holder, renewed, seconds := "pod-1", metav1.NewMicroTime(noon), int32(15)
	x.client = fake.NewClientset(append(cluster, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "evenkeel", Name: "evenkeel"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed, LeaseDurationSeconds: &seconds}})...)
	x.client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		at := r.Spec.ResourceAttributes
		r.Status.Allowed = !slices.Contains(x.denied, at.Verb+" "+at.Resource)
		return true, r, nil
	})
	refuse := func(verb, resource, name string) error {
		if slices.Contains(x.denied, verb+" "+resource) {
			return apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: resource}, name, nil)
		}
		return nil
	}
	x.client.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		err := refuse(a.GetVerb(), a.GetResource().Resource, "")
		if a.GetNamespace() != "" { // a person may have a right in a namespace only
			err = nil
		}
		return err != nil, nil, err
	})
	x.stored.Fail = refuse
	var err error
	x.Server, err = New(Options{Client: x.client, Clock: x.clock, Log: slog.New(slog.DiscardHandler), Cluster: "prod-eu", Namespace: "shop",
		Release: func(context.Context) (*objects.Client, error) {
			if !x.release {
				return nil, nil
			}
			return x.objects, nil
		},
		User: func(ctx context.Context) (string, bool) { return "admin@example.org", ctx.Err() == nil },
		NodeUsage: func(context.Context) ([]NodeUsage, error) {
			return nil, fmt.Errorf("the server could not find metrics")
		},
		Plan: func(_ context.Context, strategies []string) (*view.View, error) {
			p, err := x.planned(strategies)
			if err != nil {
				return nil, err
			}
			return &view.View{Plan: *p}, nil
		},
		Configured: func(context.Context) *view.Context { return x.conf },
		Announce:   func(address string) { x.printed = append(x.printed, address) },
	}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8443})
	must.Succeed(t, err)
	x.cookie = x.signIn(t)
	return x
}

// signIn opens the printed address.
func (x *site) signIn(t *testing.T) *http.Cookie {
	t.Helper()
	u := must.Get(url.Parse(x.Address()))(t)
	w := x.do("GET", u.RequestURI(), nil)
	if w.Code != http.StatusOK || len(w.Result().Cookies()) != 1 {
		t.Fatalf("the printed address was answered with %d %s", w.Code, w.Body)
	}
	return w.Result().Cookies()[0]
}

// do sends a request without changes, after change.
func (x *site) do(method, target string, form url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, target, body)
	r.Host = host
	r.URL.Host = ""
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+host)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if x.cookie != nil {
		r.AddCookie(x.cookie)
	}
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	x.ServeHTTP(w, r)
	return w
}

var spaces = regexp.MustCompile(`\s+`)

// read returns the page at a path, which must be answered, with single spaces.
func (x *site) read(t *testing.T, path string) string {
	t.Helper()
	w := x.do("GET", x.guard.base+path, nil)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	return spaces.ReplaceAllString(w.Body.String(), " ")
}

// send sends a form with the token of the session.
func (x *site) send(path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(x.cookie)
	form.Set("token", x.guard.token(r))
	return x.do("POST", x.guard.base+path, form)
}

// contains checks that a page has texts.
func contains(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not say %q:\n%s", text, page)
		}
	}
}

// later lets what was read become old.
func (x *site) later(d time.Duration) { x.clock.Step(d) }

// addRelease stores a Rebalancer after a pass with two strategies.
func (x *site) addRelease(t *testing.T, change ...func(*v1alpha1.Rebalancer)) {
	t.Helper()
	score, at, next := int32(912), metav1.NewTime(noon.Add(-2*time.Minute)), metav1.NewTime(noon.Add(3*time.Minute))
	o := &v1alpha1.Rebalancer{ObjectMeta: metav1.ObjectMeta{Name: objects.ReleaseName}}
	o.Status = v1alpha1.RebalancerStatus{Mode: "Live", ScorePerMille: &score, UnmetGoals: 5, LastPass: &v1alpha1.PassSummary{RunID: "r", Started: &at, Finished: &at},
		Strategies: []v1alpha1.StrategyStatus{{Name: "zones", Mode: v1alpha1.ModeApprove, LastPass: &at, NextPass: &next, UnmetGoals: 5}, {Name: "hot-nodes", Mode: v1alpha1.ModeAutomatic}}}
	for _, c := range change {
		c(o)
	}
	created := must.Get(x.objects.Rebalancers.Create(t.Context(), o, metav1.CreateOptions{}))(t)
	created.Status = o.Status
	must.Get(x.objects.Rebalancers.UpdateStatus(t.Context(), created, metav1.UpdateOptions{}))(t)
}

// addPlan stores a plan that waits: three steps of zones, the second of which makes room for the third, and one of
// node-spread.
func (x *site) addPlan(t *testing.T, change ...func(*v1alpha1.RebalancePlan)) *v1alpha1.RebalancePlan {
	t.Helper()
	at := metav1.NewTime(noon)
	o := &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "20260110-120000-abc-proposal"}, Spec: v1alpha1.RebalancePlanSpec{ID: "9f2c41d7", Mode: v1alpha1.ModeApprove,
		MoveCount: 4, TakenAt: at, Expires: metav1.NewTime(noon.Add(time.Hour)), StrategyNames: "zones, node-spread",
		Strategies: []v1alpha1.StrategySummary{{Name: "zones", Mode: v1alpha1.ModeApprove, Due: true, Goals: 9, Unmet: 5, UnmetAfter: 3}, {Name: "hot-nodes", Unmet: 2}}}}
	for i, pod := range []string{"web-1", "cache-0", "cart-1", "api-1"} {
		m := v1alpha1.Move{Step: int32(i + 1), Wave: int32(i/2 + 1), Pod: v1alpha1.PodReference{Namespace: "shop", Name: pod, UID: "uid-" + pod},
			Owner: v1alpha1.ObjectReference{Kind: "ReplicaSet", Name: pod[:len(pod)-2]}, Strategy: "zones", Reason: v1alpha1.Reason{Code: "ZoneSkewed", Message: "zone-c has 4 of 6 pods"},
			From: "n1", To: "n2", ConfidencePerMille: 990}
		o.Spec.Moves = append(o.Spec.Moves, m)
	}
	o.Spec.Moves[1].DisplacedFor = &v1alpha1.PodReference{Namespace: "shop", Name: "cart-1", UID: "uid-cart-1"}
	o.Spec.Moves[3].Strategy = "node-spread"
	for _, c := range change {
		c(o)
	}
	status := o.Status
	created := must.Get(x.objects.Plans.Create(t.Context(), o, metav1.CreateOptions{}))(t)
	if created.Status = status; status.Phase == "" {
		created.Status.Phase = v1alpha1.PhaseWaiting
	}
	created.Status.ObservedGeneration = 1
	return must.Get(x.objects.Plans.UpdateStatus(t.Context(), created, metav1.UpdateOptions{}))(t)
}

func usageOf(all ...NodeUsage) func(context.Context) ([]NodeUsage, error) {
	return func(context.Context) ([]NodeUsage, error) { return all, nil }
}
