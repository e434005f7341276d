package ui

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/record"
)

// Bounds of what is read and kept of stored plans, because whoever may create plans can make many. The newest are read.
const (
	maxNames     = 100000
	namesPage    = 500
	maxPasses    = 500
	maxPastMoves = 50000
	readers      = 8
)

// pass is what a page shows of a stored plan.
type pass struct {
	name, version string
	at            time.Time
	strategies    string
	mode          v1alpha1.Mode
	status        v1alpha1.RebalancePlanStatus // without steps
	moves         int
	score         string
	by            string
	past          []record.PastMove
	cut           bool // past is left out, because too many moves are kept
}

// archive keeps what was read of stored plans. It must not be used concurrently.
type archive struct {
	read map[string]*pass
	// unread are the plans that could not be read, with the error of the newest in why. cut reports that there are more
	// than maxNames names.
	unread int
	why    error
	cut    bool
}

// update reads the plans that are new or have changed. It returns the newest maxPasses, the newest first. Of a plan
// that cannot be read, it returns what was read before.
func (a *archive) update(ctx context.Context, c *objects.Client) ([]*pass, error) {
	var names []metav1.PartialObjectMetadata
	a.unread, a.why, a.cut = 0, nil, false
	for next, listed := "", 0; ; {
		page, err := c.PlanVersions(ctx, metav1.ListOptions{Limit: namesPage, Continue: next})
		if err != nil {
			return nil, err
		}
		names = append(names, page.Items...)
		slices.SortFunc(names, func(x, y metav1.PartialObjectMetadata) int {
			return cmp.Or(y.CreationTimestamp.Compare(x.CreationTimestamp.Time), strings.Compare(y.Name, x.Name))
		})
		names, listed, next = names[:min(len(names), maxPasses)], listed+len(page.Items), page.Continue
		if a.cut = next != "" && listed >= maxNames; next == "" || a.cut {
			break
		}
	}
	out, turns := make([]*pass, len(names)), make(chan struct{}, readers)
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, o := range names {
		if p := a.read[o.Name]; p != nil && p.version == o.ResourceVersion {
			out[i] = p
			continue
		}
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			full, err := c.Plans.Get(ctx, o.Name, metav1.GetOptions{})
			if err == nil {
				out[i] = passOf(full)
			} else if !apierrors.IsNotFound(err) {
				out[i], errs[i] = a.read[o.Name], err
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.read = map[string]*pass{}
	kept := 0
	for i, p := range out {
		if errs[i] != nil {
			a.unread, a.why = a.unread+1, cmp.Or(a.why, errs[i])
		}
		if p == nil {
			continue
		}
		if kept += len(p.past); kept > maxPastMoves && len(p.past) > 0 {
			short := *p // pages may show the other one
			short.past, short.cut = nil, true
			p, out[i] = &short, &short
		}
		a.read[p.name] = p
	}
	return slices.DeleteFunc(out, func(p *pass) bool { return p == nil }), nil
}

func passOf(o *v1alpha1.RebalancePlan) *pass {
	p := &pass{name: o.Name, version: o.ResourceVersion, at: record.PlannedAt(o).Time, strategies: o.Spec.StrategyNames, mode: o.Spec.Mode, status: o.Status,
		moves: int(o.Spec.MoveCount), score: o.Spec.Score, past: record.PastMoves(o)}
	var by []string
	for _, x := range o.Status.Steps {
		if x.DecidedBy != "" && !slices.Contains(by, x.DecidedBy) {
			by = append(by, x.DecidedBy)
		}
	}
	p.by, p.status.Steps = strings.Join(by, ", "), nil
	return p
}

// executed reports whether a process has executed steps of the plan, or executes them now.
func (p *pass) executed() bool { return p.status.Started != nil && p.mode != v1alpha1.ModeDryRun }

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}
