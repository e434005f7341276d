package descheduler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/config"
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
	if c.values != nil {
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
		return t
	}
	interval := cmp.Or(c.text("deschedulingInterval"), "5m")
	d, err := time.ParseDuration(interval)
	if err != nil || d < 0 {
		c.d.Errorf("deschedulingInterval", "%q is not a duration (want one such as 5m)", interval)
		return t
	}
	var exact bool
	if t.schedule, exact = cronOf(d); !exact {
		t.remark = fmt.Sprintf("deschedulingInterval: %s has no exact schedule, because Evenkeel starts at most one pass a minute, at a full minute.", interval)
	}
	return t
}

// text returns a value of the chart as text, or "".
func (c *conversion) text(key string) string {
	var s string
	if raw := c.values[key]; raw != nil && json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// cronOf returns the schedule with an interval. exact is false if the interval has no such schedule.
func cronOf(d time.Duration) (schedule string, exact bool) {
	minutes := int(d.Round(time.Minute) / time.Minute)
	exact = d > 0 && d%time.Minute == 0
	minutes = max(minutes, 1)
	const hour, day = 60, 24 * 60
	switch {
	case minutes == 1:
		return "* * * * *", exact
	case minutes < hour && hour%minutes == 0:
		return fmt.Sprintf("*/%d * * * *", minutes), exact
	case minutes == hour:
		return "0 * * * *", exact
	case minutes == day:
		return "0 0 * * *", exact
	case minutes < day && minutes%hour == 0 && day%minutes == 0:
		return fmt.Sprintf("0 */%d * * *", minutes/hour), exact
	}
	return "@every " + config.Duration(time.Duration(minutes)*time.Minute).String(), exact
}
