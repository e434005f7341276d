package waiting

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/objects"
)

// Verb is what a person decides about steps.
type Verb string

const (
	ToApprove Verb = "approve"
	ToDiscard Verb = "discard"
	// ToUndo lets discarded steps wait again, and approved ones that are chosen by their numbers.
	ToUndo Verb = "undo"
)

// Decided is the effect of Decide.
type Decided struct {
	Plan Plan
	// Steps are all decided steps in order. Needed are those of them that the choice did not contain.
	Steps, Needed []int
}

// Decide writes the decision of a person about steps of a plan, beside what the plan has decided already. The leader
// takes it into account at its next look.
func (s *Store) Decide(ctx context.Context, name string, verb Verb, c StepSelection, by string, now time.Time) (done Decided, err error) {
	for range attempts {
		if done, err = s.decide(ctx, name, verb, c, by, now); !apierrors.IsConflict(err) {
			break
		}
	}
	return done, objects.Explain(err)
}

func (s *Store) decide(ctx context.Context, name string, verb Verb, c StepSelection, by string, now time.Time) (done Decided, err error) {
	o, err := s.objects.Plans.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return done, err
	}
	if c.Seen != (Version{}) && c.Seen != VersionOf(o) {
		return done, rejectf("plan %s has changed since it was shown", name)
	}
	var p Plans
	if p.add(o); o.Status.Closed {
		return done, rejectf("plan %s does not wait any more: %s", name, describeEnd(o))
	}
	p = p.Register(now)
	w, err := p.Find(name)
	if err != nil {
		return done, err
	}
	done.Plan = *w
	if done.Steps, done.Needed, err = w.Choose(c, verb); err != nil {
		return done, err
	}
	next := w.decision(verb, done.Steps, by)
	if equality.Semantic.DeepEqual(o.Decision, next) { // a change makes the leader try the steps again
		o.Decision = w.decision(ToUndo, done.Steps, by)
		if o, err = s.objects.Plans.Update(ctx, o, metav1.UpdateOptions{}); err != nil {
			return done, err
		}
	}
	o.Decision = next
	done.Plan.object, err = s.objects.Plans.Update(ctx, o, metav1.UpdateOptions{})
	return done, err
}

func describeEnd(o *v1alpha1.RebalancePlan) string {
	if o.Status.Message != "" {
		return o.Status.Message
	}
	return "its phase is " + string(o.Status.Phase)
}

// decision returns the decision of a plan with another one about some steps.
func (w *Plan) decision(verb Verb, steps []int, by string) *v1alpha1.Decision {
	var approve, discard []int
	if d := w.object.Decision; d != nil && w.object.Generation > 1 {
		approve, discard = w.selected(d.Approve), w.selected(d.Discard)
	}
	chosen := setOf(steps)
	for _, list := range []*[]int{&approve, &discard} {
		*list = slices.DeleteFunc(*list, func(step int) bool { return chosen[step] })
	}
	switch verb {
	case ToApprove:
		approve = append(approve, steps...)
	case ToDiscard:
		discard = append(discard, steps...)
	}
	return &v1alpha1.Decision{By: by, Approve: selectionOf(approve), Discard: selectionOf(discard)}
}

func selectionOf(steps []int) *v1alpha1.StepSelection {
	if len(steps) == 0 {
		return nil
	}
	slices.Sort(steps)
	out := &v1alpha1.StepSelection{}
	for _, step := range steps {
		out.Steps = append(out.Steps, int32(step))
	}
	return out
}

// Submit stores a plan that a person hands over, and returns its name. A plan that is stored already, and not closed,
// is no error.
func (s *Store) Submit(ctx context.Context, o *v1alpha1.RebalancePlan) (*v1alpha1.RebalancePlan, error) {
	created, err := s.objects.Plans.Create(ctx, o, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return created, objects.Explain(err)
	}
	before, err := s.objects.Plans.Get(ctx, o.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return nil, objects.Explain(err)
	case !equality.Semantic.DeepEqual(before.Spec, o.Spec):
		return nil, rejectf("another plan has the name %s", o.Name)
	case before.Status.Closed:
		return nil, rejectf("plan %s is stored already, and no decision about it has an effect any more: %s", o.Name, describeEnd(before))
	}
	return before, nil
}

// Get reads a stored plan.
func (s *Store) Get(ctx context.Context, name string) (*v1alpha1.RebalancePlan, error) {
	o, err := s.objects.Plans.Get(ctx, name, metav1.GetOptions{})
	return o, objects.Explain(err)
}

// Object returns the plan as it was read or written last.
func (w *Plan) Object() *v1alpha1.RebalancePlan { return w.object }
