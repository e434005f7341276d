package annotation

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// Protection is a request not to disrupt a pod.
type Protection struct {
	Source
	// For limits the protection to a time from the pod's start. 0 means no limit.
	For time.Duration
}

// Window is a request to evict a pod only while a window is open.
type Window struct {
	Source
	// Windows permits evictions while at least one of its allow windows is open.
	Windows cron.Windows
}

// Pod holds the requests that apply to one pod. If several objects carry requests, the strictest
// request applies.
type Pod struct {
	// NeverEvict lists requests to keep the pod in place.
	NeverEvict []Source
	// Protections lists requests to keep the pod in place, some of them for a limited time.
	Protections []Protection
	// Windows must all be open before the pod may be evicted.
	Windows []Window
	// PreferEviction makes the planner choose the pod before other pods that would help equally.
	PreferEviction bool
	// PreferNoEviction lists requests to choose the pod last, or to keep it in place. The
	// configuration defines which of the two applies.
	PreferNoEviction []Source
	// EvictionInProgress lists annotations of another program that is evicting the pod.
	EvictionInProgress []Source
	// Groups lists the groups of other programs that the pod belongs to, at most one for each program.
	Groups []Group
	// Paused lists the annotations on the owners that pause their controllers.
	Paused []Source
	// Problems lists unreadable requests, which may have been meant to protect the pod.
	Problems []Problem
}

const (
	wantEvict      = "never or prefer"
	wantBool       = "true or false"
	wantProtection = "true, false, or a duration from the pod's start, such as 4h"
	wantWindow     = "cron fields, a duration and optionally a time zone, such as \"0 22 * * 1-5 6h Europe/Berlin\"; separate several windows with ;"
)

// readRequests adds the requests on one object.
func (r *Pod) readRequests(o object, loc *time.Location) {
	r.readEvict(o)
	r.readProtection(o, DoNotDisrupt)
	r.readWindows(o, cmp.Or(loc, time.UTC))
}

func (r *Pod) readEvict(o object) {
	for _, src := range o.requestValues(Evict) {
		switch src.Value {
		case "never":
			r.NeverEvict = append(r.NeverEvict, src)
		case "prefer":
			r.PreferEviction = true
		default:
			r.Problems = append(r.Problems, newProblem(src, wantEvict))
		}
	}
}

func (r *Pod) readProtection(o object, key string) {
	for _, src := range o.requestValues(key) {
		d, err := time.ParseDuration(src.Value)
		switch {
		case src.Value == "false":
		case src.Value == "true":
			r.Protections = append(r.Protections, Protection{Source: src})
		case err != nil || d <= 0:
			r.Problems = append(r.Problems, Problem{Source: src.truncated(), Want: wantProtection, Cause: protectionCause(src.Value)})
		default:
			r.Protections = append(r.Protections, Protection{src.truncated(), d})
		}
	}
}

// protectionCause explains an unreadable duration if the mistake is a likely one, such as a
// missing unit.
func protectionCause(value string) string {
	number, days := strings.CutSuffix(value, "d")
	n, err := strconv.Atoi(number)
	switch d, _ := time.ParseDuration(value); {
	case err == nil && n > 0 && n <= maxDays && days:
		return fmt.Sprintf("days are not supported (did you mean %dh?)", 24*n)
	case err == nil && n > 0 && !days:
		return fmt.Sprintf("it has no unit (did you mean %dh or %dm?)", n, n)
	case d < 0 || value == "0" || value == "0s":
		return "the duration is not above 0 (want " + wantProtection + ")"
	}
	return ""
}

// maxDays is 100 years. Larger values get no suggestion in hours.
const maxDays = 36500

func (r *Pod) readWindows(o object, loc *time.Location) {
	for _, src := range o.requestValues(AllowWindow) {
		w, err := parseWindows(src.Value, loc)
		if err != nil {
			r.Problems = append(r.Problems, Problem{Source: src.truncated(), Want: wantWindow, Cause: err.Error()})
			continue
		}
		r.Windows = append(r.Windows, Window{src.truncated(), w})
	}
}

// IsBeingEvicted reports whether another program has marked the pod itself as being evicted.
func IsBeingEvicted(p *corev1.Pod) bool {
	return len(object{"the pod", p}.requestValues(DeschedulerEvictionInProgress)) > 0
}

// IsRequestOnly reports whether the pod itself says that a request for its eviction makes its operator move it.
func IsRequestOnly(p *corev1.Pod) bool {
	return len(object{"the pod", p}.requestValues(deschedulerRequestEvictOnly)) > 0
}

// SafeLocalVolumes returns the volumes of the pod that hold nothing worth keeping, as its author says.
func SafeLocalVolumes(p *corev1.Pod) []string {
	names := strings.Split(p.Annotations[safeLocalVolumes], ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// readForeignKeys reads the keys of other programs on a pod. For the descheduler, its "evict"
// annotation overrides protections. For Evenkeel, the annotation only expresses a preference.
func (r *Pod) readForeignKeys(o object) {
	if len(o.requestValues(DeschedulerEvict)) > 0 {
		r.PreferEviction = true
	}
	for _, src := range o.requestValues(DeschedulerPreferNoEviction) {
		r.PreferNoEviction = append(r.PreferNoEviction, src.truncated())
	}
	for _, src := range o.requestValues(DeschedulerEvictionInProgress) {
		r.EvictionInProgress = append(r.EvictionInProgress, src.truncated())
	}
	r.readBoolean(o, SafeToEvict, "false", "true")
	r.readKarpenterKeys(o)
}

func (r *Pod) readKarpenterKeys(o object) {
	r.readProtection(o, KarpenterNoDisrupt)
	r.readBoolean(o, KarpenterNoEvict, "true", "false")
}

// readBoolean reads a key with two values: one value protects the pod, the other does not.
func (r *Pod) readBoolean(o object, key, protecting, releasing string) {
	for _, src := range o.requestValues(key) {
		switch src.Value {
		case releasing:
		case protecting:
			r.Protections = append(r.Protections, Protection{Source: src})
		default:
			r.Problems = append(r.Problems, newProblem(src, wantBool))
		}
	}
}

// maxWindows limits how many windows one annotation can list.
const maxWindows = 20

// parseWindows parses windows that are separated by semicolons.
func parseWindows(text string, loc *time.Location) (cron.Windows, error) {
	parts := strings.Split(text, ";")
	if len(parts) > maxWindows {
		return cron.Windows{}, fmt.Errorf("more than %d windows", maxWindows)
	}
	var w cron.Windows
	for _, part := range parts {
		one, err := cron.ParseWindow(strings.TrimSpace(part), loc)
		if err != nil {
			return cron.Windows{}, err
		}
		w.Allow = append(w.Allow, one)
	}
	return w, nil
}
