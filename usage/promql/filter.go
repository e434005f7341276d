package promql

import "github.com/prometheus/prometheus/promql/parser"

// FilteringComparison names a comparison by which the query has values only where it holds: a node
// is then missing rather than told of. Empty when there is none, or all its parts are
// filled up by another (`a > 1 or b`).
func (q Query) FilteringComparison() string { return filteringComparison(q.expr) }

func filteringComparison(e parser.Expr) string {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return filteringComparison(e.Expr)
	case *parser.StepInvariantExpr:
		return filteringComparison(e.Expr)
	case *parser.UnaryExpr:
		return filteringComparison(e.Expr)
	case *parser.AggregateExpr:
		return filteringComparison(e.Expr)
	case *parser.BinaryExpr:
		return filteringComparisonBinary(e)
	}
	return ""
}

func filteringComparisonBinary(e *parser.BinaryExpr) string {
	left, right := filteringComparison(e.LHS), filteringComparison(e.RHS)
	switch {
	case e.Op.IsComparisonOperator() && !e.ReturnBool:
		return e.String()
	case e.Op == parser.LOR: // what the one leaves out, the other may have
		if left == "" || right == "" {
			return ""
		}
		return left
	case e.Op == parser.LUNLESS || left != "":
		return left
	}
	return right
}
