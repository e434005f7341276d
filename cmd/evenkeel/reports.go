package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// reportWriter writes the report of each pass.
type reportWriter struct {
	out    io.Writer
	format report.Format
	log    *slog.Logger
	// failed is the error of the last report, or nil. A command that makes a single pass must return this error; a
	// long-running program only logs it.
	failed error
}

func (r *reportWriter) write(of plan.RunReport) {
	if r.failed = report.Run(r.out, r.format, of); r.failed != nil {
		r.failed = fmt.Errorf("run %s: %w; the log and the Events list its evictions", of.RunID, r.failed)
		r.log.Error("the report was not written", "run", of.RunID, "error", r.failed)
	}
}

// errorIfNotBegun returns an error if the command was stopped before its pass began. Without this error, the exit
// code 0 would mean a complete pass.
func errorIfNotBegun(err error, begun bool) error {
	if err == nil && !begun {
		return errors.New("stopped before the pass began: nothing was evicted")
	}
	return err
}
