// Package commandline reads what a person types and shows help. It checks arguments and reads the files that they name,
// prints the help of commands as kubectl does, also for a plugin of kubectl, and finds out what an output can show.
//
// The package decides which arguments are valid, and under which name a command is shown. It never runs a command.
package commandline

import (
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/evenkeel-project/evenkeel/report"
)

// MaxFileBytes is the largest file that a conversion reads. Typical files have a few kilobytes.
const MaxFileBytes = 1 << 20

// ReadFile reads a file, or standard input for the path "-". It fails above limit bytes. name describes the
// input.
func ReadFile(path string, stdin io.Reader, limit int64) (name string, data []byte, err error) {
	name, in := "standard input", stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return path, nil, err
		}
		defer f.Close()
		name, in = path, f
	}
	data, err = io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d MiB", name, limit>>20)
	}
	return name, data, err
}

// CheckHTTPURL returns an error if text is not the URL of an HTTP server without credentials and parameters.
func CheckHTTPURL(flag, text, example string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("--%s: %q is not a URL (want one such as %s)", flag, text, example)
	case u.User != nil:
		return fmt.Errorf("--%s: contains a user or a password (want one such as %s, and a tokenFile)", flag, example)
	case u.RawQuery != "":
		return fmt.Errorf("--%s: %q has parameters, which requests would lose, because Evenkeel appends its own path and parameters (want one such as %s)",
			flag, text, example)
	}
	return nil
}

// ParseFormat parses the flag --output.
func ParseFormat(text string) (report.Format, error) {
	format, err := report.ParseFormat(text)
	if err != nil {
		return "", fmt.Errorf("--output: %w", err)
	}
	return format, nil
}
