package pressure_test

import (
	"bufio"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// TestStories runs each file as a sequence of samples. A file has these parts:
//
//   - options: the pressure.Options in YAML.
//   - nodes: a list of nodes in YAML.
//   - story: each line has a time and its samples, as NODE RULE VALUE. The suffix ! marks a hot
//     node, ? marks a node that began to exceed the level, and @2m is the age of the measurement.
//     The word "down" means no usage data, and "node NAME: ..." edits a node.
//   - want: the writes at each time, and the hints afterwards.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d stories: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a := must.Get(txtar.ParseFile(file))(t)
			if len(a.Comment) == 0 {
				t.Error("the file has no comment that describes the story")
			}
			s := newScenario(t, a)
			got := s.run()
			for i, f := range a.Files {
				if f.Name != "want" {
					continue
				}
				if golden.Update() {
					a.Files[i].Data = []byte(got)
					golden.Write(t, file, txtar.Format(a))
				} else if d := cmp.Diff(string(f.Data), got); d != "" {
					t.Errorf("%s%s", a.Comment, d)
				}
			}
		})
	}
}

type scenario struct {
	t       *testing.T
	opts    pressure.Options
	nodes   map[string]*corev1.Node
	lines   []string
	lastHot pressure.LastHot
	out     strings.Builder
}

func newScenario(t *testing.T, a *txtar.Archive) *scenario {
	s := &scenario{t: t, nodes: map[string]*corev1.Node{}, lastHot: pressure.LastHot{}}
	s.opts = pressure.Options{MaxHintedFrac: 1, TTL: 10 * time.Minute}
	for _, f := range a.Files {
		switch f.Name {
		case "options":
			s.options(f.Data)
		case "nodes":
			var list []*corev1.Node
			must.Succeed(t, yaml.UnmarshalStrict(f.Data, &list))
			for _, n := range list {
				if n.Status.Allocatable == nil {
					n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("4Gi")}
				}
				s.nodes[n.Name] = n
			}
		case "story":
			s.lines = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		}
	}
	return s
}

// options parses the options of a story. Durations are strings there.
func (s *scenario) options(text []byte) {
	var o struct {
		Label, Taint, TTL string
		Former            []string // labels of an earlier configuration
		FormerTaints      []string
		Frac              float64
		Rules             []pressure.Rule
	}
	if err := yaml.UnmarshalStrict(text, &o); err != nil {
		s.t.Fatal(err)
	}
	s.opts.Label, s.opts.Taint, s.opts.Rules, s.opts.Former = o.Label, o.Taint, o.Rules, pressure.Owned{Labels: o.Former, Taints: o.FormerTaints}
	if o.Frac > 0 {
		s.opts.MaxHintedFrac = o.Frac
	}
	if o.TTL != "" {
		d, err := time.ParseDuration(o.TTL)
		if err != nil {
			s.t.Fatal(err)
		}
		s.opts.TTL = d
	}
}

func (s *scenario) run() string {
	for _, line := range s.lines {
		at, what, found := strings.Cut(strings.TrimSpace(line), " ")
		d, err := time.ParseDuration(at)
		if err != nil || !found {
			s.t.Fatalf("%q: %v", line, err)
		}
		now := noon.Add(d)
		if name, edit, ok := strings.Cut(strings.TrimPrefix(what, "node "), ": "); ok {
			s.edit(name, edit)
			continue
		}
		usage := s.usage(what, now)
		d1 := s.opts.Decide(slices.Collect(maps.Values(s.nodes)), usage, s.lastHot, now)
		fmt.Fprintf(&s.out, "%s %s\n", at, what)
		s.applyChanges(d1)
		for _, f := range d1.Foreign {
			fmt.Fprintf(&s.out, "  %s: somebody else's %s stays\n", f.Node, f.Description)
		}
		for _, r := range d1.Invalid {
			fmt.Fprintf(&s.out, "  %s: the record is invalid: %s\n", r.Node, r.Problem)
		}
		for _, name := range d1.Capped {
			fmt.Fprintf(&s.out, "  %s: hot, but not among the hottest\n", name)
		}
		for _, name := range d1.Unmeasured {
			fmt.Fprintf(&s.out, "  %s: held\n", name)
		}
		s.printHints()
	}
	return s.out.String()
}

// applyChanges writes the changes and checks that the next decision has no further changes.
func (s *scenario) applyChanges(d pressure.Decision) {
	for _, c := range d.Changes {
		n := s.nodes[c.Node]
		var out *corev1.Node
		var changed bool
		if c.Hint == nil {
			out, changed = s.opts.Owned().Remove(n)
			fmt.Fprintf(&s.out, "  write %s: no hint\n", c.Node)
		} else {
			out, changed = s.opts.Owned().WithHint(n, *c.Hint)
			h, _ := s.opts.Owned().FromNode(out)
			fmt.Fprintf(&s.out, "  write %s: %s\n", c.Node, out.Annotations[pressure.Key])
			if h.Description() == "" {
				s.t.Errorf("node %s is written without a change of its hint", c.Node)
			}
		}
		if !changed {
			s.t.Errorf("the decision changes node %s, but the node stays the same", c.Node)
		}
		s.nodes[c.Node] = out
	}
	var want []pressure.Hint
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		if h, ours := s.opts.Owned().FromNode(s.nodes[name]); ours {
			want = append(want, h)
		}
	}
	if diff := cmp.Diff(want, d.Hinted); diff != "" {
		s.t.Errorf("the hints on the nodes differ from the decision (-nodes +decision):\n%s", diff)
	}
}

func (s *scenario) printHints() {
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		n := s.nodes[name]
		var has []string
		for _, k := range slices.Sorted(maps.Keys(n.Labels)) {
			has = append(has, k+"="+n.Labels[k])
		}
		for _, t := range n.Spec.Taints {
			has = append(has, t.ToString())
		}
		if len(has) > 0 {
			fmt.Fprintf(&s.out, "  %s %s\n", name, strings.Join(has, " "))
		}
	}
}

// edit applies an edit of another client to a node: label K=V, taint K, annotate K=V, or cordon.
func (s *scenario) edit(name, what string) {
	n := s.nodes[name].DeepCopy()
	verb, arg, _ := strings.Cut(what, " ")
	k, v, _ := strings.Cut(arg, "=")
	switch verb {
	case "label":
		metav1.SetMetaDataLabel(&n.ObjectMeta, k, v)
	case "unlabel":
		delete(n.Labels, k)
	case "annotate":
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, k, v)
	case "taint":
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: arg, Effect: corev1.TaintEffectNoSchedule})
	case "cordon":
		n.Spec.Unschedulable = true
	default:
		s.t.Fatalf("unknown edit %q", what)
	}
	s.nodes[name] = n
}

// usage returns the usage data of a line.
func (s *scenario) usage(what string, now time.Time) *cluster.Usage {
	if what == "down" {
		return nil
	}
	u := &cluster.Usage{SampledAt: now}
	used := map[string]map[string]int64{}
	words := bufio.NewScanner(strings.NewReader(what))
	words.Split(bufio.ScanWords)
	for words.Scan() {
		node := words.Text()
		words.Scan()
		name := words.Text()
		i := slices.IndexFunc(s.opts.Rules, func(r pressure.Rule) bool { return r.Name == name })
		words.Scan()
		text, ago, dated := strings.Cut(words.Text(), "@")
		v, err := strconv.ParseFloat(strings.TrimRight(text, "!?"), 64)
		if err != nil || i < 0 {
			s.t.Fatalf("%q: %v", what, err)
		}
		r := s.opts.Rules[i]
		if used[node] == nil {
			used[node] = map[string]int64{}
		}
		used[node][r.Resource] = int64(v * 1e6)
		m := cluster.Mark{Watch: r.WatchName(), Node: node, Resource: r.Resource, Required: 1, Value: v}
		if d, err := time.ParseDuration(ago); dated && err == nil {
			m.At = now.Add(-d)
		}
		m.Hot, m.CountRestarted = strings.HasSuffix(text, "!"), strings.HasSuffix(text, "?")
		if m.Hot || m.CountRestarted {
			u.Marks = append(u.Marks, m)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		u.Nodes = append(u.Nodes, cluster.NodeUsage{Name: name, At: now, Used: used[name]})
	}
	return u
}
