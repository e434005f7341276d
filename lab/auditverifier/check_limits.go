package auditverifier

import (
	"slices"
	"strconv"
	"time"
)

// checkLimits counts the evictions of each pass, hour and minute.
func (c Evidence) checkLimits(done []*completedEviction) []Violation {
	done = slices.Clone(done)
	slices.SortStableFunc(done, func(a, b *completedEviction) int { return a.At.Compare(b.At) })
	out := c.checkPerPass(done)
	out = append(out, c.checkPerHour(done)...)
	return append(out, c.checkPace(done)...)
}

// checkPerPass counts the evictions of each pass.
func (c Evidence) checkPerPass(done []*completedEviction) []Violation {
	var out []Violation
	counts := map[string]int{}
	for _, e := range done {
		pass := c.passKey(e)
		for _, x := range []struct {
			name, at string
			limit    int
		}{
			{"perPass", "the cluster", c.Rules.PerPass}, {"perNode", e.pod.Node, c.Rules.PerNode},
			{"perNamespace", e.Namespace, c.Rules.PerNamespace},
			{"perOwner", e.pod.workloadKey(), c.Rules.PerOwner}, {"perZone", e.zone, c.Rules.PerZone},
		} {
			key := pass + " " + x.name + " " + x.at
			if counts[key]++; x.limit > 0 && counts[key] == x.limit+1 {
				out = append(out, newViolation(LimitExceeded, e.At, e.User,
					"limits.%s: more than %d evictions in one pass for %s", x.name, x.limit, x.at))
			}
		}
	}
	return out
}

// passKey returns a key that all evictions of one pass share. All evictions after the last report of a process count as
// one pass, such as the pass in which the process was killed.
func (c Evidence) passKey(e *completedEviction) string {
	if c.Rules.OnePass {
		return e.User
	}
	n := 0
	for _, r := range c.Reports {
		if r.User == e.User && r.Recovered == "" && r.Finished.Before(e.At) { // a recovery does not end a pass of this process
			n++
		}
	}
	return e.User + "#" + strconv.Itoa(n)
}

// checkPerHour counts the evictions of all processes in a sliding hour.
func (c Evidence) checkPerHour(done []*completedEviction) []Violation {
	var out []Violation
	for _, x := range []struct {
		name  string
		limit int
		key   func(*completedEviction) string
	}{
		{"cluster", c.Rules.HourCluster, func(*completedEviction) string { return "the cluster" }},
		{"namespace", c.Rules.HourNamespace, func(e *completedEviction) string { return e.Namespace }},
		{"owner", c.Rules.HourOwner, func(e *completedEviction) string { return e.pod.workloadKey() }},
	} {
		times := map[string][]time.Time{}
		for _, e := range done {
			k := x.key(e)
			times[k] = append(times[k], e.At)
			if n := countWithin(times[k], time.Hour); x.limit > 0 && n > x.limit {
				out = append(out, newViolation(LimitExceeded, e.At, e.User,
					"limits.perHour.%s: %d evictions within an hour for %s; the limit is %d", x.name, n, k, x.limit))
			}
		}
	}
	return out
}

// countWithin counts the times that are less than span before the last time.
func countWithin(times []time.Time, span time.Duration) int {
	n := 0
	for _, t := range slices.Backward(times) {
		if times[len(times)-1].Sub(t) >= span {
			break
		}
		n++
	}
	return n
}

// checkPace checks that k evictions of one process take at least k-1 intervals, minus the allowed delay of requests.
// All processes together must also stay within the limit per minute.
func (c Evidence) checkPace(done []*completedEviction) []Violation {
	if c.Rules.PerMinute == 0 {
		return nil
	}
	interval := time.Minute / time.Duration(c.Rules.PerMinute)
	var out []Violation
	byUser, all := map[string][]*completedEviction{}, []time.Time{}
	for _, e := range done {
		for i, first := range byUser[e.User] {
			if k := len(byUser[e.User]) - i; e.At.Sub(first.At) < time.Duration(k)*interval-c.Rules.Slack {
				out = append(out, newViolation(LimitExceeded, e.At, e.User,
					"perMinute: %d evictions within %s", k+1, e.At.Sub(first.At).Round(time.Millisecond)))
				break
			}
		}
		byUser[e.User] = append(byUser[e.User], e)
		all = append(all, e.At)
		if n := countWithin(all, time.Minute-c.Rules.Slack-interval); n > c.Rules.PerMinute {
			out = append(out, newViolation(LimitExceeded, e.At, e.User, "perMinute: %d evictions of all processes within a minute", n))
		}
	}
	return out
}
