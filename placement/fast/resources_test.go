package fast

import (
	"math/rand"
	"testing"
)

// TestFreePartIsThatOfTheDivision checks that multiplying by the reciprocal and rounding down gives
// the same result as the integer division.
func TestFreePartIsThatOfTheDivision(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for range 200_000 {
		capacity := 1 + rnd.Int63n(int64(1)<<(1+rnd.Intn(43)))
		left := rnd.Int63n(capacity + 1)
		switch rnd.Intn(3) {
		case 0: // about a whole number of percents
			left = min(max(capacity/100*rnd.Int63n(101)+rnd.Int63n(3)-1, 0), capacity)
		case 1:
			left = min((capacity*rnd.Int63n(101)+99)/100-rnd.Int63n(2), capacity)
		}
		if got, want := freePercentOf(float64(left), 100/float64(capacity)), left*100/capacity; left >= 0 && int64(got) != want {
			t.Fatalf("%d of %d: %d, want %d", left, capacity, got, want)
		}
	}
}
