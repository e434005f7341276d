package descheduler_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert/descheduler"
	"github.com/evenkeel-project/evenkeel/internal/golden"
)

// TestConvert converts policies, and compares each configuration with the golden file.
func TestConvert(t *testing.T) {
	golden.Pairs(t, "testdata/config.txtar", func(t *testing.T, given []byte) string {
		r, err := descheduler.Convert(given, descheduler.Options{File: "dir/policy.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load("converted", []byte(r.Config)); err != nil {
			t.Errorf("the converted configuration is not valid: %v\n%s", err, r.Config)
		}
		return r.Config
	})
}

// TestMistakes converts policies that cannot be kept, and compares the complete error.
func TestMistakes(t *testing.T) {
	golden.Pairs(t, "testdata/mistakes.txtar", func(t *testing.T, given []byte) string {
		_, err := descheduler.Convert(given, descheduler.Options{})
		return golden.ErrorText(t, err)
	})
}
