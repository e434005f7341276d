package annotation

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/schedule"
)

// maxWindows bounds what one annotation can ask for.
const maxWindows = 20

// windows reads allow windows, separated by semicolons.
func windows(text string, loc *time.Location) (schedule.Windows, error) {
	parts := strings.Split(text, ";")
	if len(parts) > maxWindows {
		return schedule.Windows{}, fmt.Errorf("more than %d windows", maxWindows)
	}
	var w schedule.Windows
	for _, part := range parts {
		one, err := schedule.ParseWindow(strings.TrimSpace(part), loc)
		if err != nil {
			return schedule.Windows{}, err
		}
		w.Allow = append(w.Allow, one)
	}
	return w, nil
}
