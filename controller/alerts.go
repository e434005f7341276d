package controller

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxShownAlerts is the number of firing alerts that a message names.
const maxShownAlerts = 3

// checkAlerts returns the reason why alerts forbid evictions now, or nil. Without an answer nothing may be evicted.
func checkAlerts(ctx context.Context, firing func(context.Context) ([]string, error)) *plan.Reason {
	names, err := firing(ctx)
	switch {
	case ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop while it asked for firing alerts"}
	case err != nil:
		return &plan.Reason{Code: plan.AlertsUnknown,
			Message: "Prometheus does not report whether alerts of evictor.breaker.prometheusAlerts are firing: " + err.Error()}
	case len(names) == 0:
		return nil
	}
	shown, more := names[:min(len(names), maxShownAlerts)], ""
	if n := len(names) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return &plan.Reason{Code: plan.AlertFiring, Message: fmt.Sprintf("%s of evictor.breaker.prometheusAlerts %s firing (%s%s)",
		plural.Count(len(names), "alert"), plural.Choose(len(names), "is", "are"), strings.Join(shown, ", "), more)}
}
