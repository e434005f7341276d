package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/config"
)

func TestWarnsOfWindowsThatLeaveNoTime(t *testing.T) {
	for windows, want := range map[string]string{
		"": "",
		"allow: [{schedule: \"0 2 * * *\", duration: 1h}]":                                                     "",
		"allow: [{schedule: \"0 2 * * *\", duration: 1h}], deny: [{schedule: \"0 2 * * *\", duration: 30m}]":   "",
		"allow: [{schedule: \"0 2 * * *\", duration: 1h}], deny: [{schedule: \"0 2 * * *\", duration: 2h}]":    "outside of the deny windows within a year",
		"deny: [{schedule: \"0 0 * * *\", duration: 24h}]":                                                     "the deny windows leave no time within a year",
		"allow: [{schedule: \"0 2 29 2 *\", duration: 1h}]":                                                    "no allow window opens within a year",
		"allow: [{schedule: \"0 2 * * *\", duration: 1h}], deny: [{schedule: \"0 0 * * 1-6\", duration: 24h}]": "",
	} {
		c, err := config.Load("c.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies: []\nwindows: {"+windows+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(c.Warnings(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)), "; ")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", windows, got, want)
		}
	}
}
