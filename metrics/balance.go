package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/plan"
)

const noScore = beforeFirstPlan + "; while a strategy lacks usage data; after a pass that could judge nothing"

var (
	defScore = definition{name: "evenkeel_balance_score", kind: gauge, unit: "0 to 100",
		help: "Balance score of the cluster when the last plan was made. 100 means that nothing is uneven.", absent: noScore}
	defPredictedScore = definition{name: "evenkeel_predicted_balance_score", kind: gauge, unit: "0 to 100",
		help: "Balance score that the last plan predicts after its automatic moves.", absent: noScore}
	defLostPoints = definition{name: "evenkeel_balance_lost_points", kind: gauge, unit: "points of the score",
		help:   "Points by which the balance score falls short of 100, by cause.",
		labels: []label{{"part", "`goals`, `zones`, `utilization`"}}, absent: noScore + "; a part that does not apply"}
	defZoneFailure = definition{name: "evenkeel_zone_failure_workloads", kind: gauge, unit: "workloads",
		help: "Workloads by the effect of losing their worst zone when the last plan was made.",
		labels: []label{{"category", "[failure category](impact.md): `1` (complete loss), `2`, `3`, `4`, or `3or4` without usage data"},
			{"replicas", "`one`, `several`"}}, absent: beforeFirstPlan + "; in a cluster with fewer than two zones"}
	defSingleZone = definition{name: "evenkeel_single_zone_pods", kind: gauge, unit: "pods",
		help:   "Pods of workloads with several pods that all run in one zone, by that zone.",
		labels: []label{{"zone", "zones of the cluster"}}, absent: beforeFirstPlan + "; in a cluster with fewer than two zones"}
)

// categories are the values of the label category.
var categories = []string{"1", "2", "3", "4", "3or4"}

type balanceMetrics struct {
	score, predictedScore, lostPoints *gauges
	zoneFailure, singleZone           *gauges
}

func newBalanceMetrics(r prometheus.Registerer) *balanceMetrics {
	return &balanceMetrics{score: defScore.newGauges(r), predictedScore: defPredictedScore.newGauges(r),
		lostPoints: defLostPoints.newGauges(r), zoneFailure: defZoneFailure.newGauges(r), singleZone: defSingleZone.newGauges(r)}
}

func (b *balanceMetrics) recordPlan(p plan.Plan) {
	b.recordZones(p.Before)
	before, after, known := p.Balance()
	if !known {
		b.clearScore()
		return
	}
	b.score.set(before.Score())
	b.predictedScore.set(after.Score())
	var lost []sample
	for _, part := range before.Parts {
		lost = append(lost, newSample(before.LostPoints(part), string(part.Name)))
	}
	b.lostPoints.replace(lost)
}

// clearScore removes the score, which is unknown.
func (b *balanceMetrics) clearScore() {
	b.score.clear()
	b.predictedScore.clear()
	b.lostPoints.clear()
}

// recordZones counts the workloads by failure category. In a cluster with fewer than two zones, every zone failure is
// a complete loss, which says nothing about the workloads.
func (b *balanceMetrics) recordZones(st plan.State) {
	var workloads, pods []sample
	if zones := zonesOf(st); len(zones) > 1 {
		for _, category := range categories {
			workloads = append(workloads, newSample(0, category, "one"), newSample(0, category, "several"))
		}
		for zone := range zones {
			pods = append(pods, newSample(0, zone))
		}
		for _, w := range st.Workloads {
			category, total, zone := strconv.Itoa(w.FailureCategory), 0, ""
			if !w.CategoryCertain {
				category = "3or4"
			}
			for name, n := range w.Zones {
				if total += n; n > 0 {
					zone = name
				}
			}
			replicas := "several"
			if total == 1 {
				replicas = "one"
			}
			workloads = append(workloads, newSample(1, category, replicas))
			if total > 1 && w.FailureCategory == 1 {
				pods = append(pods, newSample(float64(total), zone))
			}
		}
	}
	b.zoneFailure.replace(workloads)
	b.singleZone.replace(pods)
}

// zonesOf returns the zones of the nodes. Nodes without a zone do not count.
func zonesOf(st plan.State) map[string]bool {
	zones := map[string]bool{}
	for _, n := range st.Nodes {
		if n.Zone != "" {
			zones[n.Zone] = true
		}
	}
	return zones
}
