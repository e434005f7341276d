package config

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Strategies are the enabled strategies, by order and then by name. In the file, they are a map by name.
type Strategies []Strategy

// decodeStrategies decodes a map of strategies by name.
func decodeStrategies(d *strict.Decoder, n *yaml.Node, v reflect.Value, path string) {
	var byName map[string]Strategy
	d.DecodeNode(n, &byName, path)
	out := Strategies{}
	for i := 0; i+1 < len(n.Content) && byName != nil; i += 2 {
		name := n.Content[i].Value
		s, first := byName[name]
		off := s.Enabled != nil && !*s.Enabled || n.Content[i+1].Tag == "!!null"
		if off && s.Type == "" && presetsWith(name) == nil {
			d.Errorf(path+"."+name, "is unknown: it has no type, and no preset has a strategy of this name%s",
				suggest.DidYouMean(name, strategiesOfPresets()))
		}
		if delete(byName, name); first && n.Content[i+1].Kind == yaml.MappingNode && (s.Enabled == nil || *s.Enabled) {
			s.Name, s.Enabled = name, nil
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Strategy) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name)) })
	v.Set(reflect.ValueOf(out))
}

// MarshalJSON returns the strategies as a map by name, as in the file.
func (s Strategies) MarshalJSON() ([]byte, error) {
	byName := map[string]Strategy{}
	for _, one := range s {
		byName[one.Name] = one
	}
	return json.Marshal(byName)
}

// Strategy is one strategy with its schedule.
type Strategy struct {
	// Name is the key of the strategy in the map.
	Name string `json:"-"`
	// Enabled switches a strategy off if it is false. It is nil in Strategies.
	Enabled *bool `json:"enabled,omitempty"`
	// Order says which of equal strategies comes first: the one with the lesser order, then with the lesser name.
	Order    int    `json:"order,omitempty"`
	Type     string `json:"type"`
	Schedule string `json:"schedule"`
	// Mode is automatic (the default), approve or dryRun.
	Mode plan.StrategyMode `json:"mode,omitempty"`
	// OnNodeReady is how long after a node became Ready the strategy runs.
	OnNodeReady Duration        `json:"onNodeReady,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"`
	// NodeSelector, Namespaces and PodSelector narrow the global scope for this strategy.
	NodeSelector string               `json:"nodeSelector,omitempty"`
	Namespaces   *plan.NamespaceScope `json:"namespaces,omitempty"`
	PodSelector  string               `json:"podSelector,omitempty"`
	// Limits apply to the moves for this strategy, in addition to the global limits.
	Limits *plan.OwnLimits `json:"limits,omitempty"`
	Guards *StrategyGuards `json:"guards,omitempty"`
	// Weight multiplies the weight of the goals. Nil means 1.
	Weight *float64 `json:"weight,omitempty"`
	// Soft makes moves for this strategy never worsen a goal of a strategy that is not soft. Its
	// goals do not limit moves for other strategies.
	Soft bool `json:"soft,omitempty"`
	// Landing says whether pods may be moved without a predicted place. Empty means that they may not.
	Landing plan.LandingRule `json:"landing,omitempty"`
}

// path returns the path of the strategy in the file.
func (s *Strategy) path() string { return "strategies." + s.Name }

// StrategyGuards are guards of one strategy. They hold besides the global guards, and must not be looser. Nil and empty
// values are not set.
type StrategyGuards struct {
	MinReplicas             *int      `json:"minReplicas,omitempty"`
	MinPodAge               *Duration `json:"minPodAge,omitempty"`
	PriorityBelow           string    `json:"priorityBelow,omitempty"`
	Protect                 []string  `json:"protect,omitempty"`
	ProtectedStorageClasses []string  `json:"protectedStorageClasses,omitempty"`
}
