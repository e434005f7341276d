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
)

const forGood = time.Duration(0)

// TestOneRequest reads every key with every kind of value, on the pod, its owner
// and its namespace. Foreign keys count on pods alone.
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
		{DoNotDisrupt, "true", false, holds(forGood)},
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
		{Exclude, "true", false, problem}, // on a node only
		{"example.org/evict", "never", false, none},
		{"x" + Prefix + "evict", "never", false, none},
		// They speak of the spread, and keep nobody.
		{SpreadBy, "not a key", false, none},
		{MaxSkew, "none", false, none},
		{ZoneSLO, "9", false, none},

		{SafeToEvict, "false", true, holds(forGood)},
		{SafeToEvict, "true", true, none},
		{SafeToEvict, "", true, problem},
		{SafeToEvict, "no", true, problem},
		{SafeToEvict, "4h", true, problem},
		{KarpenterNoDisrupt, "true", true, holds(forGood)},
		{KarpenterNoDisrupt, "4h", true, holds(4 * time.Hour)},
		{KarpenterNoDisrupt, "false", true, none},
		{KarpenterNoDisrupt, "yes", true, problem},
		{KarpenterNoEvict, "true", true, holds(forGood)},
		{KarpenterNoEvict, "false", true, none},
		{KarpenterNoEvict, "4h", true, problem},
		{PeerEvict, "", true, with(func(w *want) { w.prefer = true })},
		{PeerEvict, "false", true, with(func(w *want) { w.prefer = true })},
		{PeerPreferNot, "", true, with(func(w *want) { w.preferNot = true })},
		{PeerInProgress, "x", true, with(func(w *want) { w.inProgress = true })},
	} {
		for place := range places {
			for _, label := range [...]bool{false, true} {
				expected := c.want
				if c.foreign && place != onPod {
					expected = none
				}
				r := ask(t, request{place, c.key, c.value, label})
				got := want{len(r.Never) == 1, r.Prefer, len(r.PreferNot) == 1, len(r.InProgress) == 1, len(r.Problems) == 1, -1, len(r.Windows) == 1}
				if len(r.Holds) == 1 {
					got.hold = r.Holds[0].For
				}
				if got != expected {
					t.Errorf("%s: %q on %s (label %v): %+v, want %+v", c.key, c.value, placeNames[place], label, got, expected)
				}
				for _, p := range r.Problems {
					if p.Object != placeNames[place] || p.Key != c.key || p.Want == "" || !strings.Contains(p.String(), c.key) {
						t.Errorf("%s: %q on %s: the problem is %s", c.key, c.value, placeNames[place], p)
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
		{"nobody asks", nil, 0, monday(12), false, false},
		{"never above prefer", []request{{onPod, Evict, "prefer", false}, {onNamespace, Evict, "never", false}}, 0, monday(12), true, true},
		{"never below prefer", []request{{onPod, Evict, "never", false}, {onStatefulSet, Evict, "prefer", false}}, 0, monday(12), true, true},
		{"a label is stricter than the annotation", []request{{onPod, Evict, "prefer", false}, {onPod, Evict, "never", true}}, 0, monday(12), true, true},
		{"an annotation is stricter than the label", []request{{onPod, Evict, "never", false}, {onPod, Evict, "prefer", true}}, 0, monday(12), true, true},
		{"their evict does not bypass never", []request{{onPod, PeerEvict, "true", false}, {onNamespace, Evict, "never", false}}, 0, monday(12), true, true},
		{"prefer alone", []request{{onStatefulSet, Evict, "prefer", false}}, 0, monday(12), false, true},
		{"the longer time counts", []request{{onPod, DoNotDisrupt, "1h", false}, {onStatefulSet, DoNotDisrupt, "4h", false}}, 2 * time.Hour, monday(12), true, false},
		{"both times are over", []request{{onPod, DoNotDisrupt, "1h", false}, {onStatefulSet, DoNotDisrupt, "4h", false}}, 4 * time.Hour, monday(12), false, false},
		{"for good is longer than any time", []request{{onPod, DoNotDisrupt, "1h", false}, {onNamespace, DoNotDisrupt, "true", false}}, 1000 * time.Hour, monday(12), true, false},
		{"false takes nothing back", []request{{onPod, DoNotDisrupt, "false", false}, {onNamespace, DoNotDisrupt, "true", false}}, 1000 * time.Hour, monday(12), true, false},
		{"safe to evict takes nothing back", []request{{onPod, SafeToEvict, "true", false}, {onPod, KarpenterNoDisrupt, "true", false}}, 1000 * time.Hour, monday(12), true, false},
		{"one window open", []request{{onPod, AllowWindow, day, false}}, 0, monday(12), false, false},
		{"one window closed", []request{{onPod, AllowWindow, day, false}}, 0, monday(19), true, false},
		{"of several in one request one is enough", []request{{onPod, AllowWindow, day + "; " + night, false}}, 0, monday(12), false, false},
		{"of several requests all must be open", []request{{onPod, AllowWindow, day, false}, {onNamespace, AllowWindow, night, false}}, 0, monday(12), true, false},
		{"they overlap nowhere", []request{{onPod, AllowWindow, day, false}, {onNamespace, AllowWindow, night, false}}, 0, monday(22), true, false},
		{"an unreadable one beside a readable", []request{{onPod, DoNotDisrupt, "false", false}, {onPod, DoNotDisrupt, "perhaps", true}}, 0, monday(12), true, false},
	} {
		r := ask(t, c.requests...)
		if got := r.stays(c.age, c.now); got != c.stays || r.Prefer != c.prefer {
			t.Errorf("%s: stays %v, prefer %v, want %v, %v: %+v", c.name, got, r.Prefer, c.stays, c.prefer, r)
		}
	}
}

func TestTheSameWordTwiceIsOneRequest(t *testing.T) {
	if r := ask(t, request{onPod, Evict, "never", false}, request{onPod, Evict, "never", true}); len(r.Never) != 1 {
		t.Errorf("%v", r.Never)
	}
}

func TestWindowsWithoutAZoneAreInThatOfTheConfig(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
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
		s, p := shop(t, request{onPod, AllowWindow, c.value, false})
		r := OfPod(s, p, c.loc)
		if len(r.Windows) != 1 || r.stays(0, monday(12)) == c.open || len(Problems(s, c.loc)) != 0 {
			t.Errorf("%s in %s: %+v, problems %v", c.value, c.loc, r, Problems(s, c.loc))
		}
	}
}

// TestOwners: what stands between the pod and its workload is read, with one
// exception: a ReplicaSet carries copies of what was once asked on its Deployment.
func TestOwners(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: meta("deploy", "web", nil, "")}
	set := &appsv1.ReplicaSet{ObjectMeta: meta("rs", "web-1", deployment, "Deployment")}
	pod := &corev1.Pod{ObjectMeta: meta("pod", "web-1-a", set, "ReplicaSet")}
	put(set, Evict, "never", false)
	put(set, Prefix+"typo", "x", false)
	s, p := snapshot(t, &cluster.Objects{Deployments: []*appsv1.Deployment{deployment}, ReplicaSets: []*appsv1.ReplicaSet{set}, Pods: []*corev1.Pod{pod}})
	if r := OfPod(s, p, nil); r.stays(0, monday(12)) || len(Problems(s, nil)) != 0 {
		t.Errorf("the copy on a ReplicaSet counts: %+v, %v", r, Problems(s, nil))
	}
	put(deployment, Evict, "never", false)
	s, p = snapshot(t, &cluster.Objects{Deployments: []*appsv1.Deployment{deployment}, ReplicaSets: []*appsv1.ReplicaSet{set}, Pods: []*corev1.Pod{pod}})
	if r := OfPod(s, p, nil); len(r.Never) != 1 || r.Never[0].String() != `evenkeel.io/evict: "never" on Deployment shop/web` {
		t.Errorf("%+v", r)
	}
	alone := &appsv1.ReplicaSet{ObjectMeta: meta("rs", "web-1", nil, "")}
	put(alone, Evict, "never", false)
	s, p = snapshot(t, &cluster.Objects{ReplicaSets: []*appsv1.ReplicaSet{alone}, Pods: []*corev1.Pod{pod}})
	if r := OfPod(s, p, nil); len(r.Never) != 1 || r.Never[0].Object != "ReplicaSet shop/web-1" {
		t.Errorf("a ReplicaSet of its own: %+v", r)
	}
}

func TestOwnersOfAJob(t *testing.T) {
	cron := &batchv1.CronJob{ObjectMeta: meta("cron", "report", nil, "")}
	job := &batchv1.Job{ObjectMeta: meta("job", "report-1", cron, "CronJob")}
	job.OwnerReferences[0].APIVersion = "batch/v1"
	pod := &corev1.Pod{ObjectMeta: meta("pod", "report-1-a", job, "Job")}
	pod.OwnerReferences[0].APIVersion = "batch/v1"
	put(cron, DoNotDisrupt, "true", false)
	put(job, Evict, "never", false)
	s, p := snapshot(t, &cluster.Objects{CronJobs: []*batchv1.CronJob{cron}, Jobs: []*batchv1.Job{job}, Pods: []*corev1.Pod{pod}})
	r := OfPod(s, p, nil)
	if len(r.Holds) != 1 || r.Holds[0].Object != "CronJob shop/report" || len(r.Never) != 1 || r.Never[0].Object != "Job shop/report-1" {
		t.Errorf("%+v", r)
	}
}

func TestOwnersAreNamed(t *testing.T) {
	for want, o := range map[string]metav1.Object{
		"DaemonSet shop/x":             &appsv1.DaemonSet{ObjectMeta: meta("", "x", nil, "")},
		"ReplicationController shop/x": &corev1.ReplicationController{ObjectMeta: meta("", "x", nil, "")},
		"owner shop/x":                 &metav1.PartialObjectMetadata{ObjectMeta: meta("", "x", nil, "")},
	} {
		if got := ownerName(o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNothingLongIsRepeated: an annotation may be 256 KiB, a message may not.
func TestNothingLongIsRepeated(t *testing.T) {
	long := strings.Repeat("ä", 300)
	for _, q := range []request{
		{onPod, Evict, long, false}, {onPod, DoNotDisrupt, long, false}, {onPod, DoNotDisrupt, strings.Repeat("0", 300) + "4h", false},
		{onPod, AllowWindow, long, false}, {onPod, AllowWindow, strings.Repeat("0,", 300) + "0 * * * * 1h", false},
		{onPod, Prefix + "x", long, false}, {onPod, PeerPreferNot, long, false}, {onPod, PeerInProgress, long, false}, {onPod, SafeToEvict, long, false},
	} {
		r := ask(t, q)
		found := 0
		for _, src := range sources(r) {
			found++
			if n := len([]rune(src.Value)); n != maxValue+3 || !strings.HasSuffix(src.Value, "...") {
				t.Errorf("%s: %d characters are repeated", q.key, n)
			}
		}
		if found != 1 {
			t.Errorf("%s: %d requests, want 1", q.key, found)
		}
	}
}

// sources are all requests that a Pod names.
func sources(r Pod) []Source {
	out := append(append(append([]Source{}, r.Never...), r.PreferNot...), r.InProgress...)
	for _, h := range r.Holds {
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
