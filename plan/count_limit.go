package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// CountLimit is a limit on a count: a number, a percentage of a total, or unlimited. The zero value is a limit of 0.
type CountLimit struct {
	n         int
	percent   bool
	unlimited bool
}

// Absolute returns a limit of n.
func Absolute(n int) CountLimit { return CountLimit{n: n} }

// Percent returns a limit of p percent of the total.
func Percent(p int) CountLimit { return CountLimit{n: p, percent: true} }

// Unlimited returns a CountLimit without a limit.
func Unlimited() CountLimit { return CountLimit{unlimited: true} }

// ParseCountLimit parses "5", "20%" or "unlimited".
func ParseCountLimit(s string) (CountLimit, error) {
	if s == "unlimited" {
		return Unlimited(), nil
	}
	num, percent := strings.CutSuffix(s, "%")
	n, err := strconv.Atoi(num)
	switch {
	case err != nil || strings.HasPrefix(num, "+"):
		return CountLimit{}, fmt.Errorf("%q is not a count (want a number such as 5, a share such as 20%%, or unlimited)", s)
	case n < 0:
		return CountLimit{}, fmt.Errorf("%q is negative (want 0 or more)", s)
	case percent && n > 100:
		return CountLimit{}, fmt.Errorf("%q is above 100%% (want at most 100%%)", s)
	}
	return CountLimit{n: n, percent: percent}, nil
}

// For returns the limit for a total. A percentage above 0 is rounded down to at least 1, because otherwise the pods of
// small workloads could never move.
func (c CountLimit) For(total int) int {
	switch {
	case c.unlimited:
		return math.MaxInt
	case !c.percent || c.n == 0:
		return c.n
	}
	return max(1, total*c.n/100)
}

// String returns the form that ParseCountLimit parses.
func (c CountLimit) String() string {
	switch {
	case c.unlimited:
		return "unlimited"
	case c.percent:
		return strconv.Itoa(c.n) + "%"
	}
	return strconv.Itoa(c.n)
}

// MarshalJSON writes a number, or a string for percentages and unlimited.
func (c CountLimit) MarshalJSON() ([]byte, error) {
	if !c.unlimited && !c.percent {
		return json.Marshal(c.n)
	}
	return json.Marshal(c.String())
}

// UnmarshalJSON reads a number or a string.
func (c *CountLimit) UnmarshalJSON(b []byte) (err error) {
	s := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
	}
	*c, err = ParseCountLimit(s)
	return err
}
