package metrics_test

import (
	"testing"
	"time"

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
	m.RecordCertificate(time.Unix(500, 0), time.Unix(4000, 0))
	compare(t, m, `
evenkeel_certificate_not_before_timestamp_seconds 500

evenkeel_certificate_not_after_timestamp_seconds 4000

evenkeel_config_info{hash="two"} 1

evenkeel_last_reload_success_timestamp_seconds{files="config"} 2000
evenkeel_last_reload_success_timestamp_seconds{files="credentials"} 3000

evenkeel_last_reload_successful{files="config"} 0
evenkeel_last_reload_successful{files="credentials"} 1

evenkeel_reloads_total{files="config",result="refused"} 1
evenkeel_reloads_total{files="config",result="taken"} 1
evenkeel_reloads_total{files="credentials",result="refused"} 1
evenkeel_reloads_total{files="credentials",result="taken"} 1
`)
}
