package waiting

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// attempts bounds how often a change is tried again after another client has changed a plan.
	attempts = 4
	// maxListed bounds the open plans whose names are read, and maxRead those whose content is: whoever may create
	// plans can make many. Plans that this release made are read first.
	maxListed = 1000
	maxRead   = 50
	pageSize  = 100
	// openPlans selects the plans about which a decision can still have an effect.
	openPlans = "status.closed!=true"
)

// Store keeps the waiting plans as RebalancePlans. Its methods must not be called concurrently.
type Store struct {
	objects *objects.Client
	read    map[string]*v1alpha1.RebalancePlan // the open plans as they were read or written last, by name
	settled bool                               // the last Update has written all changes
	// announced are the moves about which this process told people.
	announced []Mark
}

// New returns a Store.
func New(c *objects.Client) *Store { return &Store{objects: c} }

// Changed reports whether a plan differs from what this Store read or wrote last. It reads only names and versions.
// made identifies the plans that the release made.
func (s *Store) Changed(ctx context.Context, made []plan.StoredPlan) (bool, error) {
	if !s.settled {
		return true, nil
	}
	versions, err := s.versions(ctx, made)
	if err != nil {
		return false, err
	}
	same := maps.EqualFunc(versions, s.read, func(v string, o *v1alpha1.RebalancePlan) bool { return v == o.ResourceVersion })
	return !same, nil
}

// versions returns the resource versions of the open plans, by name.
func (s *Store) versions(ctx context.Context, made []plan.StoredPlan) (map[string]string, error) {
	var listed []metav1.PartialObjectMetadata
	for next := ""; ; {
		page, err := s.objects.PlanVersions(ctx, metav1.ListOptions{Limit: pageSize, Continue: next, FieldSelector: openPlans})
		if err != nil {
			return nil, fmt.Errorf("looking for plans that wait: %w", objects.Explain(err))
		}
		if listed, next = append(listed, page.Items...), page.Continue; next == "" || len(listed) >= maxListed {
			break
		}
	}
	out := map[string]string{}
	for _, m := range made {
		if i := slices.IndexFunc(listed, func(o metav1.PartialObjectMetadata) bool { return o.Name == m.Name }); i >= 0 {
			out[m.Name] = listed[i].ResourceVersion
		} else if len(listed) >= maxListed {
			out[m.Name] = "" // it may be beyond the others
		}
	}
	slices.SortStableFunc(listed, func(a, b metav1.PartialObjectMetadata) int { // first those about which somebody may have decided
		return cmp.Or(cmp.Compare(min(b.Generation, 2), min(a.Generation, 2)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time))
	})
	for _, o := range listed[:min(len(listed), maxRead)] {
		out[o.Name] = o.ResourceVersion
	}
	return out, nil
}

// Load reads the plans that wait, or whose discarded moves are not proposed again yet.
func (s *Store) Load(ctx context.Context, made []plan.StoredPlan) (p Plans, err error) {
	versions, err := s.versions(ctx, made)
	if err != nil {
		return p, err
	}
	read := map[string]*v1alpha1.RebalancePlan{}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		o := s.read[name]
		if o == nil || o.ResourceVersion != versions[name] {
			o, err = s.objects.Plans.Get(ctx, name, metav1.GetOptions{})
			foreign := !slices.ContainsFunc(made, func(m plan.StoredPlan) bool { return m.Name == name })
			if objects.IsMissing(err, "rebalanceplans", name) || err != nil && foreign && ctx.Err() == nil {
				continue // nobody can make the release wait with a plan that cannot be read
			}
			if err != nil {
				return p, fmt.Errorf("reading RebalancePlan %s: %w", name, objects.Explain(err))
			}
		}
		read[name] = o
		p.add(o)
	}
	s.read, s.settled = read, false
	slices.SortStableFunc(p.Waiting, func(a, b Plan) int { return a.Since.Compare(b.Since) })
	p.Announced = s.announced
	return p, nil
}

// Update changes the plans. It calls change again if another client has changed them meanwhile, and writes only what
// change changes. It returns the plans after the change.
func (s *Store) Update(ctx context.Context, made []plan.StoredPlan, change func(Plans) (Plans, error)) (after Plans, err error) {
	for range attempts {
		if after, err = s.updateOnce(ctx, made, change); !apierrors.IsConflict(err) {
			return after, err
		}
	}
	return after, fmt.Errorf("other clients changed the plans during each of %d attempts; try again: %w", attempts, err)
}

func (s *Store) updateOnce(ctx context.Context, made []plan.StoredPlan, change func(Plans) (Plans, error)) (after Plans, err error) {
	before, err := s.Load(ctx, made)
	if err != nil {
		return after, err
	}
	if after, err = change(before); err != nil {
		return after, err
	}
	s.announced = after.Announced
	for _, list := range [][]Plan{after.Closed, after.Marked, after.Waiting} { // a conflict comes before a new plan
		for i := range list {
			err := s.write(ctx, &list[i])
			if list[i].Foreign && (apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)) {
				continue // it never can be written
			}
			if err != nil {
				return after, err
			}
		}
	}
	s.settled = true
	return after, nil
}

// write stores a plan, or what has changed of its status.
func (s *Store) write(ctx context.Context, w *Plan) (err error) {
	if w.object == nil {
		if w.object, err = s.create(ctx, w); err != nil {
			return err
		}
	}
	o := v1alpha1.DeepCopy(w.object)
	w.setStatus(&o.Status)
	if !equality.Semantic.DeepEqual(o.Status, w.object.Status) {
		return s.writeStatus(ctx, w, o)
	}
	return nil
}

func (s *Store) writeStatus(ctx context.Context, w *Plan, o *v1alpha1.RebalancePlan) error {
	written, err := s.objects.Plans.UpdateStatus(ctx, o, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("writing the status of RebalancePlan %s: %w", o.Name, objects.Explain(err))
	}
	w.object, s.read[o.Name] = written, written
	if written.Status.Closed {
		delete(s.read, o.Name)
	}
	return nil
}

// create stores a new plan.
func (s *Store) create(ctx context.Context, w *Plan) (*v1alpha1.RebalancePlan, error) {
	o := &v1alpha1.RebalancePlan{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "RebalancePlan"},
		ObjectMeta: metav1.ObjectMeta{Name: w.Name}, Spec: *w.spec}
	if w.owner != "" {
		o.OwnerReferences = []metav1.OwnerReference{{APIVersion: o.APIVersion, Kind: "Rebalancer", Name: objects.ReleaseName, UID: types.UID(w.owner)}}
	}
	created, err := s.objects.Plans.Create(ctx, o, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("storing RebalancePlan %s: %w", w.Name, objects.Explain(err))
	}
	return created, nil
}
