package usagestack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/freeport"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// ScrapeInterval is the scrape interval of Prometheus.
const ScrapeInterval = 5 * time.Second

func (b *Stack) startPushgateway(ctx context.Context, path string) error {
	address, err := b.startListening(ctx, "pushgateway", "/-/ready", path)
	b.Pushgateway = "http://" + address
	return err
}

func (b *Stack) startNodeExporter(ctx context.Context, path string) error {
	address, err := b.startListening(ctx, "node-exporter", "/", path,
		"--collector.disable-defaults", "--collector.cpu", "--collector.meminfo")
	b.NodeExporter = address
	return err
}

// startListening runs a program of the Prometheus project on a free port and waits until it answers.
func (b *Stack) startListening(ctx context.Context, name, ready, path string, args ...string) (address string, err error) {
	port, err := freeport.Get()
	if err != nil {
		return "", err
	}
	address = fmt.Sprintf("127.0.0.1:%d", port)
	if _, err := b.Spawn(name, append([]string{path, "--web.listen-address=" + address}, args...)...); err != nil {
		return "", err
	}
	return address, seed.WaitUntil(ctx, startTimeout, func() (bool, error) {
		_, err := sendHTTP(ctx, http.MethodGet, "http://"+address+ready, nil)
		return err == nil, err
	})
}

// scrapeConfig makes Prometheus scrape every simulated node under the node's name, the Pushgateway with the job and
// instance that it serves, the node_exporter under its address, and the exporters of tests with the labels that they
// serve.
const scrapeConfig = `global: {scrape_interval: %[1]s, scrape_timeout: %[1]s, evaluation_interval: %[1]s}
scrape_configs:
- job_name: kubelet
  http_sd_configs: [{url: "http://127.0.0.1:%[2]d/discovery/prometheus", refresh_interval: 5s}]
  relabel_configs:
  - {source_labels: [__metrics_path__], regex: "/metrics/nodes/([^/]+)/metrics/resource", target_label: instance}
- job_name: pushgateway
  honor_labels: true
  static_configs: [{targets: [%[3]q]}]
- job_name: node
  static_configs: [{targets: [%[4]q]}]
- job_name: exporters
  honor_labels: true
  file_sd_configs: [{files: [%[5]q], refresh_interval: 5s}]
rule_files: [alerts.yml]
`

// alertRules define the alert LabAlert, which fires for each instance that pushes lab_alert 1.
const alertRules = "groups: [{name: lab, rules: [{alert: LabAlert, expr: lab_alert == 1}]}]\n"

func (b *Stack) startPrometheus(ctx context.Context, path string) error {
	pushgateway := strings.TrimPrefix(b.Pushgateway, "http://")
	conf, err1 := b.writeFile("prometheus.yml", fmt.Appendf(nil, scrapeConfig, ScrapeInterval, b.KwokPort(), pushgateway, b.NodeExporter,
		filepath.Join(b.dir, exportersFile)))
	_, err2 := b.writeFile("alerts.yml", []byte(alertRules))
	data := filepath.Join(b.dir, "prometheus")
	if err := errors.Join(err1, err2, os.MkdirAll(data, 0o700)); err != nil {
		return err
	}
	address, err := b.startListening(ctx, "prometheus", "/-/ready", path,
		"--config.file="+conf, "--storage.tsdb.path="+data, "--log.level=warn")
	b.Prometheus = "http://" + address
	return err
}

// exportersFile lists the exporters of tests.
const exportersFile = "exporters.json"

// ScrapeExporter makes Prometheus scrape an exporter at an address (host:port), instead of the one before. Its series
// get the labels, which may be nil.
func (b *Stack) ScrapeExporter(address string, labels map[string]string) error {
	text, err := json.Marshal([]any{map[string]any{"targets": []string{address}, "labels": labels}})
	if err != nil {
		return err
	}
	_, err = b.writeFile(exportersFile, text)
	return err
}

// PushMetric sends one metric of a node to the Pushgateway.
func (b *Stack) PushMetric(ctx context.Context, job, instance, metric string, value float64) error {
	_, err := sendHTTP(ctx, http.MethodPut, fmt.Sprintf("%s/metrics/job/%s/instance/%s", b.Pushgateway, job, instance),
		fmt.Appendf(nil, "# TYPE %s gauge\n%s %g\n", metric, metric, value))
	return err
}

// DeletePushed removes the metrics that were pushed for a job and an instance.
func (b *Stack) DeletePushed(ctx context.Context, job, instance string) error {
	_, err := sendHTTP(ctx, http.MethodDelete, fmt.Sprintf("%s/metrics/job/%s/instance/%s", b.Pushgateway, job, instance), nil)
	return err
}

// Sample is one element of the result of a query.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Query runs an instant query on Prometheus. The result is keyed by the label instance.
func (b *Stack) Query(ctx context.Context, promql string) (map[string]float64, error) {
	samples, err := b.Samples(ctx, promql)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, s := range samples {
		out[s.Labels["instance"]] = s.Value
	}
	return out, nil
}

// Samples runs an instant query on Prometheus that results in a vector.
func (b *Stack) Samples(ctx context.Context, promql string) ([]Sample, error) {
	body, err := sendHTTP(ctx, http.MethodGet, b.Prometheus+"/api/v1/query?query="+url.QueryEscape(promql), nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var out []Sample
	for _, r := range answer.Data.Result {
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, Sample{r.Metric, v})
	}
	return out, nil
}

func sendHTTP(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s: %s", url, r.Status, data)
	}
	return data, err
}
