package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// evictionsEvery returns n evictions at equal time intervals.
func evictionsEvery(prefix string, n int, from, apart time.Duration) (out []accepted) {
	for i := range n {
		out = append(out, accepted{fmt.Sprint(prefix, i), t0.Add(from + time.Duration(i)*apart)})
	}
	return out
}

// TestRatesOfWaves computes the rates of a wave of 101 evictions 10 ms apart, half a minute of verification, a wave of
// 65 evictions 25 ms apart, and a third wave that is too small to count.
func TestRatesOfWaves(t *testing.T) {
	all := slices.Concat(evictionsEvery("a", 101, 0, 10*time.Millisecond), evictionsEvery("b", 65, 31*time.Second, 25*time.Millisecond),
		evictionsEvery("c", 3, 59*time.Second, time.Second))
	waves := map[string]int{}
	for _, e := range all {
		waves[e.pod] = int(e.pod[0]-'a') + 1
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	r := Result{Seconds: 100}
	// Wave 1 makes 101 replacements in 4 s, wave 2 makes 65 in 16 s; wave 3 is too small to count.
	bound := slices.Concat(evictionsEvery("x", 101, time.Second, 40*time.Millisecond), evictionsEvery("y", 65, 32*time.Second, 250*time.Millisecond),
		evictionsEvery("z", 3, 60*time.Second, time.Second))
	r.computeRates(all, bound, waves)
	if len(r.Waves) != 3 || r.Waves[0].PerSecond != 100 || r.Waves[1].PerSecond != 40 || r.Waves[2].Evictions != 3 {
		t.Errorf("%+v", r.Waves)
	}
	if want := 164 / 2.6; fmt.Sprintf("%.6f", r.PerSecond) != fmt.Sprintf("%.6f", want) {
		t.Errorf("%g evictions per second in waves, want %g", r.PerSecond, want)
	}
	if r.PassRate != 1.69 || r.OverallRate != 168.0/61 {
		t.Errorf("%g evictions per second over the whole pass, %g from first to last eviction", r.PassRate, r.OverallRate)
	}
	if r.ReplacementRate != 8.2 {
		t.Errorf("%g replacements per second in waves, want 8.2", r.ReplacementRate)
	}
	r = Result{}
	r.computeRates(all, bound, nil)
	if r.PerSecond != 168.0/61 || r.Waves != nil || r.ReplacementRate != 168.0/61 {
		t.Errorf("without waves: %+v", r)
	}
}

func TestOnlyAcceptedEvictionsCount(t *testing.T) {
	event := func(verb, sub string, code int32) auditv1.Event {
		return auditv1.Event{Verb: verb, ObjectRef: &auditv1.ObjectReference{Namespace: "ns0", Name: "p", Subresource: sub},
			ResponseStatus: &metav1.Status{Code: code}}
	}
	got := acceptedRequests([]auditv1.Event{event("create", "eviction", 201), event("create", "eviction", 429),
		event("get", "", 200), event("create", "binding", 201), {Verb: "create"}}, "eviction")
	if len(got) != 1 || got[0].pod != "ns0/p" {
		t.Errorf("%+v", got)
	}
}
