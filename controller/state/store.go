package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/plan"
)

// callTimeout bounds one call of the API. A leader that has lost its Lease must not
// have a write under way when the next one starts, 5 s later (package controller).
const callTimeout = 4 * time.Second

// Store keeps one state in a namespace. It is for one process at a time, the one
// that holds the Lease; anyone may read. Its methods may be called at any time,
// also at once.
type Store struct {
	client    kubernetes.Interface
	namespace string

	mu     sync.Mutex
	loaded bool
	known  map[string]*storedPart // by part
}

// storedPart is a ConfigMap as it is known to be.
type storedPart struct {
	name            string
	resourceVersion string // empty: there is none
	content         []byte // the JSON inside; empty: nothing
	// unconfirmed is what a write brought of which nobody knows what became; nil when
	// all is known.
	unconfirmed []byte
}

// New returns a store in the namespace of the Lease.
func New(client kubernetes.Interface, namespace string) *Store {
	return &Store{client: client, namespace: namespace}
}

// Load reads what is remembered. What was never written is empty. The error names
// the ConfigMap that cannot be read and says what to do.
func (s *Store) Load(ctx context.Context) (plan.PlannerState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = false
	names := partNames()
	known, states := make([]*storedPart, len(names)), make([]plan.PlannerState, len(names))
	err := runParallel(len(names), func(i int) (err error) {
		known[i], states[i], err = s.readPart(ctx, namePrefix+names[i])
		return err
	})
	if err != nil {
		return plan.PlannerState{}, err
	}
	all := map[string]plan.PlannerState{}
	s.known = map[string]*storedPart{}
	for i, name := range names {
		s.known[name], all[name] = known[i], states[i]
	}
	s.loaded = true
	return mergeParts(all), nil
}

// Save writes what has changed since it was loaded or saved last. An error says
// why not all of it could be written: the caller must then evict nothing that the
// state was to account for. Parts that were written stay: they hold evictions that
// are then not made, which errs on the safe side. st.Pause is not written.
func (s *Store) Save(ctx context.Context, st plan.PlannerState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		return errors.New("saving what is remembered: nothing was loaded before; load it, so that nothing is written over")
	}
	changed, err := s.changedParts(st)
	if err != nil {
		return err
	}
	return runParallel(len(changed), func(i int) error { return s.writePart(ctx, changed[i]) })
}

// change is what a ConfigMap is to hold.
type change struct {
	target  *storedPart
	content []byte
}

// changedParts lists the parts that differ, and refuses a state that does not fit
// before any of it is written.
func (s *Store) changedParts(st plan.PlannerState) ([]change, error) {
	var out []change
	states := splitState(st)
	for _, name := range partNames() {
		var text []byte
		if p, ok := states[name]; ok {
			p.Sort()
			var err error
			if text, err = encodePart(p); err != nil {
				return nil, err
			}
		}
		to := s.known[name]
		if bytes.Equal(text, to.content) && to.unconfirmed == nil {
			continue
		}
		if _, err := packConfigMap(s.namespace, to.name, text); err != nil {
			return nil, fmt.Errorf("saving what is remembered: %w", err)
		}
		out = append(out, change{to, text})
	}
	return out, nil
}

// runParallel calls f for 0 to n-1 at once, and returns what failed: the first of what
// most likely failed for one cause, unless another process is at work.
func runParallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	var first error
	for _, err := range errs {
		if errors.Is(err, ErrConflict) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}
