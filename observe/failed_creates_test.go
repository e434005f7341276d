package observe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ktesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// eventServer serves events in pages, and counts the requests.
type eventServer struct {
	events   []corev1.Event
	failure  error
	requests []metav1.ListOptions
}

func (s *eventServer) list(a ktesting.Action) (bool, k8sruntime.Object, error) {
	opts := a.(ktesting.ListActionImpl).ListOptions
	s.requests = append(s.requests, opts)
	if s.failure != nil {
		return true, nil, s.failure
	}
	begin, _ := strconv.Atoi(opts.Continue) // 0 without a token: the first page
	end := min(len(s.events), begin+int(opts.Limit))
	out := &corev1.EventList{Items: s.events[begin:end]}
	if end < len(s.events) {
		out.Continue = strconv.Itoa(end)
	}
	return true, out, nil
}

var eventsTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// startEvents returns a reader of the events of a server, and its clock.
func startEvents(s *eventServer) (*failedCreates, *clocktesting.FakePassiveClock) {
	client := newClient()
	client.PrependReactor("list", "events", s.list)
	c := clocktesting.NewFakePassiveClock(eventsTime)
	return &failedCreates{client: client, clock: c}, c
}

func failedCreateOf(uid string, age time.Duration) corev1.Event {
	return corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint(uid, ".", age)}, Message: "a secret",
		InvolvedObject: corev1.ObjectReference{Kind: "StatefulSet", Namespace: "shop", Name: uid, UID: types.UID(uid)},
		Reason:         cluster.FailedCreate, LastTimestamp: metav1.NewTime(eventsTime.Add(-age))}
}

func (f *failedCreates) objects(ctx context.Context) *cluster.Objects {
	f.read(ctx)
	o := &cluster.Objects{}
	f.addTo(o)
	return o
}

// TestTheLastEventOfEachControllerIsKept checks that the API server selects the events, that they come in pages, and
// that only the last one of each controller stays in memory, without its message.
func TestTheLastEventOfEachControllerIsKept(t *testing.T) {
	s := &eventServer{}
	for i := range 1200 {
		s.events = append(s.events, failedCreateOf(fmt.Sprint("db-", i%3), time.Duration(1+(i+600)%1200)*time.Minute))
	}
	s.events[7].Reason = "Killing" // a server that ignores the selector
	f, _ := startEvents(s)
	o := f.objects(t.Context())
	if len(s.requests) != 3 || s.requests[2].Limit != 500 || s.requests[2].FieldSelector != "reason=FailedCreate" {
		t.Errorf("requests %+v, want three pages of 500 selected events", s.requests)
	}
	if len(o.Events) != 3 || o.Unread["v1 Event"] != "" {
		t.Fatalf("%d events, error %q", len(o.Events), o.Unread["v1 Event"])
	}
	for _, e := range o.Events {
		if age := eventsTime.Sub(e.LastTimestamp.Time); age > 3*time.Minute || e.Message != "" {
			t.Errorf("event of %s is %s old, message %q", e.InvolvedObject.Name, age, e.Message)
		}
	}
}

func TestTooManyEventsAreReported(t *testing.T) {
	s := &eventServer{}
	for i := range maxEvents + 1 {
		s.events = append(s.events, failedCreateOf(fmt.Sprint("db-", i), time.Minute))
	}
	f, _ := startEvents(s)
	o := f.objects(t.Context())
	if len(o.Events) != maxEvents || !strings.Contains(o.Unread["v1 Event"], "more than 10000 events") {
		t.Errorf("%d events, error %q", len(o.Events), o.Unread["v1 Event"])
	}
}

// TestEventsThatCannotBeRead checks that the snapshot says so, that the earlier events remain, and that an answer is
// used for a while, also a failed one.
func TestEventsThatCannotBeRead(t *testing.T) {
	s := &eventServer{events: []corev1.Event{failedCreateOf("db", time.Minute)}}
	f, c := startEvents(s)
	check := func(requests int, problem string) {
		t.Helper()
		o := f.objects(t.Context())
		said := o.Unread["v1 Event"]
		if !strings.Contains(said, problem) || (problem == "") != (said == "") {
			t.Errorf("error %q, want %q", said, problem)
		}
		if len(s.requests) != requests || len(o.Events) != 1 {
			t.Errorf("%d requests, %d events; want %d requests and 1 event", len(s.requests), len(o.Events), requests)
		}
	}
	check(1, "")
	s.failure = apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", errors.New("no"))
	check(1, "")
	const denied = "permission to list events is missing"
	c.SetTime(eventsTime.Add(eventsReuse))
	check(2, denied)
	s.failure = nil
	check(2, denied)
	c.SetTime(eventsTime.Add(2 * eventsReuse))
	check(3, "")

	s.failure = errors.New("etcd is down")
	c.SetTime(eventsTime.Add(3 * eventsReuse))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if o := f.objects(ended); o.Unread["v1 Event"] != "" {
		t.Errorf("a caller that gave up reports %q", o.Unread["v1 Event"])
	}
	check(5, "etcd is down")
}

// TestAMissingPermissionForEventsDoesNotStopThePass checks that a pass runs without the permission to read events.
// Other signs that a controller cannot create pods still protect its pods.
func TestAMissingPermissionForEventsDoesNotStopThePass(t *testing.T) {
	client := newClient(kubeSystem(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
	s := &eventServer{failure: apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", errors.New("no"))}
	client.PrependReactor("list", "events", s.list)
	o, ctx := startObserver(t, client)
	must.Succeed(t, o.WaitForSync(ctx))
	snapshot := must.Get(o.Snapshot(ctx))(t)
	if !strings.Contains(snapshot.Objects.Unread["v1 Event"], "permission to list events is missing") {
		t.Errorf("error %q", snapshot.Objects.Unread["v1 Event"])
	}
}

// TestSnapshotWithoutEvents: an API server scans all of its events for each read, and bindings are
// checked all the time, so only the snapshot of a pass reads events.
func TestSnapshotWithoutEvents(t *testing.T) {
	client := newClient(kubeSystem(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
	s := &eventServer{events: []corev1.Event{failedCreateOf("db", time.Minute)}}
	client.PrependReactor("list", "events", s.list)
	o, ctx := startObserver(t, client)
	must.Succeed(t, o.WaitForSync(ctx))
	got, err := o.SnapshotWithoutEvents()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.requests) != 0 || len(got.Objects.Events) != 0 || len(got.Nodes) != 1 {
		t.Errorf("%d requests, %d events and %d nodes; want only the node", len(s.requests), len(got.Objects.Events), len(got.Nodes))
	}
	if got, err = o.Snapshot(ctx); err != nil || len(got.Objects.Events) != 1 {
		t.Errorf("Snapshot: %v, error %v; want one event", got, err)
	}
}
