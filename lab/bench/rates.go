package main

import (
	"net/http"
	"slices"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// minWaveEvictions is the smallest size of a wave that counts for the rate.
const minWaveEvictions = 64

// Result is the eviction rate of one program.
type Result struct {
	Program           string  `json:"program"`
	ControllerManager string  `json:"controllerManager"`
	Evictions         int     `json:"evictions"`
	PerSecond         float64 `json:"evictionsPerSecond"`
	// OverallRate is the rate from the first to the last eviction, including verification between waves. PassRate is
	// the rate over the whole pass, which also includes the time before and after the evictions.
	OverallRate float64 `json:"evictionsPerSecondOverall"`
	PassRate    float64 `json:"evictionsPerSecondOfThePass"`
	Seconds     float64 `json:"seconds"`
	Waves       []Wave  `json:"waves,omitempty"`
	// Error describes how the program failed; empty if it did not.
	Error      string `json:"error,omitempty"`
	LoadBefore string `json:"loadAverageBefore"`
	LoadAfter  string `json:"loadAverageAfter"`
}

// Wave holds the rate of one wave, from its first to its last accepted eviction.
type Wave struct {
	Number    int     `json:"number"`
	Evictions int     `json:"evictions"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"evictionsPerSecond"`
}

// computeRates computes all rates; a sequence of n evictions has n-1 gaps. With waves, PerSecond is the number of gaps
// in all waves of at least minWaveEvictions evictions, divided by their time. Without waves, PerSecond equals
// OverallRate.
func (r *Result) computeRates(all []eviction, waveOf map[string]int) {
	r.Evictions = len(all)
	r.OverallRate = perSecond(countGaps(all))
	if r.Seconds > 0 {
		r.PassRate = float64(len(all)) / r.Seconds
	}
	byWave := map[int][]eviction{}
	for _, e := range all {
		if w := waveOf[e.pod]; w > 0 {
			byWave[w] = append(byWave[w], e)
		}
	}
	if len(byWave) == 0 {
		r.PerSecond = r.OverallRate
		return
	}
	var n int
	var took time.Duration
	for number, in := range byWave {
		k, d := countGaps(in)
		if len(in) >= minWaveEvictions {
			n, took = n+k, took+d
		}
		r.Waves = append(r.Waves, Wave{number, len(in), d.Seconds(), perSecond(k, d)})
	}
	slices.SortFunc(r.Waves, func(a, b Wave) int { return a.Number - b.Number })
	r.PerSecond = perSecond(n, took)
}

func countGaps(in []eviction) (int, time.Duration) {
	if len(in) == 0 {
		return 0, 0
	}
	by := func(a, b eviction) int { return a.answered.Compare(b.answered) }
	return len(in) - 1, slices.MaxFunc(in, by).answered.Sub(slices.MinFunc(in, by).answered)
}

func perSecond(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// eviction is an eviction that the API server accepted.
type eviction struct {
	pod      string // namespace/name
	answered time.Time
}

func acceptedEvictions(events []auditv1.Event) (out []eviction) {
	for _, e := range events {
		if e.Verb == "create" && e.ObjectRef != nil && e.ObjectRef.Subresource == "eviction" &&
			e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusCreated {
			out = append(out, eviction{e.ObjectRef.Namespace + "/" + e.ObjectRef.Name, e.StageTimestamp.Time})
		}
	}
	return out
}
