package annotation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// Hold is a request not to disrupt a pod.
type Hold struct {
	Source
	// For is how long after the pod's start it holds; 0 means always.
	For time.Duration
}

// Window is a request to evict only while a window is open.
type Window struct {
	Source
	// Any of these may be open.
	Windows cron.Windows
}

// Pod is what is asked for one pod. Requests of different objects add up: the
// strictest decides.
type Pod struct {
	// Never: it stays.
	Never []Source
	// Holds keep it for a time, or for good.
	Holds []Hold
	// Windows must all be open.
	Windows []Window
	// Prefer: among pods that could help, it goes first.
	Prefer bool
	// PreferNot: it goes last, or not at all, as the config says.
	PreferNot []Source
	// InProgress: somebody else is moving it.
	InProgress []Source
	// Problems could have been meant to protect it.
	Problems []Problem
}

const (
	wantEvict  = "never or prefer"
	wantWord   = "true or false"
	wantHold   = "true, false, or how long from the pod's start, such as 4h"
	wantWindow = "cron fields, a duration and perhaps a time zone, such as \"0 22 * * 1-5 6h Europe/Berlin\"; several with ; between"
)

// OfPod collects what is asked for a pod. Windows without a time zone are in loc.
func OfPod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) Pod {
	return (*Memory)(nil).OfPod(s, p, loc)
}

// OfPod is the function of that name, for those who ask about many pods.
func (m *Memory) OfPod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) Pod {
	if loc == nil {
		loc = time.UTC
	}
	var r Pod
	if !m.asks(s, p) {
		return r
	}
	for i, o := range carriers(s, p) {
		r.evict(o)
		r.hold(o, DoNotDisrupt)
		r.window(o, loc)
		r.Problems = append(r.Problems, o.unknown(podKeys, nodeKeys)...)
		if i == 0 {
			r.foreign(o)
		}
	}
	return r
}

func (r *Pod) evict(o object) {
	for _, src := range o.values(Evict) {
		switch src.Value {
		case "never":
			r.Never = append(r.Never, src)
		case "prefer":
			r.Prefer = true
		default:
			r.problem(src, wantEvict)
		}
	}
}

func (r *Pod) hold(o object, key string) {
	for _, src := range o.values(key) {
		if src.Value == "false" {
			continue
		}
		if src.Value == "true" {
			r.Holds = append(r.Holds, Hold{Source: src})
			continue
		}
		d, err := time.ParseDuration(src.Value)
		if err != nil || d <= 0 {
			r.Problems = append(r.Problems, Problem{Source: clipped(src), Want: wantHold, Cause: badHold(src.Value)})
			continue
		}
		r.Holds = append(r.Holds, Hold{clipped(src), d})
	}
}

// badHold says what is wrong with a time to hold, where it is nearly one.
func badHold(value string) string {
	number, days := strings.CutSuffix(value, "d")
	n, err := strconv.Atoi(number)
	switch d, _ := time.ParseDuration(value); {
	case err == nil && n > 0 && n <= maxDays && days:
		return fmt.Sprintf("days are not known (did you mean %dh?)", 24*n)
	case err == nil && n > 0 && !days:
		return fmt.Sprintf("it has no unit (did you mean %dh or %dm?)", n, n)
	case d < 0 || value == "0" || value == "0s":
		return "it is not above 0 (want " + wantHold + ")"
	}
	return ""
}

// maxDays bounds what is told in hours: a hundred years.
const maxDays = 36500

func (r *Pod) window(o object, loc *time.Location) {
	for _, src := range o.values(AllowWindow) {
		w, err := windows(src.Value, loc)
		if err != nil {
			r.Problems = append(r.Problems, Problem{Source: clipped(src), Want: wantWindow, Cause: err.Error()})
			continue
		}
		r.Windows = append(r.Windows, Window{clipped(src), w})
	}
}

// foreign reads what neighbours honour on pods. Their "evict" bypasses their
// own protections; here it only moves the pod forward.
func (r *Pod) foreign(o object) {
	if len(o.values(PeerEvict)) > 0 {
		r.Prefer = true
	}
	for _, src := range o.values(PeerPreferNot) {
		r.PreferNot = append(r.PreferNot, clipped(src))
	}
	for _, src := range o.values(PeerInProgress) {
		r.InProgress = append(r.InProgress, clipped(src))
	}
	r.word(o, SafeToEvict, "false", "true")
	r.hold(o, KarpenterNoDisrupt)
	r.word(o, KarpenterNoEvict, "true", "false")
}

// word reads a key that knows two values: one holds the pod, the other does not.
func (r *Pod) word(o object, key, holds, frees string) {
	for _, src := range o.values(key) {
		switch src.Value {
		case frees:
		case holds:
			r.Holds = append(r.Holds, Hold{Source: src})
		default:
			r.problem(src, wantWord)
		}
	}
}

func (r *Pod) problem(src Source, want string) {
	r.Problems = append(r.Problems, Problem{Source: clipped(src), Want: want})
}
