package config

import (
	"time"

	"github.com/evenkeel-project/evenkeel/schedule"
)

// Warnings are what a checked configuration says that makes little sense, as
// seen from now.
func (c *Config) Warnings(now time.Time) []string {
	var out []string
	if w := c.windows(); !schedule.Ever(now, w) {
		what := "no allow window is ever open outside of the deny windows"
		switch {
		case len(w.Deny) == 0:
			what = "no allow window opens"
		case len(w.Allow) == 0:
			what = "the deny windows leave no time"
		}
		out = append(out, "windows: "+what+" within a year: nothing would be evicted")
	}
	return out
}
