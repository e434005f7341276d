package observe

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clocktesting "k8s.io/utils/clock/testing"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// informed plays the informer of one kind.
type informed struct {
	*currency
	t     *testing.T
	clock *clocktesting.FakePassiveClock
	fake  *watch.FakeWatcher
	open  watch.Interface
}

func informs(t *testing.T) *informed {
	c := clocktesting.NewFakePassiveClock(epoch)
	x := &informed{currency: &currency{clock: c}, t: t, clock: c}
	t.Cleanup(func() {
		if x.open != nil {
			x.open.Stop()
		}
	})
	return x
}

func (x *informed) wait(d time.Duration) { x.clock.SetTime(x.clock.Now().Add(d)) }

func (x *informed) list(cont, answered string, err error) {
	_, _ = listThrough(x.currency, metav1.ListOptions{Continue: cont}, func() (*corev1.PodList, error) {
		return &corev1.PodList{ListMeta: metav1.ListMeta{Continue: answered}}, err
	})
}

func (x *informed) watches(initial bool, err error) {
	x.fake = watch.NewFake()
	open, got := watchThrough(x.currency, metav1.ListOptions{SendInitialEvents: &initial}, func() (watch.Interface, error) { return x.fake, err })
	if err == nil {
		x.open = open
	} else if got == nil {
		x.t.Error("a refused watch is no error")
	}
}

// gets passes an event through; the informer has taken it when it returns.
func (x *informed) gets(e watch.Event) {
	x.t.Helper()
	go x.fake.Action(e.Type, e.Object)
	select {
	case got := <-x.open.ResultChan():
		if got.Type != e.Type {
			x.t.Errorf("got %v, sent %v", got, e)
		}
	case <-time.After(10 * time.Second):
		x.t.Fatal("the event was not passed on")
	}
}

// ends closes the watch from the server's side.
func (x *informed) ends() {
	x.t.Helper()
	x.fake.Stop()
	if _, more := <-x.open.ResultChan(); more {
		x.t.Error("an event after the end")
	}
}

// behind wants the view to be so far behind now.
func (x *informed) behind(want time.Duration, why string) {
	x.t.Helper()
	until, err := x.asOf()
	if got := x.clock.Now().Sub(until); got != want {
		x.t.Errorf("%s behind, want %s", got, want)
	}
	if why == "" && err != nil || why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
		x.t.Errorf("last failure %v, want %q", err, why)
	}
}

var (
	aPod     = &corev1.Pod{}
	bookmark = watch.Event{Type: watch.Bookmark, Object: aPod}
	endMark  = watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}}
	gone     = watch.Event{Type: watch.Error, Object: &metav1.Status{Status: "Failure", Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old resource version"}}
	errCut   = errors.New("connection refused")
)

func TestAWatchThatWorksIsNow(t *testing.T) {
	x := informs(t)
	x.list("", "", nil)
	x.wait(time.Minute)
	x.behind(time.Minute, "")
	x.watches(false, nil)
	x.behind(time.Minute, "") // it may be ended at once
	x.wait(time.Second)
	x.behind(0, "") // a quiet kind
	x.wait(time.Hour)
	x.behind(0, "")
	x.ends()
	x.wait(time.Minute)
	x.behind(time.Minute, "its watch ended")
	x.watches(false, errCut)
	x.behind(time.Minute, "connection refused")
	x.watches(false, nil)
	x.gets(watch.Event{Type: watch.Modified, Object: aPod})
	x.behind(0, "")
	x.gets(gone)
	x.wait(time.Minute)
	x.behind(time.Minute, "the answer is 410")
}

// TestWatchesThatEndAtOnceAreNone: a proxy may open each and end it, with or
// without an error.
func TestWatchesThatEndAtOnceAreNone(t *testing.T) {
	x := informs(t)
	x.list("", "", nil)
	for range 5 {
		x.wait(20 * time.Second)
		x.watches(false, nil)
		x.wait(500 * time.Millisecond)
		x.ends()
		x.wait(20 * time.Second)
		x.watches(false, nil)
		x.gets(gone)
		x.ends()
		x.list("", "", errCut)
	}
	x.behind(5*40500*time.Millisecond, "connection refused")
	x.wait(time.Second)
	x.list("", "", nil)
	x.behind(0, "")
}

// TestOnlyAWholeListCounts, and for when its first page was asked for.
func TestOnlyAWholeListCounts(t *testing.T) {
	x := informs(t)
	x.list("", "", nil)
	x.wait(time.Minute)
	x.list("", "more", nil)
	x.behind(time.Minute, "")
	x.wait(time.Second)
	x.list("more", "", nil)
	x.behind(time.Second, "")
	x.wait(time.Minute)
	x.list("", "more", nil)
	x.list("more", "", errCut)
	x.behind(61*time.Second, "connection refused")
}

// TestAStreamedListCountsFromItsEnd, however many objects have come.
func TestAStreamedListCountsFromItsEnd(t *testing.T) {
	x := informs(t)
	x.list("", "", nil)
	x.wait(time.Minute)
	x.watches(true, nil)
	x.gets(watch.Event{Type: watch.Added, Object: aPod})
	x.wait(time.Minute)
	x.behind(2*time.Minute, "")
	x.gets(endMark)
	x.behind(0, "")
	x.wait(time.Hour) // that mark promises no others
	x.behind(0, "")
}

// TestAWatchThatFallsSilentIsBroken: where bookmarks came once a minute, their
// absence is the only sign of a connection that hangs.
func TestAWatchThatFallsSilentIsBroken(t *testing.T) {
	x := informs(t)
	x.list("", "", nil)
	x.watches(false, nil)
	x.gets(bookmark)
	x.wait(3 * time.Minute)
	x.behind(0, "")
	x.wait(time.Second)
	x.behind(181*time.Second, "nothing has come on its watch for 3m1s")
	x.ends()
	x.behind(181*time.Second, "its watch ended")
}

// TestStopDoesNotWaitForAReader: informers stop watches that nobody reads from.
func TestStopDoesNotWaitForAReader(t *testing.T) {
	x := informs(t)
	x.watches(false, nil)
	sent := make(chan struct{})
	go func() { x.fake.Modify(aPod); close(sent) }()
	<-sent        // the stream has it, and hands it to nobody
	x.open.Stop() // or its goroutine stays, and TestMain finds it
}
