package conformance

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"sigs.k8s.io/yaml"
)

// recordedCase is one recorded run of a plugin. testdata/README.md describes the format.
type recordedCase struct {
	// ID is the path of the file relative to its root, without the extension.
	ID string `json:"-"`

	Name        string            `json:"name"`
	Source      string            `json:"source"`
	Now         time.Time         `json:"now"`
	Plugin      pluginConfig      `json:"plugin"`
	Evictor     map[string]any    `json:"evictor"`
	Limits      recordedLimits    `json:"limits"`
	NodesPassed []string          `json:"nodesPassed"`
	Metrics     recordedMetrics   `json:"metrics"`
	Expect      expectation       `json:"expect"`
	Notes       []string          `json:"notes"`
	Objects     []json.RawMessage `json:"objects"`
}

// pluginConfig is a plugin with its arguments, as in pluginConfig of a policy.
type pluginConfig struct {
	Name string         `json:"name"`
	Args map[string]any `json:"args,omitempty"`
}

// recordedLimits are the limits of one cycle; nil means no limit.
type recordedLimits struct {
	Node      *int `json:"node"`
	Namespace *int `json:"namespace"`
	Total     *int `json:"total"`
}

// recordedMetrics is the usage that the plugin read.
type recordedMetrics struct {
	Nodes      []metricsv1beta1.NodeMetrics `json:"nodes"`
	Pods       []metricsv1beta1.PodMetrics  `json:"pods"`
	Prometheus *struct {
		Query   string `json:"query"`
		Samples []struct {
			Metric map[string]string `json:"metric"`
			Value  float64           `json:"value"`
		} `json:"samples"`
	} `json:"prometheus"`
}

// expectation is the recorded result.
type expectation struct {
	Evicted      int      `json:"evicted"`
	Pods         []string `json:"pods"`
	ChoiceVaries bool     `json:"choiceVaries"`
	Refused      []struct {
		Pod   string `json:"pod"`
		Error string `json:"error"`
	} `json:"refused"`
	Error string `json:"error"`
	// Filter is the stage of DefaultEvictor that was asked, and Evictable its answers by pod. They
	// are empty for plugins.
	Filter    string          `json:"filter"`
	Evictable map[string]bool `json:"evictable"`
}

// readCases reads every case below a folder, in the order of the IDs.
func readCases(root string) ([]*recordedCase, error) {
	var cases []*recordedCase
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		id, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		c, err := readCase(path)
		if err != nil {
			return err
		}
		c.ID = strings.TrimSuffix(filepath.ToSlash(id), ".yaml")
		cases = append(cases, c)
		return nil
	})
	slices.SortFunc(cases, func(a, b *recordedCase) int { return strings.Compare(a.ID, b.ID) })
	return cases, err
}

func readCase(path string) (*recordedCase, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &recordedCase{}
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c.Now.IsZero() || c.Plugin.Name == "" || len(c.Objects) == 0 {
		return nil, fmt.Errorf("%s: now, plugin.name or objects is missing", path)
	}
	if e := c.Expect; e.Filter == "" && e.Evicted != len(e.Pods) {
		return nil, fmt.Errorf("%s: expect.evicted is %d, but expect.pods has %d pods", path, e.Evicted, len(e.Pods))
	}
	return c, nil
}

// isGuardCase reports whether the case asks DefaultEvictor about pods and runs no other plugin.
func (c *recordedCase) isGuardCase() bool { return c.Expect.Filter != "" }

// evicted returns the names of the pods that the descheduler evicted, or would let go.
func (c *recordedCase) evicted() []string {
	if !c.isGuardCase() {
		return c.Expect.Pods
	}
	var pods []string
	for pod, evictable := range c.Expect.Evictable {
		if evictable {
			pods = append(pods, pod)
		}
	}
	slices.Sort(pods)
	return pods
}
