package descheduler

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/internal/strict"
)

// findings collects the notes and the errors about a document.
type findings struct {
	doc *document
	// sectionNotes are the notes about the whole policy, by the key of the configuration at which they are written.
	sectionNotes map[string][]Note
	notes        []Note
}

// note records what differs for a setting of the whole policy or of a profile. section is the key
// of the configuration at which the comment is written.
func (f *findings) note(section string, n Note) {
	f.sectionNotes[section] = append(f.sectionNotes[section], n)
	f.notes = append(f.notes, n)
}

// fail adds an error about a field. path is relative to the policy.
func (f *findings) fail(path, format string, args ...any) {
	f.doc.d.Errorf(f.doc.policyPath+path, format, args...)
}

// err returns all errors, ordered by line. Each names the profile and the plugin instead of their indexes.
func (f *findings) err() error {
	found := withoutConsequences(f.doc.d)
	slices.SortStableFunc(found, func(a, b strict.Error) int { return a.Line - b.Line })
	var errs []error
	for _, e := range slices.Compact(found) {
		place := f.describePath(e.Path)
		if place != "" {
			place += ": "
		}
		if e.UnknownKey && f.doc.policy != nil && f.doc.values == nil {
			e.Message += "; the descheduler ignores it, so it has no effect (correct or delete it)"
		}
		errs = append(errs, fmt.Errorf("%s:%d: %s%s", f.doc.name, e.Line, place, e.Message))
	}
	return errors.Join(errs...)
}

// withoutConsequences returns the errors of the document. It leaves out findings about a missing key if the object has
// an unknown key: the unknown key is probably the missing key, misspelled.
func withoutConsequences(d *strict.Decoder) []strict.Error {
	parents := map[string]bool{} // of unknown keys
	for _, e := range d.Errors() {
		if e.UnknownKey {
			parents[parentOf(e.Path)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(d.Errors()), func(e strict.Error) bool {
		return !e.UnknownKey && !d.Has(e.Path) && parents[parentOf(e.Path)]
	})
}

// parentOf returns the path of the mapping that contains a key.
func parentOf(path string) string { return path[:max(0, strings.LastIndex(path, "."))] }

var profilePath = regexp.MustCompile(`^profiles\[(\d+)\](?:\.pluginConfig\[(\d+)\](?:\.args)?)?\.?(.*)$`)

// describePath names the profile and the plugin of a path.
func (f *findings) describePath(path string) string {
	m := profilePath.FindStringSubmatch(strings.TrimPrefix(path, f.doc.policyPath))
	if m == nil || f.doc.policy == nil {
		return path
	}
	i, err := strconv.Atoi(m[1])
	if err != nil || i >= len(f.doc.policy.Profiles) {
		return path
	}
	p := f.doc.policy.Profiles[i]
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

// checkNotNegative adds an error about a negative number. path is relative to the policy.
func (f *findings) checkNotNegative(path string, n int) {
	if n < 0 {
		f.fail(path, "%d is negative (want 0 or more)", n)
	}
}

// selector returns a label selector as text. It is empty if it selects everything.
func (f *findings) selector(path string, s *metav1.LabelSelector) string {
	if s == nil {
		return ""
	}
	sel, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		f.fail(path, "is not a label selector: %v", err)
		return ""
	}
	return sel.String()
}

// decodeArgs decodes the arguments at a path of the policy, if there are any.
func (f *findings) decodeArgs(raw json.RawMessage, path string, into any) {
	if len(raw) > 0 && string(raw) != "null" {
		f.doc.d.DecodeAt(f.doc.policyPath+path, into)
	}
}
