package settings

import "time"

// WindowLimits are the limits of one allow window. A limit that the window does not set is unlimited.
type WindowLimits struct {
	// Key is the configuration key of the window's limits, such as windows.allow[0].limits.
	Key string
	Limits
}

// OpenWindowLimits returns the limits of the allow windows that are open, if every open one has limits. Otherwise it
// returns none: the limits of the configuration alone apply.
func (o *Options) OpenWindowLimits(now time.Time) []WindowLimits {
	if len(o.WindowLimits) == 0 {
		return nil
	}
	var out []WindowLimits
	for i, w := range o.Guards.Windows.Allow {
		if !w.Open(now) {
			continue
		}
		l, has := o.WindowLimits[i]
		if !has {
			return nil
		}
		out = append(out, l)
	}
	return out
}
