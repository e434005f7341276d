package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Count is a limit on a number of pods: a plain number, a share of the pods it
// is about, or no limit at all. The zero Count allows none.
type Count struct {
	n       int
	percent bool
	no      bool // unlimited
}

// Absolute is a limit of n pods.
func Absolute(n int) Count { return Count{n: n} }

// Percent is a limit of p percent of the pods.
func Percent(p int) Count { return Count{n: p, percent: true} }

// Unlimited is no limit.
func Unlimited() Count { return Count{no: true} }

// ParseCount reads "5", "20%" or "unlimited".
func ParseCount(s string) (Count, error) {
	if s == "unlimited" {
		return Unlimited(), nil
	}
	num, percent := strings.CutSuffix(s, "%")
	n, err := strconv.Atoi(num)
	switch {
	case err != nil || strings.HasPrefix(num, "+"):
		return Count{}, fmt.Errorf("%q is not a count (want a number such as 5, a share such as 20%%, or unlimited)", s)
	case n < 0:
		return Count{}, fmt.Errorf("%q is negative (want 0 or more)", s)
	case percent && n > 100:
		return Count{}, fmt.Errorf("%q is more than all (want at most 100%%)", s)
	}
	return Count{n: n, percent: percent}, nil
}

// Of is the limit for a given number of pods. A share is rounded down, but is
// at least 1: small workloads could otherwise never be moved. A share of 0% is 0.
func (c Count) Of(total int) int {
	switch {
	case c.no:
		return math.MaxInt
	case !c.percent || c.n == 0:
		return c.n
	}
	return max(1, total*c.n/100)
}

// String writes the form that ParseCount reads.
func (c Count) String() string {
	switch {
	case c.no:
		return "unlimited"
	case c.percent:
		return strconv.Itoa(c.n) + "%"
	}
	return strconv.Itoa(c.n)
}

// MarshalJSON writes a number, or a string for the other forms.
func (c Count) MarshalJSON() ([]byte, error) {
	if !c.no && !c.percent {
		return json.Marshal(c.n)
	}
	return json.Marshal(c.String())
}

// UnmarshalJSON reads a number or a string.
func (c *Count) UnmarshalJSON(b []byte) error {
	s := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
	}
	parsed, err := ParseCount(s)
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}
