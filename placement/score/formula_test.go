package score

import (
	"math"
	"testing"

	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// TestPacked checks worked examples of the TargetLoadPacking formula.
func TestPacked(t *testing.T) {
	for _, c := range []struct {
		p, target float64
		want      int64
	}{{30, 40, 85}, {60, 40, 27}, {0, 40, 40}, {40, 40, 100}, {100, 40, 0}, {100.1, 40, 0}, {70, 80, 98}, {90, 80, 40}} {
		if got := packingScore(c.p, c.target); got != c.want {
			t.Errorf("p %v, target %v: %d, want %d", c.p, c.target, got, c.want)
		}
	}
}

func TestFreePercent(t *testing.T) {
	for _, c := range []struct{ requested, capacity, want int64 }{
		{0, 1000, 100},
		{900, 1000, 10},
		{999, 1000, 0},  // 0.1 % is rounded down to 0
		{1500, 1000, 0}, // over the top counts as none free
	} {
		if got := freePercent(c.requested, c.capacity); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

func TestBalance(t *testing.T) {
	for _, c := range []struct{ cpu, cpuCap, mem, memCap, want int64 }{
		{500, 1000, 500, 1000, 100},
		{1000, 1000, 0, 1000, 50},
		{3000, 1000, 1000, 1000, 100}, // fractions are capped at 1
		{300, 1000, 100, 1000, 90},
		{300, 1000, 0, 0, 100},
	} {
		if got := Balance(c.cpu, c.cpuCap, c.mem, c.memCap); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

// TestRiskBalance checks a worked example of LoadVariationRiskBalancing, and its limits.
func TestRiskBalance(t *testing.T) {
	args := scheduler.LoadVariationRiskBalancing{Margin: 1, Sensitivity: 2}
	usage := func(mean, deviation float64) model.UsageStatistics {
		return model.UsageStatistics{Known: true, Mean: mean, Deviation: deviation}
	}
	for _, c := range []struct {
		name    string
		usage   model.UsageStatistics
		request float64
		want    float64
	}{
		{"cpu", usage(0.4, 0.2), 0.2, 48}, // mean 0.6, and sqrt(0.2) = 0.447
		{"memory", usage(0.3, 0.05), 0.1, 69},
		{"above the capacity", usage(1.5, 2), 0.2, 0},
		{"idle", usage(0, 0), 0, 100},
		{"unknown", model.UsageStatistics{}, 0.1, 0},
	} {
		if got := math.Round(riskBalance(&args, c.usage, c.request, true)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := riskBalance(&args, usage(0, 0), 0, false); got != 0 {
		t.Errorf("without capacity: %v, want 0", got)
	}
}

// TestOverCommitment checks a worked example of LowRiskOverCommitment, and cases without a distribution.
func TestOverCommitment(t *testing.T) {
	usage := func(mean, deviation float64) model.UsageStatistics {
		return model.UsageStatistics{Known: true, Mean: mean, Deviation: deviation}
	}
	for _, c := range []struct {
		name    string
		o       overCommitment
		windows int64
		want    float64
	}{
		{"worked example", overCommitment{2000, 5500, 500, 500, 4000, usage(0.5, 0.1)}, 5, 0.536},
		{"no usage", overCommitment{2000, 5500, 500, 500, 4000, usage(0, 0)}, 5, 0.286},
		{"constant usage above the requests", overCommitment{1000, 4000, 0, 0, 4000, usage(0.5, 0)}, 5, 0.5},
		{"constant usage within the requests", overCommitment{2000, 4000, 0, 0, 4000, usage(0.5, 0)}, 5, 0},
		{"an empty node", overCommitment{0, 0, 500, 500, 4000, usage(0.5, 0.1)}, 5, 0},
		{"limits below the capacity", overCommitment{2000, 2000, 0, 0, 4000, usage(0.5, 0.1)}, 1, 0}, // given that usage is within limits
		{"unknown usage", overCommitment{2000, 5500, 500, 500, 4000, model.UsageStatistics{}}, 5, 0.286},
		{"no capacity", overCommitment{0, 0, 0, 0, 0, usage(0.5, 0.1)}, 5, 0},
	} {
		if got := c.o.risk(0.5, c.windows); math.Abs(got-c.want) > 0.0005 {
			t.Errorf("%s: %.4f, want %v", c.name, got, c.want)
		}
	}
}

// tolerance returns the difference that is allowed. A narrow distribution is compared with the normal one.
func tolerance(deviation float64) float64 {
	if deviation < 0.01 {
		return 1e-5
	}
	return 1e-9
}

// TestFittedDistribution compares probabilities with the uniform distribution, whose shape parameters are 1, and with a
// symmetric one.
func TestFittedDistribution(t *testing.T) {
	for _, c := range []struct{ mean, deviation, x, want float64 }{
		{0.5, math.Sqrt(1.0 / 12), 0.3, 0.3}, {0.5, math.Sqrt(1.0 / 12), 0.9, 0.9}, {0.5, 0.1, 0.5, 0.5}, {0.5, 0.1, 0, 0}, {0.5, 0.1, 1, 1},
		{2.0 / 3, math.Sqrt(1.0 / 18), 0.5, 0.25},                      // shapes 2 and 1: x squared
		{0.5, math.Sqrt(1.0 / 8), 0.25, 1.0 / 3},                       // shapes 1/2: 2/pi asin(sqrt(x))
		{0.4, math.Sqrt(0.04), 0.5, 1 - 0.5*0.5*0.5*(1+3*0.5)},         // shapes 2 and 3: 1 - (1-x)^3 (1+3x)
		{0.5, 0.001, 0.501, 0.8413447}, {0.5, 0.001, 0.499, 0.1586553}, // nearly normal: one deviation
	} {
		b, ok := fitBeta(c.mean, c.deviation)
		if got := b.below(c.x); !ok || math.Abs(got-c.want) > tolerance(c.deviation) {
			t.Errorf("mean %v, deviation %v: P(<= %v) = %v, %v; want %v", c.mean, c.deviation, c.x, got, ok, c.want)
		}
	}
	for _, c := range [][2]float64{{0, 0.1}, {1, 0.1}, {0.5, 0}, {0.5, 0.5}} {
		if _, ok := fitBeta(c[0], c[1]); ok {
			t.Errorf("mean %v and deviation %v have a distribution, want none", c[0], c[1])
		}
	}
}
