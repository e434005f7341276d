package annotation

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// maxWindows bounds what one annotation can ask for.
const maxWindows = 20

// parseWindows reads allow windows, separated by semicolons.
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
