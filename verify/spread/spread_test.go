package spread

import "testing"

func TestMoves(t *testing.T) {
	for _, c := range []struct {
		counts     []int
		skew, want int
	}{
		{[]int{2, 2, 2}, 1, 0}, {[]int{1, 2, 3}, 1, 1}, {[]int{1, 1, 4}, 1, 2}, {[]int{0, 0, 6}, 1, 4}, {[]int{0, 0, 6}, 6, 0},
		{[]int{5}, 1, 0}, {[]int{0, 3}, 2, 1}, {[]int{0, 1}, 1, 0},
	} {
		if got := Moves(c.counts, c.skew); got != c.want {
			t.Errorf("%v with skew %d need %d moves, want %d", c.counts, c.skew, got, c.want)
		}
	}
}
