package annotation

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const holdsForever = time.Duration(0)

// TestOneRequest reads every key with each kind of value, on the pod, its owner and its
// namespace. Keys of other programs count only on pods.
func TestOneRequest(t *testing.T) {
	type want struct {
		never, prefer, preferNot, inProgress, problem bool
		hold                                          time.Duration // -1: none
		window                                        bool
	}
	none := want{hold: -1}
	with := func(f func(*want)) want { w := none; f(&w); return w }
	holds := func(d time.Duration) want { return with(func(w *want) { w.hold = d }) }
	problem := with(func(w *want) { w.problem = true })
	for _, c := range []struct {
		key, value string
		foreign    bool
		want       want
	}{
		{Evict, "never", false, with(func(w *want) { w.never = true })},
		{Evict, "prefer", false, with(func(w *want) { w.prefer = true })},
		{Evict, "", false, problem},
		{Evict, "Never", false, problem},
		{Evict, " never", false, problem},
		{Evict, "true", false, problem},
		{DoNotDisrupt, "true", false, holds(holdsForever)},
		{DoNotDisrupt, "false", false, none},
		{DoNotDisrupt, "4h", false, holds(4 * time.Hour)},
		{DoNotDisrupt, "1h30m", false, holds(90 * time.Minute)},
		{DoNotDisrupt, "1ns", false, holds(1)},
		{DoNotDisrupt, "0", false, problem},
		{DoNotDisrupt, "0s", false, problem},
		{DoNotDisrupt, "-4h", false, problem},
		{DoNotDisrupt, "4", false, problem},
		{DoNotDisrupt, "4d", false, problem},
		{DoNotDisrupt, "True", false, problem},
		{DoNotDisrupt, "", false, problem},
		{DoNotDisrupt, "999999999h", false, problem},
		{AllowWindow, "0 22 * * 1-5 6h Europe/Berlin", false, with(func(w *want) { w.window = true })},
		{AllowWindow, "@daily 1h; 0 12 * * * 1h", false, with(func(w *want) { w.window = true })},
		{AllowWindow, "", false, problem},
		{AllowWindow, "0 22 * * 1-5", false, problem},
		{AllowWindow, "0 22 * * 1-5 6h Mars/North", false, problem},
		{AllowWindow, "@daily 1h;", false, problem},
		{AllowWindow, "@daily 1h; nonsense", false, problem},
		{AllowWindow, "@daily 1h" + strings.Repeat("; @daily 1h", maxWindows-1), false, with(func(w *want) { w.window = true })},
		{AllowWindow, "@daily 1h" + strings.Repeat("; @daily 1h", maxWindows), false, problem},
		{Prefix + "evcit", "never", false, problem},
		{Prefix, "", false, problem},
		{Exclude, "true", false, problem}, // valid only on a node
		{"example.org/evict", "never", false, none},
		{"x" + Prefix + "evict", "never", false, none},
		// These keys request a spread and do not protect the pod.
		{SpreadBy, "not a key", false, none},
		{MaxSkew, "none", false, none},
		{ZoneSLO, "9", false, none},

		{SafeToEvict, "false", true, holds(holdsForever)},
		{SafeToEvict, "true", true, none},
		{SafeToEvict, "", true, problem},
		{SafeToEvict, "no", true, problem},
		{SafeToEvict, "4h", true, problem},
		{KarpenterNoDisrupt, "true", true, holds(holdsForever)},
		{KarpenterNoDisrupt, "4h", true, holds(4 * time.Hour)},
		{KarpenterNoDisrupt, "false", true, none},
		{KarpenterNoDisrupt, "yes", true, problem},
		{KarpenterNoEvict, "true", true, holds(holdsForever)},
		{KarpenterNoEvict, "false", true, none},
		{KarpenterNoEvict, "4h", true, problem},
		{DeschedulerEvict, "", true, with(func(w *want) { w.prefer = true })},
		{DeschedulerEvict, "false", true, with(func(w *want) { w.prefer = true })},
		{DeschedulerPreferNoEviction, "", true, with(func(w *want) { w.preferNot = true })},
		{DeschedulerEvictionInProgress, "x", true, with(func(w *want) { w.inProgress = true })},
	} {
		for place := range placeCount {
			for _, label := range [...]bool{false, true} {
				expected := c.want
				if c.foreign && place != placePod {
					expected = none
				}
				r := readRequests(t, request{place, c.key, c.value, label})
				got := want{len(r.NeverEvict) == 1, r.PreferEviction, len(r.PreferNoEviction) == 1, len(r.EvictionInProgress) == 1,
					len(r.Problems) == 1, -1, len(r.Windows) == 1}
				if len(r.Protections) == 1 {
					got.hold = r.Protections[0].For
				}
				if got != expected {
					t.Errorf("%s: %q on %s (label %v): %+v, want %+v", c.key, c.value, placeNames[place], label, got, expected)
				}
				for _, p := range r.Problems {
					if p.Object != placeNames[place] || p.Key != c.key || p.Want == "" || !strings.Contains(p.String(), c.key) {
						t.Errorf("%s: %q on %s: unexpected problem %s", c.key, c.value, placeNames[place], p)
					}
				}
			}
		}
	}
}

func TestTheStrictestWins(t *testing.T) {
	const day, night = "0 8 * * * 10h", "0 20 * * * 10h"
	for _, c := range []struct {
		name     string
		requests []request
		age      time.Duration
		now      time.Time
		stays    bool
		prefer   bool
	}{
		{"no request", nil, 0, mondayAt(12), false, false},
		{"never above prefer", []request{{placePod, Evict, "prefer", false}, {placeNamespace, Evict, "never", false}}, 0, mondayAt(12),
			true, true},
		{"never below prefer", []request{{placePod, Evict, "never", false}, {placeStatefulSet, Evict, "prefer", false}}, 0,
			mondayAt(12), true, true},
		{"a label is stricter than the annotation", []request{{placePod, Evict, "prefer", false}, {placePod, Evict, "never", true}}, 0,
			mondayAt(12), true, true},
		{"an annotation is stricter than the label", []request{{placePod, Evict, "never", false}, {placePod, Evict, "prefer", true}}, 0,
			mondayAt(12), true, true},
		{"the descheduler's evict does not bypass never", []request{{placePod, DeschedulerEvict, "true", false},
			{placeNamespace, Evict, "never", false}}, 0, mondayAt(12), true, true},
		{"prefer alone", []request{{placeStatefulSet, Evict, "prefer", false}}, 0, mondayAt(12), false, true},
		{"the longer time counts", []request{{placePod, DoNotDisrupt, "1h", false}, {placeStatefulSet, DoNotDisrupt, "4h", false}},
			2 * time.Hour, mondayAt(12), true, false},
		{"both times have passed", []request{{placePod, DoNotDisrupt, "1h", false}, {placeStatefulSet, DoNotDisrupt, "4h", false}},
			4 * time.Hour, mondayAt(12), false, false},
		{"always is longer than any time", []request{{placePod, DoNotDisrupt, "1h", false},
			{placeNamespace, DoNotDisrupt, "true", false}}, 1000 * time.Hour, mondayAt(12), true, false},
		{"false does not cancel a protection", []request{{placePod, DoNotDisrupt, "false", false}, {placeNamespace, DoNotDisrupt, "true", false}},
			1000 * time.Hour, mondayAt(12), true, false},
		{"safe-to-evict does not cancel a protection", []request{{placePod, SafeToEvict, "true", false},
			{placePod, KarpenterNoDisrupt, "true", false}}, 1000 * time.Hour, mondayAt(12), true, false},
		{"one window open", []request{{placePod, AllowWindow, day, false}}, 0, mondayAt(12), false, false},
		{"one window closed", []request{{placePod, AllowWindow, day, false}}, 0, mondayAt(19), true, false},
		{"of several in one request one is enough", []request{{placePod, AllowWindow, day + "; " + night, false}}, 0, mondayAt(12), false, false},
		{"several windows must all be open", []request{{placePod, AllowWindow, day, false},
			{placeNamespace, AllowWindow, night, false}}, 0, mondayAt(12), true, false},
		{"windows that do not overlap", []request{{placePod, AllowWindow, day, false}, {placeNamespace, AllowWindow, night, false}}, 0,
			mondayAt(22), true, false},
		{"an unreadable request besides a readable one", []request{{placePod, DoNotDisrupt, "false", false},
			{placePod, DoNotDisrupt, "perhaps", true}}, 0, mondayAt(12), true, false},
	} {
		r := readRequests(t, c.requests...)
		if got := r.isProtected(c.age, c.now); got != c.stays || r.PreferEviction != c.prefer {
			t.Errorf("%s: protected %v, preferred %v, want %v, %v: %+v", c.name, got, r.PreferEviction, c.stays, c.prefer, r)
		}
	}
}

func TestTheSameWordTwiceIsOneRequest(t *testing.T) {
	if r := readRequests(t, request{placePod, Evict, "never", false}, request{placePod, Evict, "never", true}); len(r.NeverEvict) != 1 {
		t.Errorf("%v", r.NeverEvict)
	}
}

func TestWindowsWithoutAZoneAreInThatOfTheConfig(t *testing.T) {
	berlin := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	for _, c := range []struct {
		value string
		loc   *time.Location
		open  bool
	}{
		{"0 12 * * * 1h", nil, true},
		{"0 12 * * * 1h", time.UTC, true},
		{"0 12 * * * 1h", berlin, false},
		{"0 13 * * * 1h", berlin, true},
		{"0 13 * * * 1h Etc/UTC", berlin, false},
	} {
		s, p := shopSnapshot(t, request{placePod, AllowWindow, c.value, false})
		r := NewCache().OfPod(s, p, c.loc)
		if len(r.Windows) != 1 || r.isProtected(0, mondayAt(12)) == c.open || len(NewCache().Problems(s, c.loc)) != 0 {
			t.Errorf("%s in %s: %+v, problems %v", c.value, c.loc, r, NewCache().Problems(s, c.loc))
		}
	}
}

// TestOwners checks that requests on all owners between the pod and its workload are read. The
// exception is a ReplicaSet of a Deployment, which may carry outdated copies of the
// Deployment's annotations.
func TestOwners(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: objectMeta("deploy", "web", nil, "")}
	set := &appsv1.ReplicaSet{ObjectMeta: objectMeta("rs", "web-1", deployment, "Deployment")}
	pod := &corev1.Pod{ObjectMeta: objectMeta("pod", "web-1-a", set, "ReplicaSet")}
	setKey(set, Evict, "never", false)
	setKey(set, Prefix+"typo", "x", false)
	s, p := newSnapshot(t, &cluster.Objects{Deployments: []*appsv1.Deployment{deployment}, ReplicaSets: []*appsv1.ReplicaSet{set},
		Pods: []*corev1.Pod{pod}})
	if r := NewCache().OfPod(s, p, nil); r.isProtected(0, mondayAt(12)) || len(NewCache().Problems(s, nil)) != 0 {
		t.Errorf("the copy on a ReplicaSet was read: %+v, %v", r, NewCache().Problems(s, nil))
	}
	setKey(deployment, Evict, "never", false)
	s, p = newSnapshot(t, &cluster.Objects{Deployments: []*appsv1.Deployment{deployment}, ReplicaSets: []*appsv1.ReplicaSet{set},
		Pods: []*corev1.Pod{pod}})
	if r := NewCache().OfPod(s, p, nil); len(r.NeverEvict) != 1 || r.NeverEvict[0].String() != `evenkeel.io/evict: "never" on Deployment shop/web` {
		t.Errorf("%+v", r)
	}
	alone := &appsv1.ReplicaSet{ObjectMeta: objectMeta("rs", "web-1", nil, "")}
	setKey(alone, Evict, "never", false)
	s, p = newSnapshot(t, &cluster.Objects{ReplicaSets: []*appsv1.ReplicaSet{alone}, Pods: []*corev1.Pod{pod}})
	if r := NewCache().OfPod(s, p, nil); len(r.NeverEvict) != 1 || r.NeverEvict[0].Object != "ReplicaSet shop/web-1" {
		t.Errorf("a ReplicaSet without a Deployment: %+v", r)
	}
}

func TestOwnersOfAJob(t *testing.T) {
	cron := &batchv1.CronJob{ObjectMeta: objectMeta("cron", "report", nil, "")}
	job := &batchv1.Job{ObjectMeta: objectMeta("job", "report-1", cron, "CronJob")}
	job.OwnerReferences[0].APIVersion = "batch/v1"
	pod := &corev1.Pod{ObjectMeta: objectMeta("pod", "report-1-a", job, "Job")}
	pod.OwnerReferences[0].APIVersion = "batch/v1"
	setKey(cron, DoNotDisrupt, "true", false)
	setKey(job, Evict, "never", false)
	s, p := newSnapshot(t, &cluster.Objects{CronJobs: []*batchv1.CronJob{cron}, Jobs: []*batchv1.Job{job}, Pods: []*corev1.Pod{pod}})
	r := NewCache().OfPod(s, p, nil)
	if len(r.Protections) != 1 || r.Protections[0].Object != "CronJob shop/report" || len(r.NeverEvict) != 1 ||
		r.NeverEvict[0].Object != "Job shop/report-1" {
		t.Errorf("%+v", r)
	}
}

func TestOwnersAreNamed(t *testing.T) {
	for want, o := range map[string]metav1.Object{
		"DaemonSet shop/x":             &appsv1.DaemonSet{ObjectMeta: objectMeta("", "x", nil, "")},
		"ReplicationController shop/x": &corev1.ReplicationController{ObjectMeta: objectMeta("", "x", nil, "")},
	} {
		if got := ownerName(o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMessagesTruncateValues checks that messages repeat only the start of a long value. An
// annotation may be 256 KiB long.
func TestMessagesTruncateValues(t *testing.T) {
	long := strings.Repeat("ä", 300)
	for _, q := range []request{
		{placePod, Evict, long, false}, {placePod, DoNotDisrupt, long, false}, {placePod, DoNotDisrupt, strings.Repeat("0", 300) + "4h", false},
		{placePod, AllowWindow, long, false}, {placePod, AllowWindow, strings.Repeat("0,", 300) + "0 * * * * 1h", false},
		{placePod, Prefix + "x", long, false}, {placePod, DeschedulerPreferNoEviction, long, false},
		{placePod, DeschedulerEvictionInProgress, long, false}, {placePod, SafeToEvict, long, false},
	} {
		r := readRequests(t, q)
		found := 0
		for _, src := range protectionSources(r) {
			found++
			if n := len([]rune(src.Value)); n != maxValueLength+3 || !strings.HasSuffix(src.Value, "...") {
				t.Errorf("%s: the message repeats %d characters", q.key, n)
			}
		}
		if found != 1 {
			t.Errorf("%s: %d requests, want 1", q.key, found)
		}
	}
}

// protectionSources returns the sources of all requests in a Pod.
func protectionSources(r Pod) []Source {
	out := append(append(append([]Source{}, r.NeverEvict...), r.PreferNoEviction...), r.EvictionInProgress...)
	for _, h := range r.Protections {
		out = append(out, h.Source)
	}
	for _, w := range r.Windows {
		out = append(out, w.Source)
	}
	for _, p := range r.Problems {
		out = append(out, p.Source)
	}
	return out
}
