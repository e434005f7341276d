package annotation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// Protection is a request not to disrupt a pod.
type Protection struct {
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
	// NeverEvict: it stays.
	NeverEvict []Source
	// Protections keep it for a time, or for good.
	Protections []Protection
	// Windows must all be open.
	Windows []Window
	// PreferEviction: among pods that could help, it goes first.
	PreferEviction bool
	// PreferNoEviction: it goes last, or not at all, as the config says.
	PreferNoEviction []Source
	// EvictionInProgress: somebody else is moving it.
	EvictionInProgress []Source
	// Problems could have been meant to protect it.
	Problems []Problem
}

const (
	wantEvict      = "never or prefer"
	wantBool       = "true or false"
	wantProtection = "true, false, or how long from the pod's start, such as 4h"
	wantWindow     = "cron fields, a duration and perhaps a time zone, such as \"0 22 * * 1-5 6h Europe/Berlin\"; several with ; between"
)

// OfPod collects what is asked for a pod. Windows without a time zone are in loc.
func OfPod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) Pod {
	return (*Cache)(nil).OfPod(s, p, loc)
}

// OfPod is the function of that name, for those who ask about many pods.
func (m *Cache) OfPod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) Pod {
	if loc == nil {
		loc = time.UTC
	}
	var r Pod
	if !m.hasRequests(s, p) {
		return r
	}
	for i, o := range requestObjects(s, p) {
		r.readEvict(o)
		r.readProtection(o, DoNotDisrupt)
		r.readWindows(o, loc)
		r.Problems = append(r.Problems, o.unknownKeys(podKeys, nodeKeys)...)
		if i == 0 {
			r.readForeignKeys(o)
		}
	}
	return r
}

func (r *Pod) readEvict(o object) {
	for _, src := range o.values(Evict) {
		switch src.Value {
		case "never":
			r.NeverEvict = append(r.NeverEvict, src)
		case "prefer":
			r.PreferEviction = true
		default:
			r.addProblem(src, wantEvict)
		}
	}
}

func (r *Pod) readProtection(o object, key string) {
	for _, src := range o.values(key) {
		if src.Value == "false" {
			continue
		}
		if src.Value == "true" {
			r.Protections = append(r.Protections, Protection{Source: src})
			continue
		}
		d, err := time.ParseDuration(src.Value)
		if err != nil || d <= 0 {
			r.Problems = append(r.Problems, Problem{Source: truncated(src), Want: wantProtection, Cause: protectionCause(src.Value)})
			continue
		}
		r.Protections = append(r.Protections, Protection{truncated(src), d})
	}
}

// protectionCause says what is wrong with a time to hold, where it is nearly one.
func protectionCause(value string) string {
	number, days := strings.CutSuffix(value, "d")
	n, err := strconv.Atoi(number)
	switch d, _ := time.ParseDuration(value); {
	case err == nil && n > 0 && n <= maxDays && days:
		return fmt.Sprintf("days are not known (did you mean %dh?)", 24*n)
	case err == nil && n > 0 && !days:
		return fmt.Sprintf("it has no unit (did you mean %dh or %dm?)", n, n)
	case d < 0 || value == "0" || value == "0s":
		return "it is not above 0 (want " + wantProtection + ")"
	}
	return ""
}

// maxDays bounds what is told in hours: a hundred years.
const maxDays = 36500

func (r *Pod) readWindows(o object, loc *time.Location) {
	for _, src := range o.values(AllowWindow) {
		w, err := parseWindows(src.Value, loc)
		if err != nil {
			r.Problems = append(r.Problems, Problem{Source: truncated(src), Want: wantWindow, Cause: err.Error()})
			continue
		}
		r.Windows = append(r.Windows, Window{truncated(src), w})
	}
}

// readForeignKeys reads what neighbours honour on pods. Their "evict" bypasses their
// own protections; here it only moves the pod forward.
func (r *Pod) readForeignKeys(o object) {
	if len(o.values(DeschedulerEvict)) > 0 {
		r.PreferEviction = true
	}
	for _, src := range o.values(DeschedulerPreferNoEviction) {
		r.PreferNoEviction = append(r.PreferNoEviction, truncated(src))
	}
	for _, src := range o.values(DeschedulerEvictionInProgress) {
		r.EvictionInProgress = append(r.EvictionInProgress, truncated(src))
	}
	r.readBoolean(o, SafeToEvict, "false", "true")
	r.readProtection(o, KarpenterNoDisrupt)
	r.readBoolean(o, KarpenterNoEvict, "true", "false")
}

// readBoolean reads a key that knows two values: one holds the pod, the other does not.
func (r *Pod) readBoolean(o object, key, holds, frees string) {
	for _, src := range o.values(key) {
		switch src.Value {
		case frees:
		case holds:
			r.Protections = append(r.Protections, Protection{Source: src})
		default:
			r.addProblem(src, wantBool)
		}
	}
}

func (r *Pod) addProblem(src Source, want string) {
	r.Problems = append(r.Problems, Problem{Source: truncated(src), Want: want})
}
