package state

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/internal/retry"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	opts = history.Options{Initial: 10 * time.Minute}
)

func testMove(step int, namespace string) plan.Move {
	return plan.Move{Step: step, Wave: 1, From: "n1", To: "n2", Strategy: "zones",
		Pod:   plan.PodRef{Namespace: namespace, Name: fmt.Sprint("d-", step), UID: fmt.Sprint(namespace, "-uid-", step)},
		Owner: plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"}}
}

func mustLoad(t *testing.T, s *Store) plan.PlannerState {
	t.Helper()
	st, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func mustSave(t *testing.T, s *Store, st plan.PlannerState) {
	t.Helper()
	if err := s.Save(t.Context(), st); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsSavedIsLoadedByTheNext(t *testing.T) {
	api := newFakeServer()
	s := New(api.client(), ns)
	st := mustLoad(t, s)
	if d := cmp.Diff(plan.PlannerState{APIVersion: plan.APIVersion, Kind: plan.PlannerStateKind}, st); d != "" {
		t.Errorf("the empty state differs: %s", d)
	}
	a, b := testMove(1, "shop"), testMove(2, "bank")
	st = history.Reserve(st, plan.OpenRun{RunID: "r1", Holder: "me", Started: noon}, []plan.Move{a, b}, noon)
	st.SpentBudgets = map[string]time.Time{"shop/d": noon.Add(time.Minute)}
	st.Breaker = &plan.BreakerTrip{At: noon, Until: noon.Add(time.Hour)}
	mustSave(t, s, st)
	if d := cmp.Diff(st, mustLoad(t, New(api.client(), ns))); d != "" {
		t.Errorf("the state that another store loads differs: %s", d)
	}
	if want := []string{namePrefix + partOf("bank"), namePrefix + partOf("shop"), namePrefix + "cluster"}; len(api.writes) != 3 ||
		!sameNames(api.writes, want) {
		t.Errorf("got writes %v, want %v", api.writes, want)
	}
	for name, cm := range api.configMaps {
		if cm.Labels["app.kubernetes.io/managed-by"] != "evenkeel" || cm.Namespace != ns {
			t.Errorf("%s lacks our labels: %v", name, cm.ObjectMeta)
		}
	}
}

func sameNames(got, want []string) bool {
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	return slices.Equal(got, want)
}

func TestOnlyWhatChangedIsWritten(t *testing.T) {
	api := newFakeServer()
	s := New(api.client(), ns)
	a, b := testMove(1, "shop"), testMove(2, "bank")
	if partOf("shop") == partOf("bank") {
		t.Fatal("the test needs two parts")
	}
	st := history.Reserve(mustLoad(t, s), plan.OpenRun{RunID: "r1"}, []plan.Move{a, b}, noon)
	mustSave(t, s, st)
	api.writes = nil
	mustSave(t, s, st)
	if len(api.writes) > 0 {
		t.Errorf("nothing changed, but got writes %v", api.writes)
	}
	st, _ = history.RecordOutcomes(st, "r1", []plan.Outcome{{Step: 1, Pod: a.Pod, Outcome: plan.Blocked}}, noon, opts)
	mustSave(t, s, st)
	if want := []string{namePrefix + partOf("shop")}; !slices.Equal(api.writes, want) {
		t.Errorf("got writes %v, want %v", api.writes, want)
	}
	st = history.Expire(history.CloseRun(st, "r1"), noon.Add(2*time.Hour))
	mustSave(t, s, st)
	for name, cm := range api.configMaps {
		if len(cm.BinaryData) > 0 {
			t.Errorf("%s is not empty", name)
		}
	}
	if got := mustLoad(t, New(api.client(), ns)); len(got.Runs)+len(got.Evictions) > 0 {
		t.Errorf("left: %+v", got)
	}
}

func TestNothingIsWrittenOverWhatAnotherWrote(t *testing.T) {
	for _, there := range []bool{false, true} {
		api := newFakeServer()
		s, other := New(api.client(), ns), New(api.client(), ns)
		if there {
			st := mustLoad(t, s)
			mustSave(t, s, history.Reserve(st, plan.OpenRun{RunID: "r0"}, []plan.Move{testMove(9, "shop")}, noon))
		}
		mine, theirs := mustLoad(t, s), mustLoad(t, other)
		theirs = history.Reserve(theirs, plan.OpenRun{RunID: "r2"}, []plan.Move{testMove(2, "shop")}, noon)
		mustSave(t, other, theirs)
		mine = history.Reserve(mine, plan.OpenRun{RunID: "r1"}, []plan.Move{testMove(1, "shop")}, noon)
		err := s.Save(t.Context(), mine)
		if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), "evenkeel-state-"+partOf("shop")) {
			t.Errorf("exists %v: got %v, want a conflict that names the ConfigMap", there, err)
		}
		if d := cmp.Diff(theirs, mustLoad(t, New(api.client(), ns))); d != "" {
			t.Errorf("exists %v: the other process's state changed: %s", there, d)
		}
	}
}

func TestSavingWithoutLoadingIsRefused(t *testing.T) {
	api := newFakeServer()
	err := New(api.client(), ns).Save(t.Context(), plan.PlannerState{})
	if err == nil || !strings.Contains(err.Error(), "was not loaded") || api.calls > 0 {
		t.Errorf("got error %v after %d calls", err, api.calls)
	}
	s := New(api.client(), ns)
	mustLoad(t, s)
	api.before = func(string, string, int) error { return apierrors.NewForbidden(configMaps, "x", nil) }
	if _, err := s.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "Role") {
		t.Errorf("forbidden: %v", err)
	}
	if err := s.Save(t.Context(), plan.PlannerState{}); err == nil || !strings.Contains(err.Error(), "was not loaded") {
		t.Errorf("after a failed load: got error %v", err)
	}
}

func TestUnreadableContentSaysWhatToDo(t *testing.T) {
	good := gzipped(t, `{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState"}`)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"not packed":   {[]byte("{}"), "unpacking it: "},
		"cut":          {good[:len(good)-6], "unpacking it: "},
		"not JSON":     {gzipped(t, "evictions"), "invalid character"},
		"another kind": {gzipped(t, `{"apiVersion":"evenkeel.io/v1alpha1","kind":"Plan"}`), "want evenkeel.io/v1alpha1 PlannerState"},
		"another's":    {gzipped(t, `{"apiVersion":"example.com/v1","kind":"PlannerState"}`), "want evenkeel.io/v1alpha1 PlannerState"},
		"counts below 1": {gzipped(t,
			`{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState","evictions":[{"workload":{"kind":"D","name":"d"},`+
				`"minute":"2026-03-01T12:00:00Z","count":-7}]}`), "evictions[0]"},
		"a newer version": {gzipped(t, `{"apiVersion":"evenkeel.io/v1","kind":"PlannerState","evictions":{"shop":3}}`),
			"written by a newer version of evenkeel (evenkeel.io/v1; this one knows evenkeel.io/v1alpha1); run that version, or delete"},
		"a bomb": {gzipped(t, strings.Repeat(" ", maxUnpacked+1)), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeServer()
			cm := &corev1.ConfigMap{BinaryData: map[string][]byte{dataKey: c.data}}
			cm.Name, cm.ResourceVersion = namePrefix+"07", "1"
			api.configMaps[cm.Name] = cm
			_, err := New(api.client(), ns).Load(t.Context())
			if err == nil {
				t.Fatal("it was read")
			}
			for _, want := range []string{c.want, "ConfigMap ops/evenkeel-state-07", "delete", "which loses the evictions of the last hour"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want it to contain %q", err, want)
				}
			}
		})
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	cm, err := packConfigMap(ns, "x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cm.BinaryData[dataKey]
}

// Fields that a later release added under the same API version are ignored.
func TestUnknownFieldsOfTheSameVersionAreNoReasonToStop(t *testing.T) {
	api := newFakeServer()
	cm := &corev1.ConfigMap{BinaryData: map[string][]byte{dataKey: gzipped(t,
		`{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState","moods":["good"],"runs":[{"runID":"r","reservations":null}]}`)}}
	cm.Name, cm.ResourceVersion = namePrefix+clusterPart, "1"
	api.configMaps[cm.Name] = cm
	if st := mustLoad(t, New(api.client(), ns)); len(st.Runs) != 1 {
		t.Errorf("%+v", st)
	}
}

func TestWhatDoesNotFitIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	api := newFakeServer()
	s := New(api.client(), ns)
	st := mustLoad(t, s)
	r := rand.New(rand.NewPCG(1, 1))
	moves := []plan.Move{testMove(1, "bank")}
	for i := range 40000 {
		m := testMove(i+2, "shop")
		m.Pod.UID = fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
		m.Pod.Name = m.Pod.UID
		moves = append(moves, m)
	}
	run := plan.OpenRun{RunID: "r"}
	for i, m := range moves {
		run.Reservations = append(run.Reservations, plan.Reservation{Step: i + 1, Pod: m.Pod, Workload: history.WorkloadOfMove(m)})
	}
	st.Runs = append(st.Runs, run)
	err := s.Save(t.Context(), st)
	if err == nil || !strings.Contains(err.Error(), "more than the 900 that fit; lower limits.perPass") ||
		!strings.Contains(err.Error(), namePrefix+partOf("shop")) {
		t.Errorf("got %v", err)
	}
	if len(api.writes) > 0 {
		t.Errorf("written: %v", api.writes)
	}
}

// The reservations of ten thousand evictions in one namespace fit into a part (docs/reference/running.md#state).
func TestTenThousandUnderWayFit(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	run := plan.OpenRun{RunID: "0a1b2c3d", Holder: "evenkeel-7d4b9c6f5-abcde_01234567", Started: noon}
	for i := range 10000 {
		name := fmt.Sprintf("web-%d", i/20)
		run.Reservations = append(run.Reservations, plan.Reservation{Step: i + 1, Wave: 1 + i/16, At: noon.Add(time.Duration(r.IntN(3600e9))),
			Strategy: "zones",
			From:     fmt.Sprintf("node-%05d", r.IntN(500)), To: fmt.Sprintf("node-%05d",
				r.IntN(500)),
			Workload: plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: name},
			Pod: plan.PodRef{Namespace: "shop", Name: fmt.Sprintf("%s-6c8f9d7b5-%05x", name, r.IntN(1<<20)),
				UID: fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<16), r.IntN(1<<48))}})
	}
	api := newFakeServer()
	s := New(api.client(), ns)
	st := mustLoad(t, s)
	st.Runs = []plan.OpenRun{run}
	mustSave(t, s, st)
	t.Logf("%d KiB", len(api.configMaps[namePrefix+partOf("shop")].BinaryData[dataKey])>>10)
}

// After a crash or an error between two writes, the stored state may contain too many reservations, but never too few.
func TestAPartThatCannotBeWrittenLeavesTheOthers(t *testing.T) {
	api := newFakeServer()
	s := New(api.client(), ns)
	st := mustLoad(t, s)
	api.before = func(verb, name string, _ int) error {
		if verb != "get" && name == namePrefix+partOf("bank") {
			return apierrors.NewForbidden(configMaps, name, errors.New("no"))
		}
		return nil
	}
	st = history.Reserve(st, plan.OpenRun{RunID: "r1"}, []plan.Move{testMove(1, "shop"), testMove(2, "bank")}, noon)
	if err := s.Save(t.Context(), st); err == nil || !strings.Contains(err.Error(), "writing ConfigMap ops/"+namePrefix+partOf("bank")) {
		t.Errorf("got %v", err)
	}
	api.before = nil
	half := mustLoad(t, New(api.client(), ns))
	if h := history.CountLastHour(half, noon); h.Cluster != 1 || h.Namespace["shop"] != 1 || len(half.Runs) != 1 ||
		len(half.Runs[0].Reservations) != 1 {
		t.Errorf("after a partial save: %+v", half)
	}
	mustSave(t, s, st)
	if d := cmp.Diff(st, mustLoad(t, New(api.client(), ns))); d != "" {
		t.Errorf("after a complete save: %s", d)
	}
}

func TestReadingIsRepeatedAFewTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a call would otherwise wait for its back-off
		api := newFakeServer()
		failed := map[string]int{}
		api.before = func(_, name string, _ int) error {
			if failed[name]++; failed[name] < retry.MaxAttempts {
				return apierrors.NewInternalError(errors.New("etcd has no leader"))
			}
			return nil
		}
		mustLoad(t, New(api.client(), ns))
		api.calls, api.before = 0, func(string, string, int) error { return apierrors.NewInternalError(errors.New("etcd has no leader")) }
		if _, err := New(api.client(), ns).Load(t.Context()); err == nil || !strings.Contains(err.Error(), "etcd has no leader") {
			t.Errorf("got %v", err)
		}
		if want := retry.MaxAttempts * (shardCount + 1); api.calls != want {
			t.Errorf("got %d calls, want %d", api.calls, want)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		api.calls = 0
		if _, err := New(api.client(), ns).Load(ended); err == nil || api.calls > shardCount+1 {
			t.Errorf("after the stop: got error %v after %d calls", err, api.calls)
		}
	})
}

// Only the answer of an API server counts as "not found". Another server may say 404 although the ConfigMap exists,
// and an open breaker would be forgotten.
func TestForeignAnswersAreNotAnEmptyState(t *testing.T) {
	for name, answer := range map[string]error{
		"a 404 of a proxy":           apierrors.NewGenericServerResponse(404, "get", configMaps, namePrefix+clusterPart, "<h1>Not Found</h1>", 0, true),
		"a 404 without details":      &apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound}},
		"a 404 about another object": apierrors.NewNotFound(configMaps, "evenkeel"),
		"a 404 about another kind":   apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, namePrefix+clusterPart),
	} {
		api := newFakeServer()
		s := New(api.client(), ns)
		st := mustLoad(t, s)
		st.Breaker = &plan.BreakerTrip{At: noon, Until: noon.Add(time.Hour)}
		mustSave(t, s, st)
		api.before = func(verb, name string, _ int) error {
			if verb == "get" && name == namePrefix+clusterPart {
				return answer
			}
			return nil
		}
		if st, err := New(api.client(), ns).Load(t.Context()); err == nil || !strings.Contains(err.Error(), namePrefix+clusterPart) {
			t.Errorf("%s: loaded the breaker %+v with error %v; want an error that names the ConfigMap", name, st.Breaker, err)
		}
	}
}

func TestAnAnswerAboutAnotherConfigMapIsAnError(t *testing.T) {
	api := newFakeServer()
	api.configMaps[namePrefix+clusterPart] = &corev1.ConfigMap{}
	if _, err := New(api.client(), ns).Load(t.Context()); !errors.Is(err, errOtherObject) {
		t.Errorf("got error %v, want %v", err, errOtherObject)
	}
}

// TestWhatCannotBePackedIsNotSent: one write of content that fits into no ConfigMap fails without a request.
func TestWhatCannotBePackedIsNotSent(t *testing.T) {
	client := fake.NewClientset()
	content := make([]byte, 4<<20)
	rand.NewChaCha8([32]byte{}).Read(content) // random data does not compress
	err := New(client, ns).writeOnce(t.Context(), &storedPart{name: "x"}, content)
	if err == nil || len(client.Actions()) != 0 {
		t.Errorf("got error %v after the requests %v", err, client.Actions())
	}
}
