package waiting

import (
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
	// openPlans selects the plans about which a decision can still have an effect.
	openPlans = "status.closed!=true"
)

// Store keeps the waiting plans as RebalancePlans. Its methods must not be called concurrently.
type Store struct {
	objects *objects.Client
	read    map[string]*v1alpha1.RebalancePlan // the open plans as they were read or written last, by name
	// announced are the moves about which this process told people.
	announced []Mark
}

// New returns a Store.
func New(c *objects.Client) *Store { return &Store{objects: c} }

// Changed reports whether a plan differs from what this Store read or wrote last. It reads only names and versions.
// made identifies the plans that the release made.
func (s *Store) Changed(ctx context.Context, made []plan.StoredPlan) (bool, error) {
	versions, err := s.versions(ctx, made)
	if err != nil {
		return false, err
	}
	same := s.read != nil && maps.EqualFunc(versions, s.read, func(v string, o *v1alpha1.RebalancePlan) bool { return v == o.ResourceVersion })
	return !same, nil
}

// versions returns the resource versions of the open plans, by name.
func (s *Store) versions(ctx context.Context, made []plan.StoredPlan) (map[string]string, error) {
	listed, names := map[string]string{}, []string{}
	for next := ""; ; {
		page, err := s.objects.PlanVersions(ctx, metav1.ListOptions{Limit: maxListed / 2, Continue: next, FieldSelector: openPlans})
		if err != nil {
			return nil, fmt.Errorf("looking for plans that wait: %w", objects.Explain(err))
		}
		for _, o := range page.Items {
			listed[o.Name], names = o.ResourceVersion, append(names, o.Name)
		}
		if next = page.Continue; next == "" || len(names) >= maxListed {
			break
		}
	}
	out := map[string]string{}
	for _, m := range made {
		if v, found := listed[m.Name]; found {
			out[m.Name] = v
		} else if len(names) >= maxListed {
			out[m.Name] = "" // it may be beyond the others
		}
	}
	for _, name := range names {
		if len(out) >= maxRead {
			break
		}
		out[name] = listed[name]
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
			if objects.IsMissing(err, "rebalanceplans", name) {
				continue
			}
			if err != nil {
				return p, fmt.Errorf("reading RebalancePlan %s: %w", name, objects.Explain(err))
			}
		}
		read[name] = o
		p.add(o)
	}
	s.read = read
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
	for _, list := range [][]Plan{after.Waiting, after.Marked, after.Closed} {
		for i := range list {
			if err := s.write(ctx, &list[i]); err != nil {
				return after, err
			}
		}
	}
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
