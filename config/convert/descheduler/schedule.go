package descheduler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// timing is the schedule of all strategies.
type timing struct {
	schedule, timeZone string
	remark             string // where the schedule comes from
}

const defaultSchedule = "*/5 * * * *"

// readTiming takes the schedule from the options, or from the values of the chart.
func (c *conversion) readTiming() timing {
	t := timing{schedule: defaultSchedule, timeZone: "Etc/UTC",
		remark: "The policy does not say how often the descheduler runs. The schedule below is every five minutes; --schedule sets another one."}
	if c.doc.values != nil {
		t = c.timingOfValues()
	}
	if c.options.Schedule != "" {
		t.schedule, t.remark = c.options.Schedule, ""
	}
	return t
}

// timingOfValues reads schedule and timeZone of a CronJob, or deschedulingInterval of a Deployment.
func (c *conversion) timingOfValues() timing {
	t := timing{schedule: "*/2 * * * *", timeZone: "Etc/UTC"} // the defaults of the chart
	if c.text("kind") != "Deployment" {
		t.schedule = cmp.Or(c.text("schedule"), t.schedule)
		t.timeZone = cmp.Or(c.text("timeZone"), t.timeZone)
		c.checkSchedule(t)
		return t
	}
	interval := cmp.Or(c.text("deschedulingInterval"), "5m")
	d, err := time.ParseDuration(interval)
	if err != nil || d < 0 {
		c.doc.d.Errorf("deschedulingInterval", "%q is not a duration (want one such as 5m)", interval)
		return t
	}
	var exact bool
	if t.schedule, exact = cronOf(d); !exact && c.options.Schedule == "" {
		c.findings.note("strategies", Note{Field: "deschedulingInterval",
			Text: interval + " does not divide an hour or a day evenly, so the schedule has the next longer interval, at most a day"})
	}
	return t
}

// checkSchedule checks the values schedule and timeZone of the chart.
func (c *conversion) checkSchedule(t timing) {
	zone, err := cron.LoadZone(t.timeZone)
	if err != nil {
		c.doc.d.Errorf("timeZone", "%v", err)
		zone = time.UTC
	}
	if _, err := cron.Parse(t.schedule, zone); err != nil {
		c.doc.d.Errorf("schedule", "%v", err)
	}
}

// text returns a value of the chart as text, or "".
func (c *conversion) text(key string) string {
	var s string
	if raw := c.doc.values[key]; raw != nil && json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// evenMinutes and evenHours are the intervals that divide an hour or a day, so a cron expression can have them.
var (
	evenMinutes = []int{1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30}
	evenHours   = []int{1, 2, 3, 4, 6, 8, 12}
)

// cronOf returns the schedule with an interval. exact is false if no schedule has it; then the next longer one counts,
// up to a day.
func cronOf(d time.Duration) (schedule string, exact bool) {
	for _, n := range evenMinutes {
		if step := time.Duration(n) * time.Minute; d <= step {
			return every(n) + " * * * *", d == step
		}
	}
	for _, n := range evenHours {
		if step := time.Duration(n) * time.Hour; d <= step {
			return "0 " + every(n) + " * * *", d == step
		}
	}
	return "0 0 * * *", d == 24*time.Hour
}

// every returns the field of a cron expression that fires at every n-th value.
func every(n int) string {
	if n == 1 {
		return "*"
	}
	return fmt.Sprintf("*/%d", n)
}
