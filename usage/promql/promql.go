// Package promql checks PromQL queries before they are sent.
//
// The package decides whether a query can return one number per node or pod, with the label that identifies the
// node or pod. The package never contacts a server and cannot know whether the metrics exist.
package promql

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// queryParser accepts everything that any server may accept. The server rejects experimental
// syntax that it does not support.
var queryParser = parser.NewParser(parser.Options{
	EnableExperimentalFunctions: true, ExperimentalDurationExpr: true, EnableExtendedRangeSelectors: true, EnableBinopFillModifiers: true,
})

// Query is a valid query.
type Query struct{ expr parser.Expr }

// Parse parses a query, which must return a vector. A scalar has no label that names a node.
func Parse(text string) (Query, error) {
	if strings.TrimSpace(text) == "" {
		return Query{}, errors.New("is empty (want PromQL)")
	}
	expr, err := queryParser.ParseExpr(text)
	if err != nil {
		return Query{}, errors.New(parseErrorText(err, text))
	}
	if t := expr.Type(); t != parser.ValueTypeVector {
		return Query{}, fmt.Errorf("returns a %s (want an instant vector: one value per node or pod)", parser.DocumentedType(t))
	}
	return Query{expr}, nil
}

// parseErrorText says where a query cannot be parsed, and why.
func parseErrorText(err error, text string) string {
	var errs parser.ParseErrors
	var one *parser.ParseErr
	switch {
	case errors.As(err, &errs) && len(errs) > 0:
		one = &errs[0]
	case !errors.As(err, &one):
		return "is not PromQL: " + err.Error()
	}
	return fmt.Sprintf("is not PromQL: %s: %v", one.PositionRange.StartPosInput(text, 0), one.Err)
}

// CheckLabels checks that the values of the query can have these labels, as far as the query itself
// shows. For example, `sum by (job) (x)` keeps only job.
func (q Query) CheckLabels(labels ...string) error {
	for _, l := range labels {
		if dropped := droppingPart(q.expr, l); dropped != "" {
			return fmt.Errorf("its values lack the label %s, which must identify them: %s drops it", l, dropped)
		}
	}
	return nil
}

// selectingAggregations keep the labels of the series that they select.
var selectingAggregations = []parser.ItemType{parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO}

// droppingPart returns the part of a query that drops a label, or "" if no part certainly does.
func droppingPart(e parser.Expr, label string) string {
	switch e := unwrap(e).(type) {
	case *parser.AggregateExpr:
		if slices.Contains(selectingAggregations, e.Op) {
			return droppingPart(e.Expr, label)
		}
		if slices.Contains(e.Grouping, label) == e.Without {
			how := "by"
			if e.Without {
				how = "without"
			}
			return fmt.Sprintf("%s %s (%s)", e.Op, how, strings.Join(e.Grouping, ", "))
		}
	case *parser.BinaryExpr:
		return droppingPartBinary(e, label)
	case *parser.UnaryExpr:
		return droppingPart(e.Expr, label)
	}
	return ""
}

func droppingPartBinary(e *parser.BinaryExpr, label string) string {
	left, right := e.LHS.Type() == parser.ValueTypeVector, e.RHS.Type() == parser.ValueTypeVector
	switch {
	case left && !right:
		return droppingPart(e.LHS, label)
	case right && !left:
		return droppingPart(e.RHS, label)
	case e.Op == parser.LOR: // either side may return values
		return cmp.Or(droppingPart(e.LHS, label), droppingPart(e.RHS, label))
	case e.Op == parser.LAND || e.Op == parser.LUNLESS: // the right side only selects
		return droppingPart(e.LHS, label)
	}
	m := e.VectorMatching
	if m == nil || m.Card != parser.CardOneToOne || !e.Op.IsOperator() || e.Op.IsSetOperator() || e.Op.IsComparisonOperator() {
		return ""
	}
	if m.On && !slices.Contains(m.MatchingLabels, label) {
		return fmt.Sprintf("%s on (%s)", e.Op, strings.Join(m.MatchingLabels, ", "))
	}
	if !m.On && slices.Contains(m.MatchingLabels, label) {
		return fmt.Sprintf("%s ignoring (%s)", e.Op, strings.Join(m.MatchingLabels, ", "))
	}
	return droppingPart(e.LHS, label) // the result has the labels of the left side
}

// IsPercentage reports whether the query returns a percentage: its last step multiplies by 100 or
// subtracts from 100.
func (q Query) IsPercentage() bool {
	e := unwrap(q.expr)
	for a, ok := e.(*parser.AggregateExpr); ok; a, ok = e.(*parser.AggregateExpr) {
		e = unwrap(a.Expr)
	}
	x, ok := e.(*parser.BinaryExpr)
	return ok && (x.Op == parser.MUL && (isHundred(x.LHS) || isHundred(x.RHS)) || x.Op == parser.SUB && isHundred(x.LHS))
}

func isHundred(e parser.Expr) bool {
	n, ok := unwrap(e).(*parser.NumberLiteral)
	return ok && n.Val == 100
}

// unwrap returns the expression inside parentheses.
func unwrap(e parser.Expr) parser.Expr {
	for {
		switch x := e.(type) {
		case *parser.ParenExpr:
			e = x.Expr
		case *parser.StepInvariantExpr:
			e = x.Expr
		default:
			return e
		}
	}
}

// PushTimeQuery returns a query for the time when the values of q were pushed to a Pushgateway. The query returns
// Unix seconds by label, for the oldest part of each value, and nothing for values that were not pushed. A
// Pushgateway serves pushed values forever. Only the metric push_time_seconds of the Pushgateway tells the age of
// pushed values. That metric has the grouping labels of the push, such as job and instance. If q reads no metric, such
// as vector(1), PushTimeQuery returns "".
func (q Query) PushTimeQuery(label string) string {
	var selectors []string
	parser.Inspect(q.expr, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			now := parser.VectorSelector{Name: v.Name, LabelMatchers: v.LabelMatchers}
			if s := now.String(); !slices.Contains(selectors, s) {
				selectors = append(selectors, s)
			}
		}
		return nil
	})
	if len(selectors) == 0 {
		return ""
	}
	var parts []string
	for _, s := range selectors {
		parts = append(parts, fmt.Sprintf("push_time_seconds and on (job, instance, %s) %s", label, s))
	}
	return fmt.Sprintf("min by (%s) (%s)", label, strings.Join(parts, " or "))
}

// FilteringComparison returns a comparison that removes values from the result. A node for which
// the comparison is false is missing from the answer. FilteringComparison returns "" if there is no
// such comparison, or if another part supplies the removed values (`a > 1 or b`).
func (q Query) FilteringComparison() string { return filteringComparison(q.expr) }

func filteringComparison(e parser.Expr) string {
	switch e := unwrap(e).(type) {
	case *parser.UnaryExpr:
		return filteringComparison(e.Expr)
	case *parser.AggregateExpr:
		return filteringComparison(e.Expr)
	case *parser.BinaryExpr:
		left, right := filteringComparison(e.LHS), filteringComparison(e.RHS)
		switch {
		case e.Op.IsComparisonOperator() && !e.ReturnBool:
			return e.String()
		case e.Op == parser.LOR && right == "": // one side may supply what the other removes
			return ""
		case e.Op == parser.LOR || e.Op == parser.LUNLESS || left != "":
			return left
		}
		return right
	}
	return ""
}
