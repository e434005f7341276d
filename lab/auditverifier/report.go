package auditverifier

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

// Report holds the fields of a RunReport that the verifier checks.
type Report struct {
	// User is the user of the process that wrote the report.
	User              string `json:"-"`
	RunID             string `json:"runID"`
	Started, Finished time.Time
	Outcomes          []Outcome
	// Recovery is set if the process reports the run of another process.
	Recovery *struct{ Holder string }
	Stopped  *struct{ Code, Message string }
}

// Outcome is the reported outcome for one pod.
type Outcome struct {
	Pod     struct{ Namespace, Name, UID string }
	Outcome string
	Reason  struct{ Code, Message string }
}

// ReadReports reads the reports that a process wrote to its standard output. whole is false if the last report is
// incomplete because the process was killed.
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
