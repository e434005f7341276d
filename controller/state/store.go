// Package state stores a plan.PlannerState in ConfigMaps, so that evictions and back-offs survive
// restarts and changes of the leader. The package also stores the pause that a user sets.
//
// The package decides how the state is split into ConfigMaps, and it never overwrites what another
// process wrote. Package planner/history decides what is stored and for how long. The package never
// repeats a write before it knows the outcome of the first attempt.
package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/plan"
)

// callTimeout bounds one API call. A leader that has lost its Lease must not have a write in
// progress when the next leader starts, 5 s later (package leader).
const callTimeout = 4 * time.Second

// Store keeps one state in ConfigMaps of a namespace. Only the process that holds the Lease may
// save; any process may load. Its methods are safe for concurrent use.
type Store struct {
	client    kubernetes.Interface
	namespace string

	mu     sync.Mutex
	loaded bool
	known  map[string]*storedPart // by part
}

type storedPart struct {
	name            string
	resourceVersion string // empty: the ConfigMap does not exist
	content         []byte // the JSON in it; may be empty
	// unconfirmed is the content of a write whose outcome is unknown; nil if all outcomes are known.
	unconfirmed []byte
}

// New returns a Store in the namespace of the Lease.
func New(client kubernetes.Interface, namespace string) *Store {
	return &Store{client: client, namespace: namespace}
}

// Load reads the state. Parts that were never written are empty. The error names the ConfigMap that
// cannot be read, and the remedy.
func (s *Store) Load(ctx context.Context) (plan.PlannerState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = false
	names := partNames()
	known, states := make([]*storedPart, len(names)), make([]plan.PlannerState, len(names))
	var total unpacked
	err := runParallel(len(names), func(i int) (err error) {
		known[i], states[i], err = s.readPart(ctx, namePrefix+names[i], &total)
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

// Save writes the parts that have changed since the last Load or Save. After an error the caller
// must not request the evictions that the state reserves. Parts that were written remain.
// Their reservations for evictions that never happen are safe.
func (s *Store) Save(ctx context.Context, st plan.PlannerState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		return errors.New("saving the state: it was not loaded before; load it first, so that no other process is overwritten")
	}
	changed, err := s.changedParts(st)
	if err != nil {
		return err
	}
	return runParallel(len(changed), func(i int) error { return s.writePart(ctx, changed[i]) })
}

type partChange struct {
	target  *storedPart
	content []byte
}

// changedParts returns the parts that differ from the stored ones. changedParts returns an error if
// any part is too large, before anything is written.
func (s *Store) changedParts(st plan.PlannerState) ([]partChange, error) {
	var out []partChange
	states := splitState(st)
	for _, name := range partNames() {
		var text []byte
		if p, ok := states[name]; ok {
			p.Sort()
			var err error
			if text, err = json.Marshal(p); err != nil {
				return nil, fmt.Errorf("encoding the state: %w", err)
			}
		}
		to := s.known[name]
		if bytes.Equal(text, to.content) && to.unconfirmed == nil {
			continue
		}
		if _, err := packConfigMap(s.namespace, to.name, text); err != nil {
			return nil, fmt.Errorf("saving the state: %w", err)
		}
		out = append(out, partChange{to, text})
	}
	return out, nil
}

// runParallel calls f concurrently for 0 to n-1. If a call returns ErrConflict, runParallel returns
// that error. Otherwise runParallel returns the error with the lowest index.
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
