// Package descheduler converts the policy of kubernetes-sigs/descheduler, or the values of its Helm chart, to a
// configuration of Evenkeel.
//
// The package decides which setting of Evenkeel replaces each setting of the descheduler. A setting without an exact
// counterpart becomes a comment, and a setting that cannot be kept becomes an error. It never reads a cluster.
package descheduler

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/config"
)

// Options are settings that the converted file does not contain.
type Options struct {
	// File is the name of the file in errors and comments. The default is policy.yaml.
	File string
	// Schedule is the cron schedule of all strategies. If it is empty, the schedule or the interval in the values of
	// the chart counts, and without them every five minutes.
	Schedule string
}

// Result is a converted policy.
type Result struct {
	// Config is the text of a config.yaml.
	Config string
	// Values are values of Evenkeel's chart, with the same configuration.
	Values string
	// Notes are the settings of the policy without an exact counterpart. Each is a comment in Config and in Values.
	Notes []Note
	// ChartNotes are the values of the descheduler's chart without an exact counterpart. Each is a comment in Values.
	ChartNotes []Note
}

// Note says what differs from one setting of the descheduler. Profile and Plugin are empty for settings of the whole
// policy, and Field is empty for a plugin as a whole.
type Note struct {
	Profile, Plugin, Field, Text string
}

// Convert converts a DeschedulerPolicy (v1alpha2 or v1alpha1), a ConfigMap that contains one, or the values of the
// chart. The error lists every setting that cannot be kept, with its line, profile and field.
func Convert(data []byte, o Options) (*Result, error) {
	doc, err := readDocument(data, o)
	if err != nil {
		return nil, err
	}
	c := newConversion(doc, o)
	c.convertPolicy()
	if err := c.findings.err(); err != nil {
		return nil, err
	}
	r := &Result{Config: configText(c), Notes: c.findings.notes}
	r.Values, r.ChartNotes = valuesText(c)
	if _, err := config.Load(convertedName, []byte(r.Config)); err != nil {
		return nil, c.nameProfiles(err)
	}
	return r, nil
}

// convertedName is the name of the converted configuration in errors.
const convertedName = "the converted configuration"

var strategyPath = regexp.MustCompile(`:\d+: strategies\.([^.: ]+)\.(\S*): `)

// nameProfiles names the profile and the plugin in errors of the converted configuration.
func (c *conversion) nameProfiles(err error) error {
	text := strategyPath.ReplaceAllStringFunc(err.Error(), func(place string) string {
		m := strategyPath.FindStringSubmatch(place)
		i := slices.IndexFunc(c.strategies, func(s *strategy) bool { return s.name == m[1] })
		if i < 0 {
			return place
		}
		s := c.strategies[i]
		return fmt.Sprintf(": profile %s: %s: %s of %s: ", s.profile.name, s.plugin, m[2], s.kind)
	})
	text = strings.ReplaceAll(text, convertedName+": profile ", c.doc.name+": profile ")
	return errors.New(text)
}
