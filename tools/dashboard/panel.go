package main

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// Grafana divides the width of a dashboard into 24 columns.
const (
	quarter = 6
	third   = 8
	half    = 12
)

// row is a titled row of panels.
type row struct {
	title  string
	panels []panel
}

// panel is one diagram, or one number if the value at this moment says enough.
type panel struct {
	title, description string
	queries            []query
	unit               string
	width              uint32
	number             bool     // the latest value instead of a diagram
	min, max           *float64 // range of the axis; nil: chosen by Grafana
	levels             []level  // colors of a number
	stacked            bool
}

// query is a PromQL expression in which RELEASE stands for the selected releases.
type query struct{ expr, legend string }

// level gives a number a color from a value on. The first level of a panel has no lowest value.
type level struct {
	from  float64
	color string
}

const (
	green  = "green"
	yellow = "yellow"
	red    = "red"
)

func datasource() common.DataSourceRef {
	kind, uid := "prometheus", "${datasource}"
	return common.DataSourceRef{Type: &kind, Uid: &uid}
}

// expression returns the PromQL of a query for the releases that the user selects.
func (q query) expression() string {
	return strings.ReplaceAll(q.expr, "RELEASE", `cluster=~"$cluster", namespace=~"$namespace", job=~"$job"`)
}

// builder returns the query with its place in the panel as identifier: A, B and so on.
func (q query) builder(i int) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).Expr(q.expression()).LegendFormat(q.legend).Datasource(datasource())
}

// builder returns the panel with an id that no other panel has, by which links find it.
func (p panel) builder(id uint32) cog.Builder[dashboard.Panel] {
	if p.number {
		return p.stat().Id(id)
	}
	return p.timeseries().Id(id)
}

func (p panel) stat() *stat.PanelBuilder {
	b := stat.NewPanelBuilder().Title(p.title).Description(p.description).Datasource(datasource()).
		Unit(p.unit).Span(p.width).Height(4).NoValue("unknown").
		GraphMode(common.BigValueGraphModeArea).ColorMode(common.BigValueColorModeValue).
		Thresholds(thresholds(p.levels))
	for i, q := range p.queries {
		b = b.WithTarget(q.builder(i).Instant())
	}
	return b
}

func (p panel) timeseries() *timeseries.PanelBuilder {
	b := timeseries.NewPanelBuilder().Title(p.title).Description(p.description).Datasource(datasource()).
		Unit(p.unit).Span(p.width).Height(8).FillOpacity(10).ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).
			Placement(common.LegendPlacementBottom))
	if p.min != nil {
		b = b.Min(*p.min)
	}
	if p.max != nil {
		b = b.Max(*p.max)
	}
	if p.stacked {
		b = b.Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	for i, q := range p.queries {
		b = b.WithTarget(q.builder(i).Range())
	}
	return b
}

func thresholds(levels []level) *dashboard.ThresholdsConfigBuilder {
	var steps []dashboard.Threshold
	for i, l := range levels {
		t := dashboard.Threshold{Color: l.color}
		if i > 0 {
			t.Value = &l.from
		}
		steps = append(steps, t)
	}
	if steps == nil {
		steps = []dashboard.Threshold{{Color: "text"}}
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps)
}

func at(v float64) *float64 { return &v }

const (
	share   = units.PercentUnit
	seconds = units.Seconds
	count   = units.Short
	ago     = units.Seconds
)
