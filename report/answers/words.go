package answers

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Words joins strings, parts and texts.
func Words(parts ...any) (out Text) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			if p != "" {
				out = append(out, Part{Text: p})
			}
		case Part:
			out = append(out, p)
		case Text:
			out = append(out, p...)
		}
	}
	return out
}

// NameOf returns the name of an object, CodeOf a command, a key or a reason code, and StrongOf an emphasized word.
func NameOf(s string) Part   { return Part{Kind: Name, Text: s} }
func CodeOf(s string) Part   { return Part{Kind: Code, Text: s} }
func StrongOf(s string) Part { return Part{Kind: Strong, Text: s} }

// String returns the text without the kinds of its parts.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.Text)
	}
	return b.String()
}

// trim removes spaces at the beginning and the end.
func (t Text) trim() Text {
	if n := len(t); n > 0 {
		t[0].Text = strings.TrimLeft(t[0].Text, " ")
		t[n-1].Text = strings.TrimRight(t[n-1].Text, " ")
	}
	return t
}

// List joins names as "a, b and c".
func List(names []string) (out Text) {
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			out = append(out, Part{Text: " and "})
		default:
			out = append(out, Part{Text: ", "})
		}
		out = append(out, NameOf(n))
	}
	return out
}

// Join joins sentences or phrases as "a, b and c".
func Join(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// Number writes a count with separators of thousands.
func Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes a count with its noun.
func Count(n int, noun string) string { return Number(n) + " " + plural.Noun(n, noun) }

// Sentence writes the first letter in upper case.
func Sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// Moment writes a time.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// span writes a duration, rounded up.
func span(d time.Duration) string {
	if seconds := int(math.Ceil(d.Seconds())); seconds < 90 {
		return fmt.Sprintf("%d s", seconds)
	}
	switch minutes := int(math.Ceil(d.Minutes())); {
	case minutes < 90:
		return fmt.Sprintf("%d min", minutes)
	case minutes%60 == 0:
		return fmt.Sprintf("%d h", minutes/60)
	default:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
}

// ReasonOf is the reason of a move as a sentence without a full stop. It begins with a name as it is written, and with
// the namespace of a workload or pod.
func ReasonOf(m *plan.Move) string {
	t := ZonesInWords(m.Reason.Message)
	switch {
	case m.Owner.Name != "" && strings.HasPrefix(t, m.Owner.Name+" has "), strings.HasPrefix(t, m.Pod.Name+" "):
		return m.Pod.Namespace + "/" + t
	case strings.HasPrefix(t, m.From):
		return t
	}
	return Sentence(t)
}

// ZonesInWords writes zones instead of values of their label.
func ZonesInWords(message string) string {
	return strings.ReplaceAll(message, " values of "+zoneKey, " zones")
}

// ResourceWord names a resource in a sentence.
func ResourceWord(r string) string {
	if r == "cpu" {
		return "CPU"
	}
	return r
}

// CategoryKey returns 1 to 4, or 34 if the usage is unknown.
func CategoryKey(w *plan.WorkloadState) string {
	if w.FailureCategory == 3 && !w.CategoryCertain {
		return "34"
	}
	return strconv.Itoa(w.FailureCategory)
}

// CategoryWords name the categories, without the digit.
var CategoryWords = map[string]string{"1": "complete loss", "2": "substantial", "3": "noticeable", "4": "minor"}

func categoryText(w *plan.WorkloadState) string {
	k := CategoryKey(w)
	if k == "34" {
		return "category 3 or 4"
	}
	return "category " + k + ", " + CategoryWords[k]
}

func workloadName(w *plan.WorkloadState) Text {
	return Words(w.Kind+" ", NameOf(w.Namespace+"/"+w.Name))
}

// goalWords count unmet goals by kind: of one goal, and of several.
var goalWords = map[plan.GoalKind][2]string{
	plan.SkewAtMost:  {"workload spread unevenly", "workloads spread unevenly"},
	plan.PodsApart:   {"workload with pods that should be apart", "workloads with pods that should be apart"},
	plan.CountAtMost: {"workload crowded in few places", "workloads crowded in few places"},
	plan.PodAway:     {"pod that should leave its node", "pods that should leave their nodes"},
	plan.NoLowerRank: {"pod with a better node", "pods with a better node"},
}

// moveWords say why pods leave: one pod, and several.
var moveWords = map[plan.Code][2]string{
	plan.NodeOverUtilized:         {"a node that is above its target", "nodes that are above their target"},
	plan.ZoneSkewed:               {"a zone that has too many pods of its workload", "zones that have too many pods of their workload"},
	plan.DisplacedForMove:         {"to make room for another pod", "to make room for other pods"},
	plan.SpreadConstraintViolated: {"to meet a topology spread constraint", "to meet topology spread constraints"},
	plan.TooManyDuplicates:        {"a node that has too many equal pods", "nodes that have too many equal pods"},
	plan.AntiAffinityViolated:     {"a pod that anti-affinity keeps apart from it", "pods that anti-affinity keeps apart from them"},
	plan.TooManyRestarts:          {"because it keeps restarting", "because they keep restarting"},
	plan.PodExpired:               {"because it is too old", "because they are too old"},
	plan.PodFailed:                {"because it failed", "because they failed"},
	plan.NodeAffinityViolated:     {"a node that its node affinity excludes", "nodes that their node affinity excludes"},
	plan.BetterNodeExists:         {"for a node that it prefers", "for nodes that they prefer"},
	plan.TaintNotTolerated:        {"a node with a taint that it does not tolerate", "nodes with taints that they do not tolerate"},
	plan.NodeUnderUtilized:        {"to empty a node with few requests", "to empty nodes with few requests"},
}
