package plan

import "strings"

// NothingJudgedCodes returns every code that Plan.NothingJudged can have.
func NothingJudgedCodes() []Code {
	return []Code{NoStrategy, NothingInScope, UntrustedServerVersion, UntrustedScheduler, NoUsageData,
		PermissionMissing, ClusterViewStale, StateUnavailable, APIError}
}

// NothingJudgedText names each cause of Plan.NothingJudged. It returns "" if the pass judged something.
func (p *Plan) NothingJudgedText() string {
	var causes []string
	for _, r := range p.NothingJudged {
		causes = append(causes, r.Message+" ("+string(r.Code)+")")
	}
	return strings.Join(causes, "; ")
}
