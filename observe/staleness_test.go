package observe

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	ktesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fakeInformer acts as the informer of one kind.
type fakeInformer struct {
	*staleness
	t      *testing.T
	clock  *clocktesting.FakePassiveClock
	fake   *watch.FakeWatcher
	opened watch.Interface
}

func newFakeInformer(t *testing.T) *fakeInformer {
	c := clocktesting.NewFakePassiveClock(epoch)
	x := &fakeInformer{staleness: &staleness{clock: c}, t: t, clock: c}
	t.Cleanup(func() {
		if x.opened != nil {
			x.opened.Stop()
		}
	})
	return x
}

func (x *fakeInformer) advanceClock(d time.Duration) { x.clock.SetTime(x.clock.Now().Add(d)) }

func (x *fakeInformer) finishedList(cont, answered string, err error) {
	_, _ = trackList(x.staleness, metav1.ListOptions{Continue: cont}, func(metav1.ListOptions) (*corev1.PodList, error) {
		return &corev1.PodList{ListMeta: metav1.ListMeta{Continue: answered}}, err
	})
}

func (x *fakeInformer) startWatch(initial bool, err error) {
	x.fake = watch.NewFake()
	open, got := trackWatch(x.staleness, metav1.ListOptions{SendInitialEvents: &initial},
		func(metav1.ListOptions) (watch.Interface, error) { return x.fake, err })
	if err == nil {
		x.opened = open
	} else if got == nil {
		x.t.Error("a refused watch returned no error")
	}
}

// wantRefusedWatch checks that a watch without initial objects is refused with the error after which informers list.
func (x *fakeInformer) wantRefusedWatch() {
	x.t.Helper()
	if _, err := trackWatch(x.staleness, metav1.ListOptions{}, func(metav1.ListOptions) (watch.Interface, error) {
		x.t.Error("the watch was opened")
		return nil, errRefused
	}); !apierrors.IsResourceExpired(err) {
		x.t.Errorf("the watch was refused with %v, want that a list is necessary", err)
	}
}

// sendEvent sends an event through the watch. The informer has received it on return.
func (x *fakeInformer) sendEvent(e watch.Event) {
	x.t.Helper()
	go x.fake.Action(e.Type, e.Object)
	select {
	case got := <-x.opened.ResultChan():
		if got.Type != e.Type {
			x.t.Errorf("got %v, sent %v", got, e)
		}
	case <-time.After(10 * time.Second):
		x.t.Fatal("the event was not forwarded")
	}
}

// endWatch closes the watch on the server's side.
func (x *fakeInformer) endWatch() {
	x.t.Helper()
	x.fake.Stop()
	if _, more := <-x.opened.ResultChan(); more {
		x.t.Error("received an event after the end of the watch")
	}
}

// wantStaleness checks the age of the view.
func (x *fakeInformer) wantStaleness(want time.Duration, why string) {
	x.t.Helper()
	until, err := x.asOf()
	if got := x.clock.Now().Sub(until); got != want {
		x.t.Errorf("staleness is %s, want %s", got, want)
	}
	if last := x.lastKnown(); !last.Equal(until) {
		x.t.Errorf("lastKnown is %s, but asOf %s", last, until)
	}
	if why == "" && err != nil || why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
		x.t.Errorf("last failure %v, want %q", err, why)
	}
}

var (
	emptyPod         = &corev1.Pod{}
	bookmark         = watch.Event{Type: watch.Bookmark, Object: emptyPod}
	initialEventsEnd = watch.Event{Type: watch.Bookmark,
		Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}}
	expiredEvent = watch.Event{Type: watch.Error,
		Object: &metav1.Status{Status: "Failure", Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old resource version"}}
	errRefused = errors.New("connection refused")
)

func TestAWatchThatWorksIsNow(t *testing.T) {
	x := newFakeInformer(t)
	x.finishedList("", "", nil)
	x.advanceClock(50 * time.Second)
	x.wantStaleness(50*time.Second, "")
	x.startWatch(false, nil)
	x.wantStaleness(50*time.Second, "") // the server may close it immediately
	x.advanceClock(time.Second)
	x.wantStaleness(0, "") // a kind without changes
	x.endWatch()
	x.advanceClock(50 * time.Second)
	x.wantStaleness(50*time.Second, "its watch ended")
	x.startWatch(false, errRefused)
	x.wantStaleness(50*time.Second, "connection refused")
	x.startWatch(false, nil)
	x.sendEvent(watch.Event{Type: watch.Modified, Object: emptyPod})
	x.wantStaleness(0, "")
	x.sendEvent(expiredEvent)
	x.advanceClock(50 * time.Second)
	x.wantStaleness(50*time.Second, "the answer is 410")
}

// TestWatchesThatEndAtOnceDoNotCount covers a proxy that opens each watch and closes it
// immediately, with or without an error.
func TestWatchesThatEndAtOnceDoNotCount(t *testing.T) {
	x := newFakeInformer(t)
	x.finishedList("", "", nil)
	for range 5 {
		x.advanceClock(10 * time.Second)
		x.startWatch(false, nil)
		x.advanceClock(500 * time.Millisecond)
		x.endWatch()
		x.advanceClock(10 * time.Second)
		x.startWatch(false, nil)
		x.sendEvent(expiredEvent)
		x.endWatch()
		x.finishedList("", "", errRefused)
	}
	x.wantStaleness(5*20500*time.Millisecond, "connection refused")
	x.advanceClock(time.Second)
	x.finishedList("", "", nil)
	x.wantStaleness(0, "")
}

// TestOnlyCompleteListCounts checks that a list counts only after its last page. The view is then
// current up to the request for the first page.
func TestOnlyCompleteListCounts(t *testing.T) {
	x := newFakeInformer(t)
	x.finishedList("", "", nil)
	x.advanceClock(time.Minute)
	x.finishedList("", "more", nil)
	x.wantStaleness(time.Minute, "")
	x.advanceClock(time.Second)
	x.finishedList("more", "", nil)
	x.wantStaleness(time.Second, "")
	x.advanceClock(time.Minute)
	x.finishedList("", "more", nil)
	x.finishedList("more", "", errRefused)
	x.wantStaleness(61*time.Second, "connection refused")
}

// TestStreamedListCountsFromItsEnd checks that streamed initial objects count only after the last of
// them.
func TestStreamedListCountsFromItsEnd(t *testing.T) {
	x := newFakeInformer(t)
	x.finishedList("", "", nil)
	x.advanceClock(time.Minute)
	x.startWatch(true, nil)
	x.sendEvent(watch.Event{Type: watch.Added, Object: emptyPod})
	x.advanceClock(time.Minute)
	x.wantStaleness(2*time.Minute, "")
	x.sendEvent(initialEventsEnd)
	x.wantStaleness(0, "")
	x.advanceClock(2*time.Minute + time.Second)
	x.wantStaleness(2*time.Minute+time.Second, "its watch has been silent")
}

// TestSilentWatchIsBroken covers a connection that hangs. API servers send a bookmark every minute,
// so only their absence shows that the watch is broken, also if there was none yet. The informer
// then opens a new watch.
func TestSilentWatchIsBroken(t *testing.T) {
	for name, first := range map[string]bool{"after a bookmark": true, "before the first bookmark": false} {
		t.Run(name, func(t *testing.T) {
			x := newFakeInformer(t)
			x.finishedList("", "", nil)
			x.startWatch(false, nil)
			if first {
				x.sendEvent(bookmark)
			}
			x.advanceClock(2 * time.Minute)
			x.wantStaleness(0, "")
			x.advanceClock(time.Second)
			x.wantStaleness(121*time.Second, "its watch has been silent for 2m1s")
			if _, more := <-x.opened.ResultChan(); more {
				t.Error("the silent watch was not ended")
			}
			x.wantStaleness(121*time.Second, "its watch ended")

			// A new watch could be as silent, so the informer must list first.
			x.startWatch(false, nil)
			x.advanceClock(2 * time.Second)
			x.wantStaleness(123*time.Second, "its watch ended")
			x.wantRefusedWatch()
			x.finishedList("", "", nil)
			x.startWatch(false, nil)
			x.advanceClock(2 * time.Second)
			x.wantStaleness(0, "")
		})
	}
}

// TestListAfterSilenceReadsTheLatestVersion checks that after a gap in watch events, no request can be answered from a
// cache that is as old as the silent watch. The other requests of the informer stay as they are.
func TestListAfterSilenceReadsTheLatestVersion(t *testing.T) {
	yes := true
	seen := metav1.ListOptions{ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		Limit: 500}
	page := metav1.ListOptions{Continue: "more", Limit: 500}
	stream := metav1.ListOptions{ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		SendInitialEvents: &yes}
	latestStream := stream
	latestStream.ResourceVersion = ""
	for name, tc := range map[string]struct {
		silence          time.Duration
		list, page, open metav1.ListOptions
	}{
		"after a silence":   {MaxStaleness + time.Second, metav1.ListOptions{Limit: 500}, page, latestStream},
		"without a silence": {MaxStaleness, seen, page, stream},
	} {
		t.Run(name, func(t *testing.T) {
			x := newFakeInformer(t)
			x.finishedList("", "", nil)
			x.advanceClock(tc.silence)
			list := func(opts, want metav1.ListOptions) {
				_, _ = trackList(x.staleness, opts, func(got metav1.ListOptions) (*corev1.PodList, error) {
					if got != want {
						t.Errorf("the list requested %+v, want %+v", got, want)
					}
					return nil, errRefused
				})
			}
			list(seen, tc.list)
			list(page, tc.page)
			_, _ = trackWatch(x.staleness, stream, func(got metav1.ListOptions) (watch.Interface, error) {
				if got != tc.open {
					t.Errorf("the watch requested %+v, want %+v", got, tc.open)
				}
				return nil, errRefused
			})
		})
	}
}

// TestInformerListsTheLatestVersionAfterSilence covers the same with an informer, which requests the version that it
// last saw.
func TestInformerListsTheLatestVersionAfterSilence(t *testing.T) {
	listed := make(chan metav1.ListOptions, 100)
	client := newClient(kubeSystem())
	client.PrependReactor("list", "pods", func(a ktesting.Action) (bool, k8sruntime.Object, error) {
		listed <- a.(ktesting.ListActionImpl).ListOptions
		return true, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}, nil
	})
	watched := make(chan struct{}, 100)
	client.PrependWatchReactor("pods", func(ktesting.Action) (bool, watch.Interface, error) {
		watched <- struct{}{}
		return true, watch.NewRaceFreeFake(), nil
	})
	c := clocktesting.NewFakePassiveClock(epoch)
	st := &staleness{clock: c}
	pods := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.resource == "pods" })]
	informer := pods.informer(informers.NewSharedInformerFactory(client, 0), client, st, keepUnchanged)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { informer.RunWithContext(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	<-listed
	<-watched
	isOpen := func() bool { st.mu.Lock(); defer st.mu.Unlock(); return st.stream != nil }
	for deadline := time.Now().Add(10 * time.Second); !isOpen(); {
		if time.Now().After(deadline) {
			t.Fatal("no watch was opened")
		}
		runtime.Gosched()
	}
	c.SetTime(epoch.Add(MaxStaleness + time.Second))
	if _, err := st.asOf(); err == nil {
		t.Fatal("the watch does not count as silent")
	}
	select {
	case got := <-listed:
		if got.ResourceVersion != "" || got.ResourceVersionMatch != "" {
			t.Errorf("requested %+v, want the latest version", got)
		}
	case <-time.After(20 * time.Second):
		t.Error("the informer did not list again")
	}
}

// TestSilentWatchesAddUp covers a proxy that opens every watch, delivers nothing, and ends it
// before the limit for silence.
func TestSilentWatchesAddUp(t *testing.T) {
	x := newFakeInformer(t)
	x.finishedList("", "", nil)
	for range 2 {
		x.startWatch(false, nil)
		x.advanceClock(time.Minute)
		x.wantStaleness(0, "")
		x.endWatch()
	}
	x.startWatch(false, nil)
	x.advanceClock(time.Minute)
	x.wantStaleness(time.Minute, "its watch has been silent for 3m0s")
}

// TestStopDoesNotWaitForReader checks that Stop returns even if no informer reads the events.
func TestStopDoesNotWaitForReader(t *testing.T) {
	x := newFakeInformer(t)
	x.finishedList("", "", nil)
	x.startWatch(false, nil)
	sent := make(chan struct{})
	go func() { x.fake.Modify(emptyPod); close(sent) }()
	<-sent          // the event was sent, but the informer does not read it
	x.opened.Stop() // ends the goroutine, because TestMain reports leaked goroutines
}
