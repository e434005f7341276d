package budgets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// run creates the cases, gives Evenkeel a snapshot of them, and compares the answers for each case.
func (b *batch) run(ctx context.Context, workers int, into *comparisonCounts) error {
	for _, ns := range b.namespaces() {
		if err := createNamespace(ctx, ns); err != nil {
			return err
		}
	}
	each := func(f func(*testCase) error) error { return forEachInParallel(workers, b.cases, f) }
	if err := each(func(c *testCase) error {
		if err := c.createObjects(ctx); err != nil {
			return err
		}
		if err := c.waitUntilSettled(ctx); err != nil {
			return err
		}
		if err := c.applyScenario(ctx); err != nil {
			return err
		}
		if c.scenario == marked || c.scenario == conflictBefore {
			return c.waitUntilSettled(ctx)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := b.openTrackers(ctx, each); err != nil {
		return err
	}
	defer func() {
		_, _ = budgetcheck.request(request{Op: "close", Tracker: b.name})
		_, _ = budgetcheck.request(request{Op: "close", Tracker: b.countingTrackerName()})
	}()
	return each(func(c *testCase) error { return c.compareEvictions(ctx, b, into) })
}

// openTrackers takes the snapshot, causes the conflicts that must follow it, and opens the trackers.
func (b *batch) openTrackers(ctx context.Context, each func(func(*testCase) error) error) error {
	path, countPath := filepath.Join(budgetcheck.dir, b.name+".json"), filepath.Join(budgetcheck.dir, b.countingTrackerName()+".json")
	b.now = time.Now()
	lists, err := b.snapshot(ctx)
	if err != nil {
		return fmt.Errorf("taking a snapshot: %w", err)
	}
	if err := errors.Join(writeList(path, lists), writeList(countPath, allowEverything(lists))); err != nil {
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	defer os.Remove(path)
	defer os.Remove(countPath)
	var mu sync.Mutex
	spent := map[string]time.Time{}
	if err := each(func(c *testCase) error {
		if c.scenario != conflictAfter {
			return nil
		}
		name, err := c.chargeByConflict(ctx)
		mu.Lock()
		defer mu.Unlock()
		if name != "" {
			spent[name] = b.now.Add(confirmWithin)
		}
		return err
	}); err != nil {
		return err
	}
	_, err1 := budgetcheck.request(request{Op: "open", Tracker: b.name, Snapshot: path, Now: b.now, Spent: spent})
	_, err2 := budgetcheck.request(request{Op: "open", Tracker: b.countingTrackerName(), Snapshot: countPath, Now: b.now})
	return errors.Join(err1, err2)
}

// forEachInParallel calls f for every item, at most n at a time, and joins the errors.
func forEachInParallel[T any](n int, items []T, f func(T) error) error {
	next := make(chan T)
	var errs []error
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for x := range next {
				if err := f(x); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, x := range items {
		next <- x
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}
