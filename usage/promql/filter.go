package promql

import "github.com/prometheus/prometheus/promql/parser"

// FilteringComparison returns a comparison that removes values from the result. A node for which
// the comparison is false is missing from the answer. FilteringComparison returns "" if there is no
// such comparison, or if another part supplies the removed values (`a > 1 or b`).
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
	case e.Op == parser.LOR: // one side may supply what the other removes
		if left == "" || right == "" {
			return ""
		}
		return left
	case e.Op == parser.LUNLESS || left != "":
		return left
	}
	return right
}
