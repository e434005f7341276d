package controller_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// toldDeschedulers records what a DeschedulerFollower tells.
type toldDeschedulers struct{ events, labels, metric []string }

func describe(all []plan.OtherDescheduler) string { return fmt.Sprint(all) }

func (r *toldDeschedulers) OtherDeschedulersChanged(before, after []plan.OtherDescheduler) {
	r.events = append(r.events, describe(before)+" -> "+describe(after))
}

func (r *toldDeschedulers) RecordOtherDeschedulers(n int) { r.metric = append(r.metric, fmt.Sprint(n)) }

func newDeschedulerFollower() (*controller.DeschedulerFollower, *toldDeschedulers, *bytes.Buffer) {
	told, log := &toldDeschedulers{}, &bytes.Buffer{}
	return &controller.DeschedulerFollower{Events: told, Recorder: told, Log: slog.New(slog.NewTextHandler(log, nil)),
		Announce: func(all []plan.OtherDescheduler) { told.labels = append(told.labels, describe(all)) }}, told, log
}

// observerFunc is an Observer.
type observerFunc func() (*cluster.Snapshot, error)

func (f observerFunc) Snapshot(context.Context) (*cluster.Snapshot, error) { return f() }

func snapshotWith(t *testing.T, cronJob, deployment bool) *cluster.Snapshot {
	t.Helper()
	o := &cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}}
	runs := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.k8s.io/descheduler/descheduler:v0.36.0"}}}
	if cronJob {
		c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "night"}}
		c.Spec.JobTemplate.Spec.Template.Spec = runs
		o.CronJobs = append(o.CronJobs, c)
	}
	if deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "day"}}
		d.Spec.Template.Spec = runs
		o.Deployments = append(o.Deployments, d)
	}
	return must.Get(cluster.New(o))(t)
}

// Each change is told once, and all of it again when evictions are switched on again. The label and the metric follow
// every snapshot, because another leader may have set them.
func TestOtherDeschedulersAreToldOnceForEachChange(t *testing.T) {
	f, told, log := newDeschedulerFollower()
	f.Begin(t.Context(), observerFunc(func() (*cluster.Snapshot, error) { return nil, errors.New("not yet") }))
	f.Check(snapshotWith(t, false, false))
	f.Check(snapshotWith(t, true, false))
	f.Check(snapshotWith(t, true, false))
	f.Check(snapshotWith(t, true, true))
	f.Begin(t.Context(), observerFunc(func() (*cluster.Snapshot, error) { return snapshotWith(t, true, true), nil }))
	f.Check(snapshotWith(t, false, false))
	const night, both = "[descheduler (CronJob kube-system/night)]", "[descheduler (CronJob kube-system/night) descheduler (Deployment ops/day)]"
	if got, want := strings.Join(told.events, "\n"), "[] -> "+night+"\n"+night+" -> "+both+"\n[] -> "+both+"\n"+both+" -> []"; got != want {
		t.Errorf("events:\n%s\nwant\n%s", got, want)
	}
	if got := strings.Join(told.metric, " "); got != "0 1 1 2 2 0" || len(told.labels) != 6 || told.labels[2] != night {
		t.Errorf("metric %s, labels %v", got, told.labels)
	}
	for text, n := range map[string]int{"level=WARN msg=\"Another descheduler runs: descheduler (CronJob kube-system/night). If both evict,": 1,
		"level=WARN msg=\"Other deschedulers run: descheduler (CronJob kube-system/night), descheduler (Deployment ops/day).": 2,
		"no other descheduler runs any more": 1} {
		if got := strings.Count(log.String(), text); got != n {
			t.Errorf("the log has %q %d times, want %d:\n%s", text, got, n, log)
		}
	}
}

// A controller that begins to evict tells about other deschedulers at once, although its first pass is an hour away. A
// dry run tells nothing.
func TestOtherDeschedulersAreToldBeforeTheFirstPass(t *testing.T) {
	for mode, want := range map[plan.Mode]int{plan.Live: 1, plan.DryRun: 0} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := newController(t, evictor.DryRun{}, mode)
			f, told, _ := newDeschedulerFollower()
			c.Observer = observerFunc(func() (*cluster.Snapshot, error) { return snapshotWith(t, true, false), nil })
			if mode == plan.Live {
				c.OtherDeschedulers = f
			}
			c.Strategies = nil
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c.Run(ctx)
			if len(told.events) != want {
				t.Errorf("mode %s: %v", mode, told.events)
			}
		})
	}
}

// Every pass looks again.
func TestPassesTellAboutOtherDeschedulers(t *testing.T) {
	c, _ := newController(t, &scriptedEvictor{}, plan.Live)
	f, told, _ := newDeschedulerFollower()
	c.OtherDeschedulers, c.Strategies = f, nil
	c.Observer = observerFunc(func() (*cluster.Snapshot, error) { return snapshotWith(t, false, true), nil })
	if _, err := c.RunOnce(t.Context(), nil); err != nil || len(told.events) != 1 {
		t.Errorf("%v, %v", told.events, err)
	}
}
