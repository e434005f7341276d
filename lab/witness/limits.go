package witness

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// limits counts the evictions of each pass, hour and minute.
func (c Case) limits(done []*carried) []Violation {
	done = slices.Clone(done)
	slices.SortStableFunc(done, func(a, b *carried) int { return a.At.Compare(b.At) })
	out := c.perPass(done)
	out = append(out, c.perHour(done)...)
	return append(out, c.pace(done)...)
}

// perPass counts within each pass.
func (c Case) perPass(done []*carried) []Violation {
	var out []Violation
	counts := map[string]int{}
	for _, e := range done {
		pass := c.passOf(e)
		for _, x := range []struct {
			name, at string
			limit    int
		}{
			{"perPass", "", c.Rules.PerPass}, {"perNode", e.pod.Node, c.Rules.PerNode}, {"perNamespace", e.Namespace, c.Rules.PerNamespace},
			{"perOwner", e.pod.workload(), c.Rules.PerOwner}, {"perZone", e.zone, c.Rules.PerZone},
		} {
			key := pass + " " + x.name + " " + x.at
			if counts[key]++; x.limit > 0 && counts[key] == x.limit+1 {
				out = append(out, Violation{Kind: LimitExceeded, At: e.At, User: e.User, What: fmt.Sprintf("limits.%s: more than %d %s in one pass", x.name, x.limit, x.at)})
			}
		}
	}
	return out
}

// passOf names the pass of an eviction: the process, or the report of that
// process in whose time it falls. What falls into no report, such as the pass in
// which a process was killed, is one pass together with what follows the report
// before.
func (c Case) passOf(e *carried) string {
	if c.Rules.OnePass {
		return e.User
	}
	n := 0
	for _, r := range c.Reports {
		if r.User == e.User && r.Recovery == nil && r.Finished.Before(e.At) { // a recovery ends no pass of its own
			n++
		}
	}
	return e.User + "#" + strconv.Itoa(n)
}

// perHour slides an hour over the evictions of all processes.
func (c Case) perHour(done []*carried) []Violation {
	var out []Violation
	for _, x := range []struct {
		name  string
		limit int
		key   func(*carried) string
	}{
		{"cluster", c.Rules.HourCluster, func(*carried) string { return "" }},
		{"namespace", c.Rules.HourNamespace, func(e *carried) string { return e.Namespace }},
		{"owner", c.Rules.HourOwner, func(e *carried) string { return e.pod.workload() }},
	} {
		times := map[string][]time.Time{}
		for _, e := range done {
			k := x.key(e)
			times[k] = append(times[k], e.At)
			if n := within(times[k], time.Hour); x.limit > 0 && n > x.limit {
				out = append(out, Violation{Kind: LimitExceeded, At: e.At, User: e.User, What: fmt.Sprintf("limits.perHour.%s: %d %s within an hour, %d may be", x.name, n, k, x.limit)})
			}
		}
	}
	return out
}

// within counts the times in the span that ends with the last.
func within(times []time.Time, span time.Duration) int {
	n := 0
	for _, t := range slices.Backward(times) {
		if times[len(times)-1].Sub(t) >= span {
			break
		}
		n++
	}
	return n
}

// pace: k evictions of one process take at least k-1 intervals, but for the time
// that requests spend on their way; and all processes together keep to the number
// per minute.
func (c Case) pace(done []*carried) []Violation {
	if c.Rules.PerMinute == 0 {
		return nil
	}
	interval := time.Minute / time.Duration(c.Rules.PerMinute)
	var out []Violation
	byUser, all := map[string][]*carried{}, []time.Time{}
	for _, e := range done {
		for i, first := range byUser[e.User] {
			if k := len(byUser[e.User]) - i; e.At.Sub(first.At) < time.Duration(k)*interval-c.Rules.Slack {
				out = append(out, Violation{Kind: LimitExceeded, At: e.At, User: e.User, What: fmt.Sprintf("perMinute: %d evictions within %s", k+1, e.At.Sub(first.At).Round(time.Millisecond))})
				break
			}
		}
		byUser[e.User] = append(byUser[e.User], e)
		all = append(all, e.At)
		if n := within(all, time.Minute-c.Rules.Slack-interval); n > c.Rules.PerMinute {
			out = append(out, Violation{Kind: LimitExceeded, At: e.At, User: e.User, What: fmt.Sprintf("perMinute: %d evictions of all processes within a minute", n)})
		}
	}
	return out
}
