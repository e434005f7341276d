package annotation

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// maxWindows limits how many windows one annotation can list.
const maxWindows = 20

// parseWindows parses windows that are separated by semicolons.
func parseWindows(text string, loc *time.Location) (cron.Windows, error) {
	parts := strings.Split(text, ";")
	if len(parts) > maxWindows {
		return cron.Windows{}, fmt.Errorf("more than %d windows", maxWindows)
	}
	var w cron.Windows
	for _, part := range parts {
		one, err := cron.ParseWindow(strings.TrimSpace(part), loc)
		if err != nil {
			return cron.Windows{}, err
		}
		w.Allow = append(w.Allow, one)
	}
	return w, nil
}
