package argument

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/report"
)

// Format parses the flag --output.
func Format(text string) (report.Format, error) {
	format, err := report.ParseFormat(text)
	if err != nil {
		return "", fmt.Errorf("--output: %w", err)
	}
	return format, nil
}
