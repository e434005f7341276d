package config

import (
	"fmt"
	"os"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/strategies/nodeload"
	"github.com/evenkeel-project/evenkeel/usage/promql"
)

// hintWarnings tell of rules that nobody goes by, and of queries that leave out the
// nodes of which nothing is to be said: such a node is not known, so that its hint
// stays until it expires.
func (c *Config) hintWarnings() []string {
	if n := len(c.pressureRules); n > 0 && !c.Hints.Enabled {
		what := "the rule there does"
		if n > 1 {
			what = fmt.Sprintf("the %d rules there do", n)
		}
		return []string{"hints.enabled: is false: " + what + " nothing (want hints.enabled: true)"}
	}
	var out []string
	for _, r := range c.Hints.Rules {
		switch {
		case r.Resource == cluster.MemoryAvailable && r.Above != nil:
			out = append(out, fmt.Sprintf("hints: rule %s: memory.available is what is left: above hints the nodes that have room, so that pods avoid them (did you mean below?)", r.Name))
		case (r.Resource == "cpu" || r.Resource == "memory") && r.Below != nil:
			out = append(out, fmt.Sprintf("hints: rule %s: below hints the nodes that use little %s, so that pods avoid them (did you mean above?)", r.Name, r.Resource))
		}
	}
	for _, r := range c.HintRules() {
		if q, err := promql.Parse(r.Query); r.Query != "" && err == nil {
			if by := q.FilteringComparison(); by != "" {
				out = append(out, fmt.Sprintf("hints: rule %s: its query has values only where %s holds, so that the other nodes are unknown and keep the hint until it expires; leave out the comparison, or use bool", r.Name, by))
			}
		}
	}
	return out
}

// unusedSourceWarnings tells of a source that is asked for nobody. Where there are rules of hints
// that are not enabled, hintWarnings says so.
func (c *Config) unusedSourceWarnings() []string {
	if !c.HasUsageSource() || c.Web.Watcher || len(c.pressureRules) > 0 {
		return nil
	}
	for _, s := range c.BuildStrategies() {
		if l, ok := s.Strategy.(*nodeload.Strategy); ok && l.UsesLoad() {
			return nil
		}
	}
	return []string{fmt.Sprintf("load.source: %s is asked, and nothing goes by what it measures: no NodeLoad strategy has basis: load, there are no hints.rules, and web.watcher is false", c.Load.Source)}
}

// secretFile is a file that a source of usage reads, and where it is named.
type secretFile struct{ at, path string }

// recordSecretFiles notes the files of the source that is asked.
func (c *Config) recordSecretFiles(e *decoder) {
	p, w := c.Load.Prometheus, c.Load.LoadWatcher
	c.secretFiles = nil
	note := func(source, field, path string) {
		if path != "" && c.Load.Source == source {
			field = "load." + source + "." + field
			c.secretFiles = append(c.secretFiles, secretFile{fmt.Sprintf("%s:%d: %s", e.file, e.nearestNode(field).Line, field), path})
		}
	}
	note(SourcePrometheus, "tokenFile", p.TokenFile)
	note(SourcePrometheus, "caFile", p.CAFile)
	note(SourcePrometheus, "certFile", p.CertFile)
	note(SourcePrometheus, "keyFile", p.KeyFile)
	note(SourceLoadWatcher, "tokenFile", w.TokenFile)
	note(SourceLoadWatcher, "caFile", w.CAFile)
}

// secretWarnings tell of files that cannot be read here. It is no mistake: a
// configuration is often checked elsewhere than where its secrets are mounted.
func (c *Config) secretWarnings() []string {
	var out []string
	for _, s := range c.secretFiles {
		f, err := os.Open(s.path)
		if err != nil {
			out = append(out, fmt.Sprintf("%s: cannot be read here: %v; where the program runs the source cannot be asked without it", s.at, err))
			continue
		}
		f.Close()
	}
	return out
}
