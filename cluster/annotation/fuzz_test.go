package annotation

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// isReadable reports whether the reference documentation accepts the value. It does not use the
// package's own parser.
func isReadable(key, value string) bool {
	switch key {
	case Evict:
		return value == "never" || value == "prefer"
	case SafeToEvict, KarpenterNoEvict:
		return value == "true" || value == "false"
	case DoNotDisrupt, KarpenterNoDisrupt:
		d, err := time.ParseDuration(value)
		return value == "true" || value == "false" || err == nil && d > 0
	case AllowWindow:
		parts := strings.Split(value, ";")
		return len(parts) <= 20 && !slices.ContainsFunc(parts, func(p string) bool {
			_, err := cron.ParseWindow(strings.TrimSpace(p), time.UTC)
			return err != nil
		})
	case SpreadBy, MaxSkew, ZoneSLO:
		return true // not a protection
	}
	return !strings.HasPrefix(key, "evenkeel.io/")
}

// FuzzAnnotations adds a second annotation to an object that already has one. The second annotation
// must never remove the protection of the first. An unreadable request must protect the pod and be
// reported. Reading the same objects again must give the same result.
func FuzzAnnotations(f *testing.F) {
	for _, v := range []string{"never", "prefer", "true", "false", "4h", "-1h", "", "0 22 * * 1-5 6h Europe/Berlin",
		"@daily 1h; 0 8 * * * 9h", "@every 90m 1h"} {
		for i, key := range []string{Evict, DoNotDisrupt, AllowWindow, SafeToEvict, KarpenterNoDisrupt, KarpenterNoEvict,
			DeschedulerEvict, DeschedulerEvictionInProgress, Prefix + "x", MaxSkew} {
			f.Add(AllowWindow, "0 8 * * * 9h", uint8(i), key, v, uint8(i+1), uint32(7200))
			f.Add(key, v, uint8(2), key, "false", uint8(5), uint32(0))
		}
	}
	f.Fuzz(func(t *testing.T, key1, value1 string, place1 uint8, key2, value2 string, place2 uint8, seconds uint32) {
		one := request{int(place1) % placeCount, key1, value1, place1%2 == 0}
		two := request{int(place2) % placeCount, key2, value2, place2%2 == 0}
		if one.place == two.place && one.label == two.label && one.key == two.key {
			return // the second would replace the first
		}
		s, p := shopSnapshot(t, one, two)
		base, both := readRequests(t, one), *NewCache().OfPod(s, p, time.UTC)
		if again := *NewCache().OfPod(s, p, time.UTC); !reflect.DeepEqual(both, again) {
			t.Fatalf("read twice: %+v, %+v", both, again)
		}
		age := time.Duration(seconds) * time.Second
		for hour := range 24 {
			if now := mondayAt(hour).Add(age); base.isProtected(age, now) && !both.isProtected(age, now) {
				t.Fatalf("at %s, %+v protects a pod of age %s, but not with %+v added", now, one, age, two)
			}
		}
		if base.PreferEviction && !both.PreferEviction {
			t.Fatalf("%+v cancels %+v", two, one)
		}
		checkMeaning(t, both, two)
		checkProblems(t, s, both)
		checkNode(t, two)
	})
}

// checkMeaning compares the pod's requests with the reference documentation.
func checkMeaning(t *testing.T, r Pod, q request) {
	t.Helper()
	ours := strings.HasPrefix(q.key, Prefix)
	if q.place != placePod && !ours {
		return // foreign keys count only on pods
	}
	always := r.isProtected(100*365*24*time.Hour, mondayAt(12))
	switch {
	case q.key == Evict && q.value == "never" && len(r.NeverEvict) == 0,
		(q.key == DoNotDisrupt || q.key == KarpenterNoDisrupt || q.key == KarpenterNoEvict) && q.value == "true" && !always,
		q.key == SafeToEvict && q.value == "false" && !always:
		t.Fatalf("%+v protects nothing: %+v", q, r)
	}
	named := slices.ContainsFunc(r.Problems, func(p Problem) bool {
		return p.Key == q.key && p.Object == placeNames[q.place] && strings.Contains(p.String(), q.key) && p.Value == truncate(q.value)
	})
	if named == isReadable(q.key, q.value) {
		t.Fatalf("%+v: problem reported: %v, %+v", q, named, r.Problems)
	}
	for _, src := range protectionSources(r) {
		if len([]rune(src.Value)) > maxValueLength+3 {
			t.Fatalf("the message repeats %d characters of %s", len([]rune(src.Value)), src.Key)
		}
	}
}

// checkProblems checks that every unreadable request that protects the pod is in the problems
// of the snapshot. The problems must be sorted and unique.
func checkProblems(t *testing.T, s *cluster.Snapshot, r Pod) {
	t.Helper()
	all := NewCache().Problems(s, time.UTC)
	for _, p := range r.Problems {
		if !slices.ContainsFunc(all, func(q Problem) bool { return q.Key == p.Key && q.Value == p.Value && q.Want == p.Want }) {
			t.Fatalf("the problem %s is missing in %v", p, all)
		}
	}
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] || all[i].Object < all[i-1].Object {
			t.Fatalf("problems are repeated or out of order: %v", all)
		}
	}
	if len(all) > 4 {
		t.Fatalf("two requests gave %d problems: %v", len(all), all)
	}
}

// checkNode checks that a node is excluded unless it has no exclude value or the value "false".
func checkNode(t *testing.T, q request) {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	setKey(n, Exclude, q.value, q.label)
	r := OfNode(&cluster.Node{Name: "n1", Object: n})
	if excluded := len(r.Exclude) == 1; excluded == (q.value == "false") ||
		(len(r.Problems) == 0) != (q.value == "true" || q.value == "false") {
		t.Fatalf("exclude %q: %+v", q.value, r)
	}
}
