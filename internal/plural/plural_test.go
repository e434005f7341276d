package plural

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 moves", 1: "1 move", 2: "2 moves"} {
		if got := Count(n, "move"); got != want {
			t.Errorf("Count(%d, move) = %q, want %q", n, got, want)
		}
	}
	if got := Choose(1, "is", "are") + " " + Choose(2, "is", "are"); got != "is are" {
		t.Errorf("Choose(1) and Choose(2) gave %q, want %q", got, "is are")
	}
}
