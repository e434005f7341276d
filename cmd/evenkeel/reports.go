package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// reportWriter writes the report of every pass.
type reportWriter struct {
	out    io.Writer
	format report.Format
	log    *slog.Logger
	// failed is why the last one could not be written. Whoever keeps running makes
	// another; a command that ends with it must not end as if all were well.
	failed error
}

func (r *reportWriter) write(of plan.RunReport) {
	if r.failed = report.Run(r.out, r.format, of); r.failed != nil {
		r.failed = fmt.Errorf("run %s: %w; what was evicted stands in the log and in Events", of.RunID, r.failed)
		r.log.Error("a report is lost", "run", of.RunID, "error", r.failed)
	}
}

// errorIfNotBegun is an error where a command was told to stop before it began what it is there
// for: whoever looks at its exit code takes 0 for done.
func errorIfNotBegun(err error, begun bool) error {
	if err == nil && !begun {
		return errors.New("told to stop before the pass began: nothing was evicted")
	}
	return err
}
