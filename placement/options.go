package placement

import (
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// Options describe the schedulers that place the cluster's pods.
type Options struct {
	// Profiles are the schedulers' profiles by schedulerName. Without an entry,
	// default-scheduler has DefaultProfile. Pods of other schedulers without an entry
	// are not supported.
	Profiles map[string]scheduler.Profile
	// GracePeriodSeconds is the grace period that evictions request; nil: each pod's own.
	GracePeriodSeconds *int64
}
