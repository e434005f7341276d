package releasecommand

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/names"
	"github.com/evenkeel-project/evenkeel/controller/records"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report"
)

const (
	// defaultSince is how far back the list of passes reaches.
	defaultSince = "24h"
	// historyPage is the number of plans in one answer of the API server; a plan has up to 900 KiB.
	historyPage = 20
)

type historyFlags struct {
	showFlags
	since     string
	noHeaders bool
	filter    plan.Filter
}

func newHistory(a *Access) *cobra.Command {
	f := &historyFlags{}
	c := &cobra.Command{
		Use: "history", Short: "Show past passes, and the moves of a pod, workload or node", Args: names.RejectSubject,
		Long: "Show past passes that had moves, newest first, and what each strategy achieved.\n\n" +
			"The subcommands show the moves of a pod, a workload or a node, or a stored plan. For each move,\n" +
			"the subcommands show the time and the strategy of the eviction, the predicted node of the\n" +
			"replacement, and the node on which the replacement landed. The command only reads stored\n" +
			"RebalancePlans, and says which information the plans lack.",
		Example: "  # Show the passes of the last 24 hours\n  evenkeel history\n\n  # Which pods were evicted in the last 12 hours?\n  evenkeel history pod --since 12h\n\n  # Which strategy moved this pod, and where is its replacement now?\n  evenkeel history pod web-6c8f-x1 --namespace shop\n\n" +
			"  # Show all moves from and to a node in the last week\n  evenkeel history node n1 --since 7d",
		RunE: func(cmd *cobra.Command, _ []string) error { return f.history(cmd, a, "", nil) },
	}
	f.addTo(c)
	c.PersistentFlags().Lookup("output").Usage = "output format: table, wide, json, yaml, html, markdown, " + commandline.ObjectForms
	commandline.AddNoHeaders(c.PersistentFlags(), &f.noHeaders)
	commandline.AddFilter(c.PersistentFlags(), &f.filter)
	c.PersistentFlags().StringVar(&f.since, "since", "", "how far back to look, such as 90m or 7d (default: "+defaultSince+"; for one pod, workload or node: everything that is stored)")
	c.AddCommand(
		f.newPlan(a),
		f.newSubject(a, historySubject{use: "pod [NAME]", short: "Show the moves of all pods, or of one pod and its replacements", slashes: 1, selects: ofPod,
			example: "  # Which pods were evicted in the last 12 hours, in all namespaces?\n  evenkeel history pod --since 12h\n\n  # Where are this pod's replacements? Both commands are equivalent\n  evenkeel history pod web-6c8f-x1 -n shop\n  evenkeel history pod shop/web-6c8f-x1"}),
		f.newSubject(a, historySubject{use: "workload KIND/NAME", short: "Show the moves of a workload's pods", slashes: 2, selects: ofWorkload,
			example: "  # Show the moves of a Deployment's pods; both commands are equivalent\n  evenkeel history workload deploy/web -n shop\n  evenkeel history workload deployment/shop/web"}),
		f.newSubject(a, historySubject{use: "node NAME", short: "Show the moves from and to a node", selects: ofNode,
			example: "  # Which pods left a node, and which landed on it?\n  evenkeel history node n1 --since 7d"}))
	return c
}

func (f *historyFlags) newPlan(a *Access) *cobra.Command {
	return &cobra.Command{Use: "plan NAME", Short: "Show a stored plan, and what happened to its moves",
		Long: "Show a plan that needs approval, is running or has ended, and the outcome of each of the plan's\n" +
			"moves. To keep the object small, a stored plan contains only the most extreme nodes and workloads;\n" +
			"the report says what is missing. `evenkeel history` and `kubectl get rebalanceplans` list the\n" +
			"plans' names.",
		Example: "  # What did this pass do?\n  evenkeel history plan 20260102-030405-1a2b3c4d\n\n  # Write the plan as a web page\n  evenkeel history plan 20260102-030405-1a2b3c4d -o html > plan.html",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("want one name: history plan NAME")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.plan(cmd, a, args[0]) }}
}

func (f *historyFlags) plan(cmd *cobra.Command, a *Access, name string) error {
	if cmd.Flags().Changed("since") {
		return errors.New("--since has no meaning for one plan")
	}
	_, stored, format, err := f.connect(cmd, a)
	if err != nil {
		return err
	}
	o, err := stored.Plans.Get(cmd.Context(), name, metav1.GetOptions{})
	switch {
	case objects.IsMissing(err, "rebalanceplans", name):
		return fmt.Errorf("namespace %s has no plan %s; evenkeel history lists the plans with moves", f.namespace, name)
	case objects.IsKindMissing(err):
		return fmt.Errorf("there is no plan: %w", objects.Explain(observe.PlainError(err)))
	case err != nil:
		return fmt.Errorf("reading plan %s: %w", name, connection.ExplainForbidden("get rebalanceplans.evenkeel.io", observe.PlainError(err)))
	}
	o.APIVersion, o.Kind = v1alpha1.GroupVersion.String(), "RebalancePlan"
	opts := commandline.ReportOptions(cmd.OutOrStdout())
	opts.NoHeaders = f.noHeaders
	return report.Stored(cmd.OutOrStdout(), format, o, &f.filter, opts)
}

// allPods is the subject of a list of the moves of all pods.
const allPods = "all pods"

// historySubject is a subcommand of history.
type historySubject struct {
	use, short, example string
	slashes             int // of a complete name; 0 for a name without a namespace
	// selects returns the function that selects the moves of a subject, or the error of an invalid name.
	selects func(name string) (func(*record.PastMove) bool, error)
}

func (f *historyFlags) newSubject(a *Access, of historySubject) *cobra.Command {
	kind, name, _ := strings.Cut(of.use, " ")
	optional, without := strings.HasPrefix(name, "["), ""
	if optional {
		without = "\n\nWithout NAME, the command lists the moves of all pods in the last " + defaultSince + ". The option --since sets a\ndifferent period, and --namespace limits the list to one namespace."
	}
	c := &cobra.Command{Use: of.use, Short: of.short, Example: of.example, Annotations: map[string]string{},
		Long: of.short + ".\n\nFor each move, the command shows the time and the strategy of the eviction, the predicted node of\n" +
			"the replacement, and the node on which the replacement landed. Without --since, the command reads\nall stored plans." + without,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && (len(args) > 0 || !optional) {
				return fmt.Errorf("want one name: history %s", of.use)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				if !cmd.Flags().Changed("namespace") {
					return f.history(cmd, a, allPods, func(*record.PastMove) bool { return true })
				}
				namespace := a.Namespace()
				return f.history(cmd, a, allPods+" of namespace "+namespace, func(m *record.PastMove) bool { return m.Pod.Namespace == namespace })
			}
			name := args[0]
			if of.slashes > 0 {
				if name, err = names.Qualify(name, a.Namespace(), of.slashes, cmd.Flags().Changed("namespace")); err != nil {
					return err
				}
			}
			is, err := of.selects(name)
			if err != nil {
				return err
			}
			return f.history(cmd, a, kind+" "+name, is)
		}}
	if of.slashes > 0 {
		c.Annotations[commandline.NamespaceOf] = commandline.OfSubject
	}
	return c
}

func ofPod(name string) (func(*record.PastMove) bool, error) {
	namespace, _, ok := strings.Cut(name, "/")
	if !ok || strings.Count(name, "/") != 1 {
		return nil, fmt.Errorf("%q is not a pod (want NAMESPACE/NAME)", name)
	}
	return func(m *record.PastMove) bool { return m.Pod.Namespace == namespace }, nil // Chain selects the pod
}

func ofWorkload(name string) (func(*record.PastMove) bool, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q is not a workload (want KIND/NAMESPACE/NAME, such as deployment/shop/web)", name)
	}
	return func(m *record.PastMove) bool {
		return m.Workload.Namespace == parts[1] && m.Workload.Name == parts[2] && names.IsKind(parts[0], m.Workload.Kind)
	}, nil
}

func ofNode(name string) (func(*record.PastMove) bool, error) {
	return func(m *record.PastMove) bool { return m.From == name || m.Outcome.Landed == name }, nil
}

// parseSince returns the time before now that a text such as 90m or 7d names.
func parseSince(text string, now time.Time) (time.Time, error) {
	d, err := time.ParseDuration(text)
	if days, found := strings.CutSuffix(text, "d"); found {
		n, notDays := strconv.ParseUint(days, 10, 16)
		d, err = time.Duration(n)*24*time.Hour, notDays
	}
	if err != nil || d <= 0 {
		return time.Time{}, fmt.Errorf("--since: %q is not a time span (want a number and a unit, such as 90m, 24h or 7d)", text)
	}
	return now.Add(-d), nil
}

// history prints the passes, or the moves of a subject that is selects.
func (f *historyFlags) history(cmd *cobra.Command, a *Access, subject string, is func(*record.PastMove) bool) error {
	h := report.History{Now: time.Now(), Subject: subject, Filter: f.filter, Counts: report.MoveCounts{}}
	since := f.since
	if since == "" && (subject == "" || strings.HasPrefix(subject, allPods)) {
		since = defaultSince
	}
	if since != "" || cmd.Flags().Changed("since") {
		var err error
		if h.Since, err = parseSince(since, h.Now); err != nil {
			return err
		}
	}
	_, stored, format, err := f.connect(cmd, a)
	if err != nil {
		return err
	}
	a.Progress().Start("reading the plans in namespace %s", f.namespace)
	whole := format == report.JSON || format == report.YAML
	err = records.EachPlan(cmd.Context(), stored, historyPage, func(o *v1alpha1.RebalancePlan) { add(&h, o, is, whole) })
	a.Progress().Stop()
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the history is unknown: permission to list rebalanceplans.evenkeel.io in namespace %s is missing", f.namespace)
	case objects.IsKindMissing(err):
		return fmt.Errorf("there is no history: %w", objects.Explain(observe.PlainError(err)))
	case err != nil:
		return fmt.Errorf("reading the plans in namespace %s: %w", f.namespace, observe.PlainError(err))
	}
	finish(&h)
	opts := commandline.ReportOptions(cmd.OutOrStdout())
	opts.NoHeaders = f.noHeaders
	return report.WriteHistory(cmd.OutOrStdout(), format, h, opts)
}

// add adds a plan to the history. Unless the whole plan is printed, only what a row shows is kept.
func add(h *report.History, o *v1alpha1.RebalancePlan, is func(*record.PastMove) bool, whole bool) {
	at := record.PlannedAt(o).Time
	if h.Oldest.IsZero() || at.Before(h.Oldest) {
		h.Oldest = at
	}
	if at.Before(h.Since) {
		return
	}
	if o.Spec.Omitted != nil {
		h.Omitted += int(o.Spec.Omitted.Moves)
	}
	for _, m := range record.PastMoves(o) {
		selected := h.Filter.Matches(m.Pod.Namespace, m.Strategy, m.From, m.Predicted, m.Outcome.Landed)
		switch {
		case is == nil && selected:
			h.Counts.Add(&m)
		case is == nil || !is(&m):
		case selected:
			h.Moves = append(h.Moves, m)
		default:
			h.LeftOut++
		}
	}
	if is != nil {
		return
	}
	selected := func(m v1alpha1.Move) bool { return h.Filter.Matches(m.Pod.Namespace, m.Strategy, m.From, m.To) }
	if !h.Filter.IsEmpty() && !slices.ContainsFunc(o.Spec.Moves, selected) {
		h.LeftOut++
		return
	}
	if o.APIVersion, o.Kind = v1alpha1.GroupVersion.String(), "RebalancePlan"; !whole {
		s := &o.Spec
		o.Spec = v1alpha1.RebalancePlanSpec{StrategyNames: s.StrategyNames, Mode: s.Mode, MoveCount: s.MoveCount, Score: s.Score}
		o.Status.Steps = nil
	}
	h.Plans = append(h.Plans, *o)
}

// finish sorts the history, and counts the moves of the subject.
func finish(h *report.History) {
	slices.SortStableFunc(h.Plans, func(a, b v1alpha1.RebalancePlan) int { return record.PlannedAt(&b).Compare(record.PlannedAt(&a).Time) })
	slices.SortStableFunc(h.Moves, func(a, b record.PastMove) int { return a.At().Compare(b.At()) })
	if name, isPod := strings.CutPrefix(h.Subject, "pod "); isPod {
		h.Moves = record.Chain(h.Moves, func(p v1alpha1.PodReference) bool { return p.Namespace+"/"+p.Name == name })
	} else {
		slices.Reverse(h.Moves)
	}
	for i := range h.Moves {
		h.Counts.Add(&h.Moves[i])
	}
}
