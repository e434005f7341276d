package evictor

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// outcomeCase causes one outcome. The function prepare changes the cluster and the move, and may
// call stop to end the pass.
type outcomeCase struct {
	name    string
	code    plan.Code
	prepare func(w *fakeCluster, m *plan.Move, stop func())
}

var (
	errReset   = errors.New("read: connection reset by peer")
	errBudget  = withBudgetCause(apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0))
	errSeveral = apiStatusError(500, "", "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
	errEtcd    = apiStatusError(500, metav1.StatusReasonInternalError, "etcdserver: request timed out")
	errAccount = plainError(refusedAccount)
)

// refusedAccount is the message of a real API server if a permission is missing.
const refusedAccount = `User "system:serviceaccount:evenkeel:evenkeel" cannot create resource "pods/eviction" in API group "" in the ` +
	`namespace "shop"`

// plainError returns an error with the given text, such as one from the Go runtime.
func plainError(words string) error { return errors.New(words) }

func evictionAnswers(err error) func(*fakeCluster, *plan.Move, func()) {
	return func(w *fakeCluster, _ *plan.Move, _ func()) { w.answer = err }
}

// readsFailFrom makes every read of a pod fail, from the nth on.
func readsFailFrom(from int, err error) func(*fakeCluster) {
	return func(w *fakeCluster) {
		w.onGet = func(n int) error {
			if n >= from {
				return err
			}
			return nil
		}
	}
}

var outcomeCases = []outcomeCase{
	{"the replacement lands as predicted", plan.ZoneSkewed, func(w *fakeCluster, _ *plan.Move, _ func()) { w.createReplacement = "n1" }},
	{"the replacement lands elsewhere", plan.LandedElsewhere, func(w *fakeCluster, _ *plan.Move, _ func()) { w.createReplacement = "n3" }},
	{"the pod is gone before the read", plan.PodGoneAlready, func(w *fakeCluster, _ *plan.Move, _ func()) { delete(w.pods, "d1") }},
	{"the pod is gone after the read", plan.PodGoneAlready, evictionAnswers(apierrors.NewNotFound(pods, "d1"))},
	{"another pod has the name before the read", plan.UIDChanged, func(w *fakeCluster, _ *plan.Move, _ func()) { w.pods["d1"].UID = "u2" }},
	{"another pod has the name after the read", plan.UIDChanged, evictionAnswers(apierrors.NewConflict(pods, "d1",
		errors.New("the UID in the precondition does not match")))},
	{"the pod terminates", plan.PodTerminating, func(w *fakeCluster, _ *plan.Move,
		_ func()) {
		w.pods["d1"].DeletionTimestamp = &metav1.Time{}
	}},
	{"the pod is on another node", plan.PremiseChanged, func(w *fakeCluster, _ *plan.Move, _ func()) { w.pods["d1"].Spec.NodeName = "n2" }},
	{"an annotation forbids the eviction", plan.PremiseChanged, func(w *fakeCluster, m *plan.Move, _ func()) {
		m.EligibilityInputs = annotation.Fingerprint(w.pods["d1"])
		w.pods["d1"].Annotations = map[string]string{annotation.Evict: "never"}
	}},
	{"the window has closed", plan.OutsideWindow, func(_ *fakeCluster, m *plan.Move, _ func()) { m.NotAfter = noon }},
	{"a budget allows no eviction", plan.BlockedByPDB, evictionAnswers(errBudget)},
	{"the pod has two budgets", plan.MultiplePDBs, evictionAnswers(errSeveral)},
	{"the server is busy", plan.APIThrottled, evictionAnswers(apierrors.NewTooManyRequestsError("the server has received too many requests"))},
	{"the permission to evict is missing", plan.PermissionMissing, func(w *fakeCluster, _ *plan.Move, _ func()) {
		w.answer, w.mayNotEvict = apierrors.NewForbidden(pods, "d1", errAccount), true
	}},
	{"it is unknown whether the permission to evict is missing", plan.PermissionMissing, func(w *fakeCluster, _ *plan.Move, _ func()) {
		w.answer, w.reviewErr = apiStatusError(403, metav1.StatusReasonForbidden, deniedByPolicy), errReset
	}},
	{"a policy forbids the eviction", plan.BlockedByAdmission,
		evictionAnswers(apiStatusError(403, metav1.StatusReasonForbidden, deniedByPolicy))},
	{"a webhook executes the eviction later", plan.EvictionInBackground, evictionAnswers(apiStatusError(429, "", evacuation))},
	{"a webhook forbids the eviction", plan.BlockedByAdmission,
		evictionAnswers(apiStatusError(400, "", deniedByWebhook+"\nask the operators"))},
	{"the permission to read is missing", plan.PermissionMissing, func(w *fakeCluster, _ *plan.Move, _ func()) {
		readsFailFrom(1, apierrors.NewForbidden(pods, "d1", errors.New(strings.Replace(errAccount.Error(), `create resource "pods/eviction"`,
			`get resource "pods"`, 1))))(w)
	}},
	{"the read rejects the token", plan.PermissionMissing, func(w *fakeCluster, _ *plan.Move, _ func()) {
		readsFailFrom(1, apierrors.NewUnauthorized("Unauthorized"))(w)
	}},
	{"the eviction rejects the token", plan.PermissionMissing, evictionAnswers(apierrors.NewUnauthorized("Unauthorized"))},
	{"the server rejects the request as invalid", plan.APIError,
		evictionAnswers(apierrors.NewBadRequest("eviction name does not match the pod"))},
	{"the server fails", plan.APIError, evictionAnswers(errEtcd)},
	{"the read fails", plan.APIError, func(w *fakeCluster, _ *plan.Move, _ func()) { readsFailFrom(1, errEtcd)(w) }},
	{"no answer, and the pod stays", plan.OutcomeUnknown, evictionAnswers(errReset)},
	{"no answer, and the server is unreachable", plan.OutcomeUnknown,
		func(w *fakeCluster, _ *plan.Move, _ func()) { w.answer = errReset; readsFailFrom(2, errReset)(w) }},
	{"the server fails and is then unreachable", plan.OutcomeUnknown, func(w *fakeCluster, _ *plan.Move,
		_ func()) {
		w.answer = errEtcd
		readsFailFrom(2, errReset)(w)
	}},
	{"told to stop before the read", plan.Interrupted, func(_ *fakeCluster, _ *plan.Move, stop func()) { stop() }},
	{"told to stop during the read", plan.Interrupted, func(w *fakeCluster, _ *plan.Move, stop func()) {
		w.onGet = func(int) error { stop(); return nil }
	}},
	{"told to stop during a failing read", plan.Interrupted, func(w *fakeCluster, _ *plan.Move, stop func()) {
		w.onGet = func(int) error { stop(); return context.Canceled }
	}},
	{"told to stop after the request", plan.OutcomeUnknown, func(w *fakeCluster, _ *plan.Move, stop func()) { w.onEvict = stop }},
	{"no replacement", plan.ReplacementNotScheduled, func(*fakeCluster, *plan.Move, func()) {}},
	{"a replacement without a node", plan.ReplacementNotScheduled,
		func(w *fakeCluster, _ *plan.Move, _ func()) { w.pending, w.notReady = true, true }},
	{"a replacement that is not Ready", plan.ReplacementNotReady,
		func(w *fakeCluster, _ *plan.Move, _ func()) { w.createReplacement, w.notReady = "n1", true }},
	{"the evicted pod stays", plan.ReplacementNotReady, func(w *fakeCluster, _ *plan.Move, _ func()) { w.stays = true }},
	{"the evicted pod stays after its replacement is Ready", plan.ReplacementNotReady,
		func(w *fakeCluster, _ *plan.Move, _ func()) { w.stays, w.createReplacement = true, "n1" }},
}

// result is what a reason code means for the move, and whether it stops the pass.
type result struct {
	outcome plan.OutcomeKind // "" for a code with several
	stops   bool
}

// results has the outcome that each reason code must lead to, and whether the code stops the pass. APIError is missing,
// because it stops the pass only in some cases.
var results = map[plan.Code]result{
	plan.APIThrottled: {plan.Blocked, true}, plan.PermissionMissing: {plan.Blocked, true}, plan.OutcomeUnknown: {"", true},
	plan.Interrupted: {plan.Dropped, true}, plan.ReplacementNotReady: {plan.Evicted, true}, plan.ReplacementNotScheduled: {plan.Evicted, true},
	plan.ZoneSkewed: {plan.Evicted, false}, plan.LandedElsewhere: {plan.Evicted, false}, plan.PodGoneAlready: {plan.AlreadyGone, false},
	plan.UIDChanged: {plan.Dropped, false}, plan.PodTerminating: {plan.AlreadyGone, false}, plan.PremiseChanged: {plan.Dropped, false},
	plan.OutsideWindow: {plan.Dropped, false}, plan.BlockedByPDB: {plan.Blocked, false}, plan.BlockedByAdmission: {plan.Blocked, false},
	plan.EvictionInBackground: {plan.InProgress, false}, plan.MultiplePDBs: {plan.Blocked, false},
}

func runCase(t *testing.T, p outcomeCase) (Result, *fakeCluster) {
	t.Helper()
	w, m := newFakeCluster(testPod("d1", "u1", "n3")), testMove(1, "d1", "u1")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p.prepare(w, &m, stop)
	return newTestLive(w, clock.RealClock{}).EvictWave(ctx, []plan.Move{m}, nil), w
}

// TestOutcomes causes every outcome of a move and compares the messages with testdata/outcomes.txt.
func TestOutcomes(t *testing.T) {
	var lines []string
	said := map[plan.Code]bool{}
	say := func(r plan.Reason) {
		said[r.Code] = true
		lines = append(lines, string(r.Code)+": "+r.Message)
	}
	for _, p := range outcomeCases {
		t.Run(p.name, func(t *testing.T) {
			var r Result
			var w *fakeCluster
			var took time.Duration
			runAtNoon(t, func(t *testing.T) {
				r, w = runCase(t, p)
				took = time.Since(noon)
			})
			o := singleOutcome(t, r)
			if o.Reason.Code != p.code || o.Reason.Message == "" || strings.Contains(o.Reason.Message, "\n") {
				t.Errorf("got %s: %q, want %s and a single line", o.Reason.Code, o.Reason.Message, p.code)
			}
			if want, told := results[p.code]; told && (want.stops != (r.Stop != nil) || want.outcome != o.Outcome && want.outcome != "") {
				t.Errorf("got outcome %s and stop reason %v, want %+v", o.Outcome, r.Stop, want)
			}
			if notAsked := o.Outcome == plan.Dropped || o.Outcome == plan.AlreadyGone; notAsked && w.answer == nil && w.evictRequests > 0 {
				t.Errorf("%d eviction requests", w.evictRequests)
			}
			if missing := strings.HasPrefix(string(p.code), "ReplacementNot"); missing && took != time.Minute+30*time.Second {
				t.Errorf("waited for %s, want verifyTimeout plus the grace period", took)
			}
			say(o.Reason)
			if r.Stop != nil {
				say(*r.Stop)
			}
		})
	}
	for _, c := range reasonCodesInSource(t) {
		if !said[c] {
			t.Errorf("nothing provokes %s", c)
		}
	}
	golden.EqualLines(t, "testdata/outcomes.txt", lines)
}

// reasonCodesInSource returns the reason codes that the code of this package uses.
func reasonCodesInSource(t *testing.T) []plan.Code {
	t.Helper()
	codes := map[string]plan.Code{}
	reasons := parseFile(t, "../plan/reason.go")
	ast.Inspect(reasons, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			s := must.Get(strconv.Unquote(v.Values[0].(*ast.BasicLit).Value))(t)
			codes[v.Names[0].Name] = plan.Code(s)
		}
		return true
	})
	files := must.Get(filepath.Glob("*.go"))(t)
	var out []plan.Code
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(parseFile(t, name), func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "plan" && codes[s.Sel.Name] != "" {
					out = append(out, codes[s.Sel.Name])
				}
			}
			return true
		})
	}
	if len(out) == 0 {
		t.Fatal("no codes found")
	}
	return out
}

func parseFile(t *testing.T, name string) *ast.File {
	t.Helper()
	f := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
	return f
}
