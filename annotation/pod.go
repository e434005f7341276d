package annotation

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/schedule"
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
	Windows schedule.Windows
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
	wantHold   = "true, false, or how long from the pod's start, such as 4h"
	wantWindow = "cron fields, a duration and perhaps a time zone, such as \"0 22 * * 1-5 6h Europe/Berlin\"; several with ; between"
)

// OfPod collects what is asked for a pod. Windows without a time zone are in loc.
func OfPod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) Pod {
	if loc == nil {
		loc = time.UTC
	}
	var r Pod
	for i, o := range carriers(s, p) {
		r.evict(o)
		r.hold(o, DoNotDisrupt, wantHold)
		r.window(o, loc)
		r.Problems = append(r.Problems, o.unknown(podKeys)...)
		if i == 0 {
			r.foreign(o)
		}
	}
	return r
}

func (r *Pod) evict(o object) {
	src, ok := o.value(Evict)
	switch {
	case !ok:
	case src.Value == "never":
		r.Never = append(r.Never, src)
	case src.Value == "prefer":
		r.Prefer = true
	default:
		r.problem(src, wantEvict)
	}
}

func (r *Pod) hold(o object, key, want string) {
	src, ok := o.value(key)
	if !ok || src.Value == "false" {
		return
	}
	if src.Value == "true" {
		r.Holds = append(r.Holds, Hold{Source: src})
		return
	}
	d, err := time.ParseDuration(src.Value)
	if err != nil || d <= 0 {
		r.problem(src, want)
		return
	}
	r.Holds = append(r.Holds, Hold{src, d})
}

func (r *Pod) window(o object, loc *time.Location) {
	src, ok := o.value(AllowWindow)
	if !ok {
		return
	}
	w, err := windows(src.Value, loc)
	if err != nil {
		r.problem(src, wantWindow)
		return
	}
	r.Windows = append(r.Windows, Window{src, w})
}

// foreign reads what neighbours honour on pods. Their "evict" bypasses their
// own protections; here it only moves the pod forward.
func (r *Pod) foreign(o object) {
	if _, ok := o.value(PeerEvict); ok {
		r.Prefer = true
	}
	if src, ok := o.value(PeerPreferNot); ok {
		r.PreferNot = append(r.PreferNot, src)
	}
	if src, ok := o.value(PeerInProgress); ok {
		r.InProgress = append(r.InProgress, src)
	}
	switch src, ok := o.value(SafeToEvict); {
	case !ok, src.Value == "true":
	case src.Value == "false":
		r.Holds = append(r.Holds, Hold{Source: src})
	default:
		r.problem(src, "true or false")
	}
	r.hold(o, KarpenterNoDisrupt, wantHold)
	r.hold(o, KarpenterNoEvict, "true or false")
}

func (r *Pod) problem(src Source, want string) {
	src.Value = clip(src.Value)
	r.Problems = append(r.Problems, Problem{src, want})
}
