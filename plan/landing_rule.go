package plan

// LandingRule says whether a pod may be moved although no place is predicted for its replacement.
type LandingRule string

const (
	// LandingRequired requires a predicted place. It is the default.
	LandingRequired LandingRule = "required"
	// LandingNotRequired accepts that the replacement stays Pending.
	LandingNotRequired LandingRule = "notRequired"
)

// LandingRules lists the values.
func LandingRules() []LandingRule { return []LandingRule{LandingRequired, LandingNotRequired} }

// WithoutPlace reports whether no place is predicted for the replacement, which may stay Pending.
func (m Move) WithoutPlace() bool { return m.Landing == LandingNotRequired }
