package placement

import (
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// Options say which schedulers place the cluster's pods.
type Options struct {
	// Profiles by schedulerName. default-scheduler has DefaultProfile unless it
	// is named here; nothing is foretold for pods of any other scheduler.
	Profiles map[string]scheduler.Profile
	// GracePeriodSeconds is what evictions ask for instead of the pods' own; nil:
	// the pods' own.
	GracePeriodSeconds *int64
}
