package controller_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
)

// uniqueKeys is a slog.Handler that fails the test if a line has a key twice, or one of the keys of every line. Readers
// of JSON lines keep only one of the values.
type uniqueKeys struct {
	t    *testing.T
	keys []string
}

func (uniqueKeys) Enabled(context.Context, slog.Level) bool { return true }

func (h uniqueKeys) Handle(_ context.Context, r slog.Record) error {
	seen := append([]string{slog.TimeKey, slog.LevelKey, slog.MessageKey}, h.keys...)
	r.Attrs(func(a slog.Attr) bool {
		if slices.Contains(seen, a.Key) {
			h.t.Errorf("the log line %q has the key %s twice", r.Message, a.Key)
		}
		seen = append(seen, a.Key)
		return true
	})
	return nil
}

func (h uniqueKeys) WithAttrs(more []slog.Attr) slog.Handler {
	h.keys = slices.Clone(h.keys)
	for _, a := range more {
		if slices.Contains(h.keys, a.Key) {
			h.t.Errorf("a logger has the key %s twice", a.Key)
		}
		h.keys = append(h.keys, a.Key)
	}
	return h
}

func (h uniqueKeys) WithGroup(string) slog.Handler { return h }
