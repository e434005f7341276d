package state

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/retry"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
)

// FormerPauseName is the ConfigMap with which earlier versions paused evictions while it existed.
const FormerPauseName = "evenkeel-pause"

// formerPauseKey is the annotation with the UID of the ConfigMap whose pause a Rebalancer took over.
const formerPauseKey = "evenkeel.io/former-pause"

// maxTextRunes is the maximum displayed length of a text that any user may have written.
const maxTextRunes = 300

// PauseStore reads and writes the pause of a release, which is in the spec of its Rebalancer.
type PauseStore struct {
	Objects *objects.Client
	Clock   clock.PassiveClock
}

// NewPauseStore returns the store of the pause of a release.
func NewPauseStore(c *objects.Client) PauseStore {
	return PauseStore{Objects: c, Clock: clock.RealClock{}}
}

// ErrNoRebalancer means that the Rebalancer does not exist, so it is unknown whether evictions are paused.
var ErrNoRebalancer = errors.New("the Rebalancer " + objects.ReleaseName + " does not exist")

// Read returns the active pause, or nil. It returns ErrNoRebalancer if there is no Rebalancer.
func (p PauseStore) Read(ctx context.Context) (*plan.Pause, error) {
	o, err := p.get(ctx)
	if err != nil {
		return nil, err
	}
	return ActivePause(o, p.Clock.Now()), nil
}

// get reads the Rebalancer.
func (p PauseStore) get(ctx context.Context) (o *v1alpha1.Rebalancer, err error) {
	err = retry.Read(ctx, func() (err error) { // a failed read says nothing about pauses
		o, err = p.Objects.Rebalancers.Get(ctx, objects.ReleaseName, metav1.GetOptions{})
		return err
	})
	switch {
	case objects.IsMissing(err, "rebalancers", objects.ReleaseName):
		return nil, ErrNoRebalancer
	case err == nil && o.Name != objects.ReleaseName:
		err = fmt.Errorf("%w (%q)", errOtherObject, o.Name)
	}
	return o, p.callError("get", err)
}

// ActivePause returns the pause of a Rebalancer if it holds at that time, or nil.
func ActivePause(o *v1alpha1.Rebalancer, now time.Time) *plan.Pause {
	x := o.Spec.Pause
	if x == nil {
		return nil
	}
	out := &plan.Pause{By: sanitize(x.By), Reason: sanitize(x.Reason)}
	if out.By == "" {
		out.By = "an unknown user"
	}
	if x.Since != nil {
		out.Since = x.Since.UTC()
	}
	if x.Until != nil {
		out.Until = x.Until.UTC()
	}
	if !out.ActiveAt(now) {
		return nil
	}
	return out
}

// CheckPause returns the reason why evictions must not be requested now, or nil. CheckPause always
// asks the API server and never uses a cache, because an interrupted watch would not show a new
// pause. If the API server gives no answer, or there is no Rebalancer, no eviction may be requested.
func (p PauseStore) CheckPause(ctx context.Context) *plan.Reason {
	all, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pause, err := p.Read(all)
	switch {
	case err != nil && ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop"}
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return &plan.Reason{Code: plan.PermissionMissing, Message: "it is unknown whether evictions are paused: " + err.Error()}
	case err != nil:
		return &plan.Reason{Code: plan.APIError, Message: "it is unknown whether evictions are paused: " + err.Error()}
	case pause != nil:
		r := pause.Block().Reason
		return &r
	}
	return nil
}

// Pause pauses evictions from now on, also if the release has never run. Pause returns the pause that was active
// before, or nil. If evictions are already paused, Pause keeps the start time, and keeps the reason unless want has
// one.
func (p PauseStore) Pause(ctx context.Context, want plan.Pause) (before *plan.Pause, err error) {
	err = p.change(ctx, newRebalancer(nil), func(o *v1alpha1.Rebalancer) bool {
		next := want
		if before = ActivePause(o, p.Clock.Now()); before != nil {
			if !before.Since.IsZero() {
				next.Since = before.Since
			}
			if next.Reason == "" {
				next.Reason = before.Reason
			}
		}
		o.Spec.Pause = pauseObject(&next)
		return true
	})
	return before, err
}

// Resume ends the pause, also if the Rebalancer was deleted. Resume returns the pause that was active before, or nil.
func (p PauseStore) Resume(ctx context.Context) (before *plan.Pause, err error) {
	err = p.change(ctx, newRebalancer(nil), func(o *v1alpha1.Rebalancer) bool {
		before = ActivePause(o, p.Clock.Now())
		changes := o.Spec.Pause != nil || o.UID == "" // the next pass would create a paused one
		o.Spec.Pause = nil
		return changes
	})
	return before, err
}

// pauseObject returns the pause as the Rebalancer has it.
func pauseObject(p *plan.Pause) *v1alpha1.Pause {
	if p == nil {
		return nil
	}
	out := &v1alpha1.Pause{By: p.By, Reason: p.Reason}
	if !p.Since.IsZero() {
		out.Since = &metav1.Time{Time: p.Since.UTC()}
	}
	if !p.Until.IsZero() {
		out.Until = &metav1.Time{Time: p.Until.UTC()}
	}
	return out
}

// pauseAttempts is the maximum number of attempts to change the pause if other clients change the Rebalancer too.
const pauseAttempts = 5

// change changes the Rebalancer, or creates it from another one. It tries again if another client changed it
// meanwhile. edit returns false if there is nothing to change.
func (p PauseStore) change(ctx context.Context, from *v1alpha1.Rebalancer, edit func(*v1alpha1.Rebalancer) bool) error {
	for range pauseAttempts {
		o, err := p.get(ctx)
		verb, write := "update", func() (*v1alpha1.Rebalancer, error) {
			return p.Objects.Rebalancers.Update(ctx, o, metav1.UpdateOptions{})
		}
		if errors.Is(err, ErrNoRebalancer) {
			o, err = v1alpha1.DeepCopy(from), nil
			verb, write = "create", func() (*v1alpha1.Rebalancer, error) {
				return p.Objects.Rebalancers.Create(ctx, o, metav1.CreateOptions{})
			}
		}
		if err != nil || !edit(o) {
			return err
		}
		if _, err = write(); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return p.callError(verb, err)
		}
	}
	return fmt.Errorf("other clients changed the Rebalancer during each of %d attempts; try again", pauseAttempts)
}

// ensure returns the Rebalancer. It creates the Rebalancer if it does not exist, for the first time with the pause of
// an earlier version. A release that had one before, as known tells, gets one with the last pause. Without a last
// pause, the new one is paused all the same: whoever deleted the former may have deleted a pause with it. Only a
// person's resume ends it.
func (p PauseStore) ensure(ctx context.Context, known plan.PlannerState, former *corev1.ConfigMap) (*v1alpha1.Rebalancer, error) {
	o, err := p.get(ctx)
	if !errors.Is(err, ErrNoRebalancer) {
		return o, err
	}
	o = newRebalancer(nil)
	switch pause := known.Pause; {
	case known.Rebalancer == "" && former != nil:
		o = newRebalancer(formerPause(former))
		o.Annotations = map[string]string{formerPauseKey: string(former.UID)}
	case known.Rebalancer == "":
	case pause.ActiveAt(p.Clock.Now()):
		o = newRebalancer(&plan.Pause{Since: pause.Since, By: pause.By, Reason: pause.Reason}) // a later pause may have had no end
	default:
		o = newRebalancer(&plan.Pause{Since: p.Clock.Now(), By: "evenkeel", Reason: "the Rebalancer was deleted, and perhaps a pause with it"})
	}
	o, err = p.Objects.Rebalancers.Create(ctx, o, metav1.CreateOptions{})
	return o, p.callError("create", err)
}

func newRebalancer(pause *plan.Pause) *v1alpha1.Rebalancer {
	return &v1alpha1.Rebalancer{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Rebalancer"},
		ObjectMeta: metav1.ObjectMeta{Name: objects.ReleaseName}, Spec: v1alpha1.RebalancerSpec{Pause: pauseObject(pause)}}
}

// callError adds the object, and the remedy if there is one, to the error of a call.
func (p PauseStore) callError(verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("permission to %s Rebalancer %s in namespace %s is missing; grant %s on rebalancers.evenkeel.io there to this account: %w",
			verb, objects.ReleaseName, p.Objects.Namespace, verb, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server does not accept the credentials (%s Rebalancer %s/%s); is the token still valid?: %w", verb,
			p.Objects.Namespace, objects.ReleaseName, err)
	}
	doing := map[string]string{"get": "reading", "create": "creating", "update": "changing"}[verb]
	return fmt.Errorf("%s Rebalancer %s/%s: %w", doing, p.Objects.Namespace, objects.ReleaseName, objects.Explain(err))
}

// formerPause returns the pause of an earlier version. The existence of its ConfigMap paused evictions, whatever it
// contained: an end that cannot be parsed is no end.
func formerPause(m *corev1.ConfigMap) *plan.Pause {
	p := &plan.Pause{Since: m.CreationTimestamp.UTC(), By: sanitize(m.Data["by"]), Reason: sanitize(m.Data["reason"])}
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(m.Data["since"])); err == nil {
		p.Since = t.UTC()
	}
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(m.Data["until"])); err == nil {
		p.Until = t.UTC()
	}
	return p
}

// sanitize makes text that any user may have written safe to print: on one line, short, and without control characters.
func sanitize(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if r := []rune(s); len(r) > maxTextRunes {
		s = string(r[:maxTextRunes]) + "..."
	}
	return s
}
