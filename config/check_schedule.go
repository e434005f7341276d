package config

import (
	"time"

	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/strict"
)

// Bounds of onNodeReady.
const minOnNodeReady, maxOnNodeReady = Duration(time.Second), Duration(24 * time.Hour)

// checkStrategySchedule checks and sets when the strategy runs. loc is the time zone. It returns false if the
// schedule is missing or invalid.
func checkStrategySchedule(d *strict.Decoder, path string, s Strategy, loc *time.Location, built *schedule.Strategy) bool {
	if d.Has(path+".onNodeReady") && (s.OnNodeReady < minOnNodeReady || s.OnNodeReady > maxOnNodeReady) {
		d.Errorf(path+".onNodeReady", "%s is out of range (want %s to %s: how long after a node became Ready the strategy runs)", s.OnNodeReady,
			minOnNodeReady, maxOnNodeReady)
	}
	built.OnNodeReady = time.Duration(s.OnNodeReady)
	var err error
	switch {
	case s.Schedule != "":
		if built.Firings, err = cron.Parse(s.Schedule, loc); err != nil {
			d.Errorf(path+".schedule", "%v", err)
		}
	case s.OnNodeReady == 0:
		d.Errorf(path+".schedule", "is missing (want a cron expression, such as \"0 * * * *\")")
	}
	return err == nil && (s.Schedule != "" || s.OnNodeReady > 0)
}
