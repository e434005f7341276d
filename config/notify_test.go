package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/controller/notify/message"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func loadNotify(t *testing.T, receivers string) *config.Config {
	t.Helper()
	c := must.Get(config.Load("config.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies: {}\n"+receivers)))(t)
	return c
}

func TestNotifyReceivers(t *testing.T) {
	c := loadNotify(t, "notify:\n- {name: ops, format: teams, urlFile: /s/url}\n"+
		"- {name: hook, format: json, url: \"https://a/b\", tokenFile: /s/t, caFile: /s/ca, events: [trustLost]}\n")
	want := []notify.Receiver{{Name: "ops", Format: message.Teams, URLFile: "/s/url", Timeout: 10 * time.Second},
		{Name: "hook", Format: message.JSON, URL: "https://a/b", TokenFile: "/s/t", CAFile: "/s/ca", Timeout: 10 * time.Second,
			Events: []message.Event{message.TrustLost}}}
	if d := cmp.Diff(want, c.NotifyReceivers()); d != "" {
		t.Error(d)
	}
	if none := loadNotify(t, "").NotifyReceivers(); none != nil {
		t.Errorf("without notify the receivers are %+v", none)
	}
}

// TestNotifyWarnings checks the warnings about unreadable files and about tokens that are sent unencrypted.
func TestNotifyWarnings(t *testing.T) {
	c := loadNotify(t, "notify:\n- {name: a, format: json, url: \"http://alerts:80\", tokenFile: /no/such/token}\n"+
		"- {name: b, format: slack, urlFile: /no/such/url}\n- {name: c, format: json, url: \"http://localhost:80\"}\n")
	got := strings.Join(c.Warnings(time.Now()), "\n")
	const want = "notify[0].tokenFile: Evenkeel sends the token to an http:// address, unencrypted; use https:// " +
		"(with caFile for a private certificate authority)\n" +
		"config.yaml:5: notify[0].tokenFile: cannot be read here: open /no/such/token: no such file or directory; " +
		"the receiver needs this file where Evenkeel runs\n" +
		"config.yaml:6: notify[1].urlFile: cannot be read here: open /no/such/url: no such file or directory; " +
		"the receiver needs this file where Evenkeel runs"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
