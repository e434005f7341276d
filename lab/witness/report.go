package witness

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

// Report is a RunReport as far as it is checked.
type Report struct {
	// User is the one whose process wrote it.
	User              string `json:"-"`
	RunID             string `json:"runID"`
	Started, Finished time.Time
	Outcomes          []Outcome
	// Recovery is set where a process reports the run of another.
	Recovery *struct{ Holder string }
	Stopped  *struct{ Code, Message string }
}

// Outcome is what a report says about one pod.
type Outcome struct {
	Pod     struct{ Namespace, Name, UID string }
	Outcome string
	Reason  struct{ Code, Message string }
}

// ReadReports reads what a process wrote to its standard output. A document that
// is cut off at the end belongs to a process that was killed; whole says whether
// there is none.
func ReadReports(user, out string) (reports []Report, whole bool, err error) {
	d := json.NewDecoder(strings.NewReader(out))
	for {
		var r Report
		err := d.Decode(&r)
		switch {
		case errors.Is(err, io.EOF):
			return reports, true, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return reports, false, nil
		case err != nil:
			return reports, false, err
		}
		r.User = user
		reports = append(reports, r)
	}
}
