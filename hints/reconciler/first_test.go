package reconciler_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// ReconcileFirst returns when the watch shows its writes. A following Run repeats no log line and no write.
func TestThePassSeesWhatFirstWrote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"))
		w.Clock, w.hot = clock.RealClock{}, map[string]float64{"n1": 0.9}
		w.clock.SetTime(time.Now())
		begun, before := time.Now(), w.nodes()
		w.Nodes = func() []*corev1.Node { // the watch is a second behind
			if time.Since(begun) < time.Second {
				return before
			}
			return w.nodes()
		}
		must.Succeed(t, w.ReconcileFirst(t.Context()))
		if took := time.Since(begun); took < time.Second || took > 1100*time.Millisecond || len(w.taints("n1")) != 1 {
			t.Errorf("after %v got taints %v on n1", took, w.taints("n1"))
		}
		said := w.log.Len()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.Run(ctx, nil) }()
		synctest.Wait()
		if w.counts.ByRule["cpu"] != 1 {
			t.Errorf("counts %+v", w.counts)
		}
		cancel()
		<-ended
		if len(w.counts.ByRule) != 0 {
			t.Errorf("got counts %+v after this process stopped leading", w.counts)
		}
		if len(w.requests) != 1 || w.log.Len() != said {
			t.Errorf("got requests %v and further log lines %s", w.requests, w.log.String()[said:])
		}
	})
}

// ReconcileFirst does not wait forever for an interrupted watch, and not at all for a failed write.
func TestFirstDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, refuse := range []error{nil, errors.New("etcd is down")} {
			w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"))
			w.Clock, w.hot, w.rejectWrite = clock.RealClock{}, map[string]float64{"n1": 0.9}, refuse
			w.clock.SetTime(time.Now())
			begun, before := time.Now(), w.nodes()
			w.Nodes = func() []*corev1.Node { return before }
			err := w.ReconcileFirst(t.Context())
			took := time.Since(begun)
			if refuse == nil && (err != nil || took != 5*time.Second) {
				t.Errorf("waited %v: %v", took, err)
			}
			if refuse != nil && (err == nil || !strings.Contains(err.Error(), "could not be written to 1 of 1 nodes") || took >= 5*time.Second) {
				t.Errorf("failed write: waited %v, error %v", took, err)
			}
		}
	})
}
