package plan

// StrategySettings are the settings of one strategy, besides its type and arguments. They narrow
// the global settings, and only moves for the strategy obey them.
type StrategySettings struct {
	// NodeSelector, Namespaces and PodSelector narrow the scope of the strategy.
	NodeSelector string          `json:"nodeSelector,omitempty"`
	Namespaces   *NamespaceScope `json:"namespaces,omitempty"`
	PodSelector  string          `json:"podSelector,omitempty"`
	Limits       *OwnLimits      `json:"limits,omitempty"`
	Guards       *StrategyGuards `json:"guards,omitempty"`
	// Weight multiplies the weight of the strategy's goals. It is absent for a strategy without a weight.
	Weight float64 `json:"weight,omitempty"`
	// Soft reports that moves for the strategy never worsen a goal of a strategy that is not soft.
	Soft bool `json:"soft,omitempty"`
	// Landing is absent for a strategy that does not set it, which requires a place.
	Landing LandingRule `json:"landing,omitempty"`
}

// NamespaceScope selects namespaces by name and by label.
type NamespaceScope struct {
	Include  []string `json:"include,omitempty"`
	Exclude  []string `json:"exclude,omitempty"`
	Selector string   `json:"selector,omitempty"`
}

// OwnLimits apply to the moves for one strategy or in one window, in addition to the global limits. A limit that is nil
// is not set.
type OwnLimits struct {
	PerPass  *CountLimit `json:"perPass,omitempty"`
	PerOwner *CountLimit `json:"perOwner,omitempty"`
	PerHour  *OwnPerHour `json:"perHour,omitempty"`
}

// OwnPerHour bounds the moves within the last hour, as OwnLimits.
type OwnPerHour struct {
	Owner   *CountLimit `json:"owner,omitempty"`
	Cluster *CountLimit `json:"cluster,omitempty"`
}

// StrategyGuards are the guards of one strategy that are stricter than the global ones. Durations
// have the format of the configuration.
type StrategyGuards struct {
	MinReplicas             int      `json:"minReplicas,omitempty"`
	MinPodAge               string   `json:"minPodAge,omitempty"`
	PriorityBelow           string   `json:"priorityBelow,omitempty"`
	Protect                 []string `json:"protect,omitempty"`
	ProtectedStorageClasses []string `json:"protectedStorageClasses,omitempty"`
}
