package descheduler

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// conversion collects the parts of the configuration, the notes and the errors.
type conversion struct {
	*document
	options    Options
	profiles   []*profileModel
	strategies []*strategy
	guards     guardSet // that all profiles have in common
	load       loadSource
	limits     []entry
	timing     timing
	// sectionNotes are the notes about the whole policy, by the key of the configuration at which they are written.
	sectionNotes map[string][]Note
	notes        []Note
}

// entry is a key with its value as YAML.
type entry struct{ key, value string }

func newConversion(doc *document, o Options) *conversion {
	return &conversion{document: doc, options: o, sectionNotes: map[string][]Note{}}
}

// convertPolicy converts the decoded document.
func (c *conversion) convertPolicy() {
	c.timing = c.readTiming()
	if c.old != nil {
		c.readOldPolicy()
	}
	if c.policy == nil {
		return
	}
	c.checkTopLevel()
	if c.old == nil {
		c.readProfiles()
	}
	if len(c.d.Errors()) > 0 {
		return
	}
	c.shareGuards()
	for _, p := range c.profiles {
		for _, use := range p.uses {
			c.convertPlugin(p, use)
		}
	}
	c.chooseLoadSource()
}

// note records what differs for a setting of the whole policy or of a profile. section is the key of the configuration
// at which the comment is written.
func (c *conversion) note(section string, n Note) {
	c.sectionNotes[section] = append(c.sectionNotes[section], n)
	c.notes = append(c.notes, n)
}

// fail adds an error about a field. path is relative to the policy.
func (c *conversion) fail(path, format string, args ...any) {
	c.d.Errorf(c.policyPath+path, format, args...)
}

// err returns all errors, ordered by line. Each names the profile and the plugin instead of their indexes.
func (c *conversion) err() error {
	found := slices.Clone(c.d.Errors())
	slices.SortStableFunc(found, func(a, b strictError) int { return a.Line - b.Line })
	var errs []error
	for _, e := range slices.Compact(found) {
		errs = append(errs, fmt.Errorf("%s:%d: %s: %s", c.name, e.Line, c.describePath(e.Path), e.Message))
	}
	return errors.Join(errs...)
}

var profilePath = regexp.MustCompile(`^profiles\[(\d+)\](?:\.pluginConfig\[(\d+)\](?:\.args)?)?\.?(.*)$`)

// describePath names the profile and the plugin of a path.
func (c *conversion) describePath(path string) string {
	m := profilePath.FindStringSubmatch(strings.TrimPrefix(path, c.policyPath))
	if m == nil || c.policy == nil {
		return path
	}
	i, err := strconv.Atoi(m[1])
	if err != nil || i >= len(c.policy.Profiles) {
		return path
	}
	p := c.policy.Profiles[i]
	words := []string{"profile " + orIndex(p.Name, i)}
	if j, err := strconv.Atoi(m[2]); err == nil && j < len(p.PluginConfig) {
		words = append(words, orIndex(p.PluginConfig[j].Name, j))
	}
	if m[3] != "" {
		words = append(words, m[3])
	}
	return strings.Join(words, ": ")
}

// orIndex returns the name, or the position in the list for an empty name.
func orIndex(name string, i int) string {
	if name == "" {
		return fmt.Sprintf("number %d", i+1)
	}
	return name
}
