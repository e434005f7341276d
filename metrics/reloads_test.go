package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/evenkeel-project/evenkeel/metrics"
)

func TestReloadsAreCounted(t *testing.T) {
	m := metrics.New("v1", "one")
	m.WatchStarted(metrics.ConfigFiles, time.Unix(1000, 0))
	m.WatchStarted(metrics.CredentialFiles, time.Unix(1000, 0))
	m.ReloadSucceeded(metrics.ConfigFiles, time.Unix(2000, 0))
	m.SetConfigHash("two")
	m.ReloadRefused(metrics.ConfigFiles)
	m.ReloadRefused(metrics.CredentialFiles)
	m.ReloadSucceeded(metrics.CredentialFiles, time.Unix(3000, 0))
	want := `
# HELP evenkeel_build_info 1, with the version and the configuration hash as labels.
# TYPE evenkeel_build_info gauge
evenkeel_build_info{config_hash="two",version="v1"} 1
# HELP evenkeel_last_reload_success_timestamp_seconds Unix time of the last successful reload, or of the start of the program before the first reload.
# TYPE evenkeel_last_reload_success_timestamp_seconds gauge
evenkeel_last_reload_success_timestamp_seconds{files="config"} 2000
evenkeel_last_reload_success_timestamp_seconds{files="credentials"} 3000
# HELP evenkeel_last_reload_successful 1 if the newest content is in effect, 0 if it was refused.
# TYPE evenkeel_last_reload_successful gauge
evenkeel_last_reload_successful{files="config"} 0
evenkeel_last_reload_successful{files="credentials"} 1
# HELP evenkeel_reloads_total File changes that the program saw while it ran, by result (taken: the new content is in effect, refused: it is invalid).
# TYPE evenkeel_reloads_total counter
evenkeel_reloads_total{files="config",result="refused"} 1
evenkeel_reloads_total{files="config",result="taken"} 1
evenkeel_reloads_total{files="credentials",result="refused"} 1
evenkeel_reloads_total{files="credentials",result="taken"} 1
`
	if err := testutil.GatherAndCompare(m.Registry, strings.NewReader(want), "evenkeel_build_info",
		"evenkeel_last_reload_success_timestamp_seconds", "evenkeel_last_reload_successful", "evenkeel_reloads_total"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(m.Registry); err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
}
